// Several locks as one: in one order, all or none, until one limit.
#pragma once

#include "primitives/lock_state.hpp"

#include <memory>
#include <source_location>
#include <stop_token>
#include <string>
#include <vector>

namespace tyer::primitives {

// One of them, and what it is called wherever somebody wants it too.
struct multi_part {
  std::string identity;  // of the engine: its address as the user wrote it, which others may write in another way
  std::shared_ptr<const detail::lock_state> lock;
};

// In the order that is the same for everybody, each once. Names first: of one server they are the same for everybody, however
// its address is written.
std::vector<std::shared_ptr<const detail::lock_state>> in_order(std::vector<multi_part> parts);

struct all_acquired {
  tyer::failure error;
  std::vector<hold_ptr> holds;  // as many as locks, or none
};

// When an earlier one is lost while a later one is waited for, everything is given back and it begins anew.
all_acquired acquire_all(const std::vector<std::shared_ptr<const detail::lock_state>>& locks, const patience& p,
                         std::stop_token stop, const std::source_location& where);

}  // namespace tyer::primitives
