// Which of the servers that sentinels name is to be followed. Answers in, decision out: no I/O and no clock of its own.
//
// What a sentinel knows is a pair: a config epoch, and the address that goes with it. Sentinels tell each other this pair, and
// take over one with a larger epoch; so do we. One of them is not to be taken at its word: while it leads a failover, from the
// promotion until every replica follows or failover-timeout is over (three minutes by default), SENTINEL MASTER gives the new
// epoch with the old address. Its answer is completed by GET-MASTER-ADDR-BY-NAME, which is what it tells the others; until one
// of these says so too, within moments, it counts for less: the server it promoted may be gone, and it goes on naming that one.
//
//   our server             what moves us
//   none yet               the best word, once a majority of the sentinels has spoken, or all that can, or after `patience`
//   calls itself master    a larger epoch; of who leads a failover only if no other sentinel answers, or if it has said so for
//                          `long_away` and the others that answer are no majority: they would have heard of it, so they are cut
//                          off. Not again if we went there and found nobody
//   away                   the same epoch too, where more sentinels name another; after `patience` also who leads a failover
//   away for `long_away`   also a smaller epoch, if a majority answers and none has ours: they may have been set up anew; and
//                          who leads a failover to our server is no longer heard
//
// The best word: the largest epoch; then one outside of a failover; then what more sentinels say; then our server, unless it
// has been away for long; then the sentinel that comes first in the URI.
#pragma once

#include "core/uri.hpp"
#include "engine/engine.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tyer::redis {

class follower {
 public:
  using time_point = engine::time_point;

  static constexpr std::chrono::milliseconds patience{1000}, long_away{5000};

  // What a sentinel says.
  struct word {
    core::endpoint master;
    std::uint64_t epoch = 0;
    bool leads_failover = false;
  };

  explicit follower(std::size_t sentinels) : sentinels_(sentinels) {}

  void heard(std::size_t sentinel, word, time_point);
  void silent(std::size_t sentinel);  // it is gone, or cannot say

  // The server to go to; none: stay. `is_master`: our server answers and calls itself master.
  std::optional<core::endpoint> decide(bool is_master, time_point);

  // When the decision may change without any new answer.
  time_point due() const noexcept { return due_; }

  bool has_chosen() const noexcept { return at_.has_value(); }

 private:
  struct sentinel {
    bool has_spoken = false;  // at least that it cannot say
    std::optional<word> says;
    time_point leads_since{};  // with the same word
  };
  struct place {
    core::endpoint server;
    std::uint64_t epoch;
  };
  struct view;

  std::size_t count_of(const word&) const;
  bool majority(std::size_t n) const { return 2 * n > sentinels_.size(); }
  bool may_begin(time_point) const;
  bool is_believed(const sentinel&, const view&) const;
  bool may_move(const sentinel&, const view&) const;
  bool better(const word&, const word&, const view&) const;
  view look(bool is_master, time_point) const;
  const word* best(const view&) const;
  std::optional<core::endpoint> follow(const word*, time_point);
  time_point next_look(time_point) const;

  std::vector<sentinel> sentinels_;
  std::optional<place> at_, in_vain_;  // where we are; where one who led a failover sent us
  bool was_master_ = false;
  std::optional<time_point> since_;  // we have had no master, or the first word when there never was one
  time_point due_ = time_point::max();
};

}  // namespace tyer::redis
