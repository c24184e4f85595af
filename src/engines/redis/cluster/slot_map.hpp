// Which master has which slot, as far as the nodes have told.
//
// Nodes may contradict each other. Whoever takes a slot over gets a larger config epoch than whoever had it, so a claim with
// a smaller one is old and does not count: a node that was cut off cannot lead us back.
#pragma once

#include "engines/redis/cluster/hash_slot.hpp"
#include "engines/redis/cluster/nodes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tyer::redis {

class slot_map {
 public:
  static constexpr std::uint16_t nobody = 0xffff;

  slot_map() { owner_.fill(nobody); }

  // What a node says. Claims of masters that are `given_up` count for nothing: the cluster may have been set up anew.
  // True if something changed.
  bool learn(const std::vector<node>&, const std::function<bool(const core::endpoint&)>& given_up);

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
  std::uint16_t number_of(const core::endpoint&, std::uint64_t epoch);
  bool give(std::uint16_t slot, std::uint16_t to);
  void forget_empty();

  std::array<std::uint16_t, slots_in_all> owner_;
  std::vector<claim> claims_;
  std::size_t without_master_ = slots_in_all;
};

}  // namespace tyer::redis
