// The order at the server, seen from outside: first come, first served, over all modes, and a hand-over that nobody claims
// is over after a waiter's time.
#pragma once

#include "engines/kit/resource.hpp"
#include "sim/call.hpp"
#include "sim/world.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace tyer::sim {

// The server's clock is the true one.
inline kit::store_time at_server(moment m) { return kit::store_time{m.time_since_epoch()}; }

class line_judge {
 public:
  explicit line_judge(world& w) : world_(w) {}

  // From here on, as it is now: the server has another memory.
  void begin(std::size_t name, const kit::resource& r);
  // An acquire is about to be executed: whoever has been handed the lock claims it; whose place has run out comes anew.
  void on_acquire(std::size_t name, const engine::request& r, const kit::resource& before);
  // Something was done to the name.
  void look(std::size_t name, const kit::resource& r);

 private:
  struct waiting {
    id who;
    std::uint64_t came;
    milliseconds ttl;  // of its place, and of a hand-over
  };
  struct handed {
    id who;
    moment until;
  };
  struct order {
    std::vector<waiting> line;
    std::vector<id> holders;
    std::vector<handed> unclaimed;
    std::uint64_t changes = 0, came = 0;
    milliseconds asked_for{};  // by the last acquire
  };

  void check_unclaimed(std::size_t name, order& o, const kit::resource& r);
  void check_turn(std::size_t name, const order& before, const std::vector<waiting>& line, const id& who);

  world& world_;
  std::array<order, names.size()> orders_;
};

}  // namespace tyer::sim
