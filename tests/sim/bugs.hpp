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

  // modes
  reader_past_writer,     // the server lets a reader in beside the others, past a writer that waits
  permits_without_k,      // the server counts holds instead of permits
  slot_twice,             // the server numbers permits from 0, whoever has them
  upgrade_beside_reader,  // the server grants an upgrade while others read
  second_upgrader_waits,  // the server lets two wait for each other's shared hold
  downgrade_keeps_token,  // the server gives a downgraded hold the token that it had as a writer
  late_downgrade,         // a downgrade without an answer is executed after a later upgrade
  upgrade_not_undone,     // the engine does not take back an upgrade that was given up

  // the queue, delays and limits
  dead_head_not_reaped,     // the server keeps a dead waiter at the head of the queue
  hand_over_without_claim,  // the server gives a waiter the full ttl before it was heard of
  ghost_not_honoured,       // the server knows no lock delay
  ghost_laid_by_stranger,   // the server ends a lock delay when anybody releases
  min_hold_ignored,         // the coordinator does not know of it
  max_hold_ignored,         // the coordinator does not know of it

  // the hand-off
  handoff_beyond_bound,   // one client keeps the lock among its own for as long as it likes
  handoff_past_validity,  // a hold that is over is handed off
  handoff_without_token,  // the next has the token of the one before
  revocation_not_heard,   // the coordinator is not told that a hold was asked back
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
    bug_name{bug::reader_past_writer, "reader_past_writer"},
    bug_name{bug::permits_without_k, "permits_without_k"},
    bug_name{bug::slot_twice, "slot_twice"},
    bug_name{bug::upgrade_beside_reader, "upgrade_beside_reader"},
    bug_name{bug::second_upgrader_waits, "second_upgrader_waits"},
    bug_name{bug::downgrade_keeps_token, "downgrade_keeps_token"},
    bug_name{bug::late_downgrade, "late_downgrade"},
    bug_name{bug::upgrade_not_undone, "upgrade_not_undone"},
    bug_name{bug::dead_head_not_reaped, "dead_head_not_reaped"},
    bug_name{bug::hand_over_without_claim, "hand_over_without_claim"},
    bug_name{bug::ghost_not_honoured, "ghost_not_honoured"},
    bug_name{bug::ghost_laid_by_stranger, "ghost_laid_by_stranger"},
    bug_name{bug::min_hold_ignored, "min_hold_ignored"},
    bug_name{bug::max_hold_ignored, "max_hold_ignored"},
    bug_name{bug::handoff_beyond_bound, "handoff_beyond_bound"},
    bug_name{bug::handoff_past_validity, "handoff_past_validity"},
    bug_name{bug::handoff_without_token, "handoff_without_token"},
    bug_name{bug::revocation_not_heard, "revocation_not_heard"},
};

}  // namespace tyer::sim
