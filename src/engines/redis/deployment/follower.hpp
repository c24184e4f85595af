// Decides which of the servers that sentinels name to follow. Answers in, decision out: no I/O and no clock of its own.
//
// A sentinel knows a pair: a config epoch, and the address that belongs to it. Sentinels tell each other this pair, and
// take over one with a larger epoch; so do we. The sentinel that leads a failover is an exception: from the promotion until
// every replica follows or failover-timeout is over (three minutes by default), its SENTINEL MASTER gives the new epoch
// with the old address. So its address is read with GET-MASTER-ADDR-BY-NAME, which is what it tells the others. Until
// another sentinel says the same, usually within moments, its answer counts for less: the server it promoted may be gone,
// and it would still name that one.
//
//   our server             what makes us follow another
//   none yet               the best answer, once a majority of the sentinels has answered, or all that can, or after `patience`
//   calls itself master    an answer with a larger epoch. From the leader of a failover only if no other sentinel answers, or if
//                          it has said the same for `long_away` and the others that answer are no majority: they would know by
//                          now, so they are cut off. Not a second time if that server was not reachable
//   away                   also an answer with the same epoch, if more sentinels name another server; after `patience` also that
//                          of the leader of a failover
//   away for `long_away`   also a smaller epoch, if a majority answers and none has ours: they may have been set up again. And the
//                          leader of a failover to our server is ignored
//
// The best answer: the largest epoch; then one outside of a failover; then what more sentinels say; then our server, unless it
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
  void silent(std::size_t sentinel);  // it is gone, or does not know

  // The server to go to; none: stay. `is_master`: our server answers and calls itself master.
  std::optional<core::endpoint> decide(bool is_master, time_point);

  // When the decision may change without any new answer.
  time_point due() const noexcept { return due_; }

  bool has_chosen() const noexcept { return at_.has_value(); }

 private:
  struct sentinel {
    bool has_spoken = false;  // or has answered that it does not know
    std::optional<word> says;
    time_point leads_since{};  // with the same answer
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
  std::optional<place> at_, in_vain_;  // our server; the server to which a failover's leader sent us in vain
  bool was_master_ = false;
  std::optional<time_point> since_;  // since when we have no master; before the first one: since the first answer
  time_point due_ = time_point::max();
};

}  // namespace tyer::redis
