// The three promises, checked while the run goes on and once more at its end.
//
//   fenced  no stale write is accepted; a conflicting grant that was asked for after another had returned has a larger token
//   leased  no two conflicting validity windows overlap, except from a loss of data until the end of what was promised before
//   live    a name with live waiters and without a valid hold is granted within a bound (once the faults are over)
#pragma once

#include "engine/engine.hpp"
#include "sim/scenario.hpp"
#include "sim/world.hpp"

#include <tyer/fence.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tyer::sim {

using engine::mode;

class checker {
 public:
  explicit checker(world& w) : world_(w) {}

  // What a grant that is asked for now must be above.
  std::uint64_t floor(std::size_t name, mode how) const;

  // A hold was given to its owner. The number names its window.
  std::size_t opened(std::size_t name, mode how, std::uint64_t token, std::uint64_t floor, std::size_t client);
  // It is over: given back, lost by proof, killed, or at the end of its validity.
  void closed(std::size_t window, moment when);

  // Writes to the resource through its gate. `believes`: the writer has looked, and its hold is valid.
  bool write(std::size_t window, bool believes);

  // The server has forgotten something of this name.
  void lost_data(std::size_t name, moment promised_until);

  // How it stands with a name: called now and then.
  void look(std::size_t name, bool somebody_waits, duration idle_max);

  void finish();

  std::uint64_t grants() const noexcept { return windows_.size(); }
  std::uint64_t accepted = 0, refused = 0;

 private:
  struct window {
    std::size_t name, client;
    mode how;
    std::uint64_t token;
    moment from, to;
    bool open = true;
  };
  struct amnesty {
    moment from, to;
  };
  struct resource {
    std::uint64_t returned_exclusive = 0, returned_any = 0;  // the largest tokens that callers have been given
    std::uint64_t wrote_exclusive = 0, wrote_any = 0;        // and that have been written with
    std::size_t last_writer = 0;                             // window of the last exclusive write
    fence_gate gate;
    std::unordered_map<std::uint64_t, std::size_t> tokens;  // of exclusive holds, and whose they are
    std::vector<amnesty> forgiven;
    std::size_t open_windows = 0;
    std::uint64_t grants = 0, grants_seen = 0;
    std::optional<moment> idle_since;
  };

  bool forgiven(const resource& r, moment from, moment to) const;
  void check_overlaps(std::size_t name);
  static std::string words(const window& w);

  world& world_;
  std::vector<window> windows_;
  std::array<resource, names.size()> resources_;
};

}  // namespace tyer::sim
