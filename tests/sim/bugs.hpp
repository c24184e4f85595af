// Bugs that are planted on purpose, outside of production code, to prove that the checks bite.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tyer::sim {

enum class bug : std::uint8_t {
  none,
  no_compare_on_release,      // the server frees the lock whoever asks
  keep_recreates,             // a renewal writes the hold anew, whoever has the lock
  deadline_from_reply,        // the engine dates answers by their coming instead of their request's leaving
  wall_clock,                 // the client's clock is set back and forth
  validity_from_push,         // a wake-up is taken for the grant itself
  no_compensation,            // a given-up attempt is not taken back
  no_look_again,              // a waiter waits for its push and does nothing else
  late_request,               // the server executes requests however old they are
  token_floor_lost,           // tokens of a name that nobody uses start at 1 again
  tombstone_without_ttl,      // the floor of the tokens is kept for ever, for every name that was ever used
  renewal_revives,            // the server renews a hold that has expired, if the lock is free
  equal_tokens_on_hand_over,  // a hand-over brings the token of the one before
  gone_ignored,               // the engine says "kept" though the server said "gone"
  reply_off_by_one,           // the answer to a call that was given up goes to the next call
};

struct bug_name {
  bug what;
  std::string_view name;
};
inline constexpr std::array bug_names{
    bug_name{bug::none, "none"},
    bug_name{bug::no_compare_on_release, "no_compare_on_release"},
    bug_name{bug::keep_recreates, "keep_recreates"},
    bug_name{bug::deadline_from_reply, "deadline_from_reply"},
    bug_name{bug::wall_clock, "wall_clock"},
    bug_name{bug::validity_from_push, "validity_from_push"},
    bug_name{bug::no_compensation, "no_compensation"},
    bug_name{bug::no_look_again, "no_look_again"},
    bug_name{bug::late_request, "late_request"},
    bug_name{bug::token_floor_lost, "token_floor_lost"},
    bug_name{bug::tombstone_without_ttl, "tombstone_without_ttl"},
    bug_name{bug::renewal_revives, "renewal_revives"},
    bug_name{bug::equal_tokens_on_hand_over, "equal_tokens_on_hand_over"},
    bug_name{bug::gone_ignored, "gone_ignored"},
    bug_name{bug::reply_off_by_one, "reply_off_by_one"},
};

}  // namespace tyer::sim
