// Which master has which slot, as far as the nodes have told.
//
// Nodes may contradict each other. What counts, of a slot that somebody has as far as we know:
//
//   its master itself says who has it   always, with MOVED as in its map: nobody else can know better
//   a claim with a larger epoch         always: whoever takes a slot over gets a larger one than whoever had it
//   any other claim                     only if its master is given up, and most of those who have told lately say the same:
//                                       the cluster was set up anew. One that was cut off cannot lead us back
//
// No epoch is made up: a slot that its master has sent elsewhere keeps the one it had, until its new master claims it.
//
// No socket, no clock.
#pragma once

#include "engine/engine.hpp"
#include "engines/redis/deployment/cluster/hash_slot.hpp"
#include "engines/redis/deployment/cluster/nodes.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tyer::redis {

class slot_map {
 public:
  static constexpr std::uint16_t nobody = 0xffff;

  slot_map() { owner_.fill(nobody); }

  static constexpr std::chrono::seconds lately{5};

  // What a node says, and when. True if a slot has another master then.
  bool learn(const std::vector<node>&, const core::endpoint& teller, engine::time_point now,
             const std::function<bool(const core::endpoint&)>& given_up);

  // The master of the slot itself said where it is now. True if that is news.
  bool moved(std::uint16_t slot, const core::endpoint& to);

  // A number into claims(), or nobody.
  std::uint16_t owner(std::uint16_t slot) const noexcept { return owner_[slot]; }

  struct claim {
    core::endpoint master;
    std::uint64_t epoch = 0;
    std::size_t slots = 0;  // that it has; none: of no interest any more
  };
  const std::vector<claim>& claims() const noexcept { return claims_; }
  std::size_t without_master() const noexcept { return without_master_; }

 private:
  // Who has told lately, and of which masters with which epochs.
  struct view {
    core::endpoint teller;
    engine::time_point told;
    std::vector<std::pair<core::endpoint, std::uint64_t>> masters;
  };

  void note(const std::vector<node>&, const core::endpoint& teller, engine::time_point now);
  bool most_say(const node&) const;
  std::uint16_t number_of(const core::endpoint&, std::uint64_t epoch);
  bool give(std::uint16_t slot, std::uint16_t to);
  void forget_empty();

  std::array<std::uint16_t, slots_in_all> owner_;
  std::vector<claim> claims_;
  std::vector<view> views_;
  std::size_t without_master_ = slots_in_all;
};

}  // namespace tyer::redis
