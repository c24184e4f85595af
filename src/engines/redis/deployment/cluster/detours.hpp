// Which names are already where their slot goes, while it is on its way from one master to another.
//
// The master that gives the slot away says so (ASK), and the request goes to the other. Its answer then depends on two
// masters, so such names are a group of their own: whichever of the two hangs, nobody else's renewal waits for it.
//
// No socket, no clock.
#pragma once

#include "engine/engine.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tyer::redis {

class detours {
 public:
  using time_point = engine::time_point;
  static constexpr std::chrono::seconds forgotten_after{10};  // nobody has said it again

  // Master number `from` has said that the name of this key is at number `to`. True if it was not known.
  bool note(std::string_view key, std::uint32_t from, std::uint32_t to, time_point);

  // Of the name of this key, if `owner` has its slot: that number, or of a name on a detour another one, which no master has.
  std::uint32_t group(std::string_view key, std::uint32_t owner) const;

  void forget_old(time_point now);
  std::size_t size() const noexcept { return names_.size(); }

 private:
  struct detour {
    std::uint32_t from, to;
    time_point said;
  };
  std::map<std::string, detour, std::less<>> names_;  // by key
};

}  // namespace tyer::redis
