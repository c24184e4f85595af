// Which master has which slot, according to the nodes.
//
// Nodes may contradict each other. For a slot with a known master, this counts:
//
//   its master itself says who has it   always, by MOVED or in its map: no other node knows better
//   a claim with a larger epoch         always: a node that takes a slot over gets a larger epoch than the old master
//   any other claim                     only if its master is given up, and most nodes that have answered lately say the same:
//                                       then the cluster was set up again. A single node that was cut off cannot mislead us
//
// No epoch is invented: a slot that its master has redirected keeps its epoch until the new master claims it.
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

  // Takes a node's view. True if a slot has another master now.
  bool learn(const std::vector<node>&, const core::endpoint& teller, engine::time_point now,
             const std::function<bool(const core::endpoint&)>& given_up);

  // The slot's own master said where the slot is now. True if that is new.
  bool moved(std::uint16_t slot, const core::endpoint& to);

  // A number into claims(), or nobody.
  std::uint16_t owner(std::uint16_t slot) const noexcept { return owner_[slot]; }

  struct claim {
    core::endpoint master;
    std::uint64_t epoch = 0;
    std::size_t slots = 0;  // how many slots it has; 0: unused
  };
  const std::vector<claim>& claims() const noexcept { return claims_; }
  std::size_t without_master() const noexcept { return without_master_; }

 private:
  // Which node has answered lately, with which masters and epochs.
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
