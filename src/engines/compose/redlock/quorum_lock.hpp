// The life of one id on several nodes: attempts for the lock, the hold, and its release.
//
//   it is      | what happens
//   -----------+---------------------------------------------------------------------------------------------------------
//   trying     | an attempt goes on (quorum_attempt.hpp)
//   undoing    | the attempt is lost; the answer waits, for a moment, until the grants are released
//   held       | won, until released, found gone or expired
//   releasing  | on each node by itself, until nothing of the id can be left there (lease/release.hpp)
//
// A node that is away costs nothing: it is not asked, and a hold that it may have is released when it is back, or expires.
//
// Two rules make a second attempt with the same id safe. Its requests follow the first one's on every node, so a grant that
// was not released yet is simply its own. And a release with an unknown outcome may still be executed and take away the
// second attempt's lock: until that is impossible, a grant of that node would not count, so the node is not asked.
//
// No socket, clock, thread or log: calls, answers and times come in; requests to nodes and results go out.
#pragma once

#include "engines/compose/redlock/nodes_up.hpp"
#include "engines/compose/redlock/quorum_attempt.hpp"
#include "lease/release.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tyer::redlock {

class quorum_lock {
 public:
  struct setting {
    std::vector<std::string> names;  // of the nodes
    milliseconds request_timeout{};
    duration straggle{};
    const nodes_up* there = nullptr;  // null: all are
  };
  // A request to a node; its answer must refer to it.
  struct node_request {
    enum class kind : std::uint8_t { acquire, lift, release };
    std::size_t node;
    kind what;
    std::uint64_t serial;
    std::uint64_t part = 0;  // the part to raise to; for an acquire: the smallest part to accept, 0: any
  };
  struct won {
    time_point sent;
    std::uint64_t part;
    milliseconds ttl;
  };
  struct lost {
    time_point sent;
    std::variant<milliseconds, failure> why;  // busy for at least this long
  };
  struct released {
    time_point sent;
    std::variant<fate, failure> was;
  };

  explicit quorum_lock(const setting& s) : s_(s), nodes_(s.names.size()) {}

  // A call while the same one is under way joins it.
  void acquire(milliseconds ttl, milliseconds not_after, time_point now);
  void release(time_point now);

  void on_acquired(const node_request& asked, std::variant<engine::answer, failure> said, time_point now);
  void on_lifted(const node_request& asked, std::variant<fate, failure> said, time_point now);
  void on_released(const node_request& asked, time_point sent, std::variant<fate, failure> said, time_point now);
  void on_kept(time_point until) { held_until_ = held_part_ != 0 ? std::max(held_until_, until) : held_until_; }
  // A majority has the hold, and this node says that it does not: the node is asked to grant it again, with a part that is
  // not below the token. That takes nothing from others: a node grants only a lock that nobody has.
  void win_back(std::size_t node, time_point now);
  // A majority says that the hold is gone; what the other nodes still have must be released.
  void on_gone(time_point now);
  void on_up(std::size_t node, time_point now);
  void on_time(time_point now);

  std::vector<node_request> take_requests() { return std::exchange(requests_, {}); }
  std::optional<std::variant<won, lost>> take_acquired() { return std::exchange(acquired_, std::nullopt); }
  std::optional<released> take_released() { return std::exchange(released_, std::nullopt); }

  // How many attempts were lost since the last one that was won.
  std::uint32_t losses() const noexcept { return losses_; }
  time_point due() const noexcept;
  bool over(time_point now) const noexcept;

 private:
  struct node {
    std::uint32_t asks = 0;  // acquires under way
    time_point asked_at = time_point::min();
    time_point unsettled_until = time_point::min();  // until then an abandoned acquire may be executed
    time_point doubtful_until = time_point::min();   // until then a release may be executed
    bool may_hold = false;                           // granted, or perhaps granted, and not released since
    std::optional<lease::release> giving_back;
    time_point given_up_at = time_point::min();
    std::uint64_t release_serial = 0;             // of the last one sent
    time_point release_sent = time_point::max();  // while it has no answer
  };
  struct undoing {
    lost answer;
    std::vector<std::size_t> waits_for;
    time_point until;
  };
  enum class vote : std::uint8_t { none, holding, gone, failed };
  struct releasing {
    time_point sent;
    std::vector<vote> votes;
    time_point until;
    bool counted = false;
  };

  void act_on_attempt(time_point now);
  void lose(std::variant<milliseconds, failure> why, time_point now);
  void give_back(std::size_t node, time_point now);
  void act(std::size_t node, lease::release::verb v, time_point now);
  void end_undoing(time_point now);
  void give_up_answers(std::size_t node, time_point now);
  void count(std::size_t node, vote v, time_point now);
  void end_releasing();
  const failure* away(std::size_t node) const noexcept { return s_.there != nullptr ? s_.there->away(node) : nullptr; }
  bool may_have_it(const node& n, time_point now) const noexcept {
    return !asked_ || n.may_hold || n.asks > 0 || n.unsettled_until > now;
  }

  // A node answers everything within the request time-out, unless it ran out of memory: then no answer comes.
  duration unanswered_after() const noexcept { return 2 * s_.request_timeout; }

  const setting& s_;
  std::vector<node> nodes_;
  std::vector<node_request> requests_;
  std::uint64_t serial_ = 0, first_serial_ = 0;  // of the attempt under way

  milliseconds ttl_{}, not_after_{};
  std::optional<quorum_attempt> attempt_;
  time_point sent_;
  std::optional<undoing> undoing_;
  std::optional<std::variant<won, lost>> acquired_;
  std::uint32_t losses_ = 0;

  bool asked_ = false;  // so every hold of this id on a node was requested here
  std::uint64_t held_part_ = 0;
  time_point held_until_ = time_point::min();

  std::optional<releasing> releasing_;
  std::optional<released> released_;
  time_point remembered_until_ = time_point::min();
};

}  // namespace tyer::redlock
