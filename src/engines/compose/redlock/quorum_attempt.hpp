// One attempt for a lock on several nodes: from the grants of a majority to a token that a majority has stored.
//
//   state   | what happens
//   --------+------------------------------------------------------------------------------------------------------------
//   locking | every node was asked at once; a majority of grants is enough, and the attempt ends when none is possible any more
//   lifting | the token is the largest part of those grants; nodes whose part is below it are told to raise theirs
//   won     | a majority has exactly this part for this id
//   lost    | verdict() says why; whatever was granted must be given back
//
// The part of a node's grant is above its counter, so the largest of a majority is above every token that was written to a
// majority before. A node gives each part to one id only, by a grant or by a lift, so no other attempt has this one.
//
// No socket, clock, thread or log: answers and times come in. A slow node is waited for only while its answer could decide,
// and once a majority has answered no longer than `straggle`.
#pragma once

#include "engines/compose/redlock/quorum.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tyer::redlock {

class quorum_attempt {
 public:
  struct plan {
    std::size_t nodes;
    time_point sent;  // before the first node was asked
    milliseconds ttl;
    time_point give_up_at;
    duration straggle;
    std::uint64_t told = 0;  // the part that this id already has, if it still has it
  };
  enum class state : std::uint8_t { locking, lifting, won, lost };

  explicit quorum_attempt(const plan& p) : plan_(p), nodes_(p.nodes) {}

  void on_granted(std::size_t node, std::uint64_t part, time_point now);
  void on_busy(std::size_t node, milliseconds left, time_point now);
  void on_failure(std::size_t node, failure f, time_point now);
  // `part` is what the node was told to raise it to.
  void on_lifted(std::size_t node, std::uint64_t part, bool holding, time_point now);
  void on_time(time_point now) { decide(now); }

  state where() const noexcept { return state_; }
  bool over() const noexcept { return state_ == state::won || state_ == state::lost; }
  time_point due() const noexcept;

  // The nodes that must be told to raise their part to part(); each is given once.
  std::vector<std::size_t> take_lifts() { return std::exchange(lifts_, {}); }
  std::uint64_t part() const noexcept { return part_; }
  // Also if raising its token failed: the node may have the lock nevertheless.
  bool granted_by(std::size_t node) const noexcept { return nodes_[node].part != 0; }

  // For a lost attempt: how long somebody else has the lock at least, or what went wrong. `names` are those of the nodes.
  std::variant<milliseconds, failure> verdict(const std::vector<std::string>& names) const;

 private:
  enum class vote : std::uint8_t { none, granted, busy, failed };
  struct node {
    vote said = vote::none;
    bool lifting = false;  // asked to raise its part to part_, and not answered yet
    std::uint64_t part = 0;
    milliseconds left{};
    failure wrong;
  };

  std::size_t count(vote v) const noexcept;
  std::size_t answered() const noexcept { return count(vote::granted) + count(vote::busy); }
  std::size_t enough() const noexcept { return majority(plan_.nodes); }
  std::uint64_t largest() const noexcept;
  void decide(time_point now);
  void decide_locking(time_point now);
  void decide_lifting(time_point now);
  void settle_on(std::uint64_t part);

  plan plan_;
  state state_ = state::locking;
  std::vector<node> nodes_;
  std::vector<std::size_t> lifts_;
  std::uint64_t part_ = 0;
  time_point straggle_until_ = time_point::max();
};

}  // namespace tyer::redlock
