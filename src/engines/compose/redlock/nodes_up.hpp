// Which nodes are up, and whether the whole is up or down. No socket, clock, thread or log.
#pragma once

#include "engines/compose/redlock/quorum.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tyer::redlock {

class nodes_up {
 public:
  enum class news : std::uint8_t { none, up, down };

  // A hold stays on the nodes that granted it. So at the start we wait this long for nodes that have not answered yet: else
  // the first holds would have only a bare majority.
  static constexpr milliseconds first_straggle{500};

  nodes_up(std::vector<std::string> names, duration straggle)
      : names_(std::move(names)), nodes_(names_.size()), straggle_(straggle) {}

  // Each returns what has changed. A node that comes back is a change: all holds must be renewed there too, or found gone.
  news on_up(std::size_t node, const engine::server_facts& facts, time_point now);
  news on_down(std::size_t node, const failure& f, time_point now);
  news on_time(time_point now);
  // What the node's clock showed at that time; 0: not known.
  void note_clock(std::size_t node, std::chrono::microseconds shown, time_point then);

  time_point due() const noexcept { return announce_at_; }
  // Why the node is away; null: it is up.
  const failure* away(std::size_t node) const noexcept {
    return begun_ && nodes_[node].is == state::up ? nullptr : &nodes_[node].wrong;
  }
  // The facts of all nodes that are up; their id changes whenever one of them is another server.
  engine::server_facts facts() const;
  // Which are away, and why.
  failure absence() const;
  // A finding if the clocks of the nodes are too far apart, above all if they differ by more than the time for which nodes
  // remember the last token of a free lock.
  std::optional<engine::finding> clocks_apart(milliseconds remembered) const;

 private:
  enum class state : std::uint8_t { unknown, up, down };
  struct node {
    state is = state::unknown;
    engine::server_facts facts;
    failure wrong = not_yet();
    std::optional<std::chrono::microseconds> ahead;  // of our own clock, which has another epoch
  };

  static failure not_yet();
  std::size_t count(state s) const noexcept;
  news announce() noexcept;
  news consider(time_point now);

  std::vector<std::string> names_;
  std::vector<node> nodes_;
  duration straggle_;
  bool begun_ = false, up_ = false, told_down_ = false;
  time_point announce_at_ = time_point::max();
};

}  // namespace tyer::redlock
