// The names that are already at the new master while their slot is being migrated.
//
// The old master of the slot says so (ASK), and the request goes to the new one. Its answer then depends on two masters, so
// such names are a group of their own: if either of the two hangs, no other renewal waits for it.
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
  static constexpr std::chrono::seconds forgotten_after{10};  // unless it is reported again

  // Master number `from` has said that the name of this key is at number `to`. True if that is new.
  bool note(std::string_view key, std::uint32_t from, std::uint32_t to, time_point);

  // The group of the name of this key, if `owner` has its slot: that number, or for a name on a detour another one, which
  // no master has.
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
