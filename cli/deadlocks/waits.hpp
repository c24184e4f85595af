// Who waits for whom, of all that hold and wait at some locks, without those that cannot be part of a deadlock. Who is left waits for
// another that is left, and is waited for by one: it is in a circle, or between two.
//
// A queue of n may have n² pairs of which one waits for the other, and thousands may wait behind a deadlock. So pairs are not
// written down: a pass over a queue counts what comes before a place, or after it, and a queue is looked at again only when one of
// its processes has left.
#pragma once

#include "deadlocks/circles.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace cli {

class waits {
 public:
  static constexpr std::size_t nobody = static_cast<std::size_t>(-1);

  // Where an entry is.
  struct spot {
    std::size_t lock, at;
  };

  explicit waits(const std::vector<seen_lock>& all);

  std::size_t processes() const { return is_in_.size(); }  // in the order of host and pid
  bool is_in(std::size_t process) const { return process != nobody && is_in_[process]; }
  // They stay stuck, and so do those that wait for them.
  void leave_out(const std::vector<std::size_t>& processes);

  // Every entry for which a stuck place of this process waits.
  void each_wait(std::size_t process, const std::function<void(spot place, spot other)>& tell) const;

  const tyer::lock_entry& what(spot s) const { return *locks_[s.lock][s.at].what; }
  std::size_t by(spot s) const { return locks_[s.lock][s.at].by; }

 private:
  struct entry {
    const tyer::lock_entry* what;
    std::size_t by;      // nobody: it is not known which process that is
    bool stuck = false;  // it waits, and what it waits for is stuck
  };
  using queue = std::vector<entry>;
  using verdict = std::function<void(std::size_t at, bool stays)>;

  void keep_those_that_wait();
  void keep_those_that_are_waited_for();
  // Processes stay for as long as one of their reasons does.
  void peel(std::vector<std::vector<bool>> reasons, const std::function<void(std::size_t lock, const verdict&)>& judge);
  bool bars(const entry& other, const entry& place) const;

  std::vector<queue> locks_;
  std::vector<std::vector<spot>> spots_;  // of each process
  std::vector<bool> is_in_;
};

}  // namespace cli
