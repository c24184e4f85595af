// Which nodes are up, and what that means for all of them together. No socket, clock, thread or log.
#pragma once

#include "engines/compose/redlock/quorum.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tyer::redlock {

class presence {
 public:
  enum class news : std::uint8_t { none, up, down };

  // A hold stays on the nodes that granted it. So at the start we wait this long for nodes that have not answered yet: else the
  // first holds would live on a bare majority.
  static constexpr milliseconds first_straggle{500};

  presence(std::vector<std::string> names, duration straggle)
      : names_(std::move(names)), nodes_(names_.size()), straggle_(straggle) {}

  // Each tells what is new. A node that comes back is news: whatever is held must be kept there too, or found gone.
  news on_up(std::size_t node, const engine::server_facts& facts, time_point now);
  news on_down(std::size_t node, const failure& f, time_point now);
  news on_time(time_point now);
  // What the node's clock showed then; 0: not known.
  void note_clock(std::size_t node, std::chrono::microseconds shown, time_point then);

  time_point due() const noexcept { return announce_at_; }
  // Why the node is not to be asked; null: it is there.
  const failure* away(std::size_t node) const noexcept {
    return begun_ && nodes_[node].is == state::up ? nullptr : &nodes_[node].wrong;
  }
  // Of all that are up; another one whenever one of them is another server.
  engine::server_facts facts() const;
  // Which are away, and why.
  failure absence() const;
  // If the clocks of those that are up are so far apart that people should look, above all if it is for longer than the nodes
  // know the last token of a free lock.
  std::optional<engine::finding> clocks_apart(milliseconds remembered) const;

 private:
  enum class state : std::uint8_t { unknown, up, down };
  struct node {
    state is = state::unknown;
    engine::server_facts facts;
    failure wrong = not_yet();
    std::optional<std::chrono::microseconds> ahead;  // of our own clock, which counts from somewhere else
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
