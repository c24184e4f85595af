// Several locks as one: in one order, all or none, until one limit.
#pragma once

#include "primitives/lock_state.hpp"

#include <cstddef>
#include <memory>
#include <source_location>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace tyer::primitives {

// One lock, with the identity by which all clients order it.
struct multi_part {
  std::string identity;  // of the engine: its address as the user wrote it; others may write it differently
  std::shared_ptr<const detail::lock_state> lock;
};

// In the order that is the same for all clients, without duplicates. By name first: names on one server are the same for
// everybody, however its address is written.
using locks = std::vector<std::shared_ptr<const detail::lock_state>>;
locks in_order(std::vector<multi_part> parts);

// The holds acquired so far. The destructor releases those that were not taken out, also when an exception is thrown.
class holds {
 public:
  holds() noexcept = default;
  explicit holds(const locks& of);
  holds(holds&&) noexcept = default;
  holds& operator=(holds&&) = delete;
  ~holds() { give_back(); }

  void push_back(hold_ptr h) noexcept;  // of the next lock; capacity is reserved
  bool empty() const noexcept { return got_.empty(); }
  bool all_valid() const noexcept;
  void give_back() noexcept;

  // Passes each hold to f, in the order of the locks: from then on f owns it, and must not throw.
  template <class F>
  void take_out(F f) noexcept {
    for (std::size_t i = 0; i < got_.size(); ++i) f((*of_)[i]->home, std::move(got_[i]));
    got_.clear();
  }

 private:
  const locks* of_ = nullptr;
  std::vector<hold_ptr> got_;
};

struct all_acquired {
  tyer::failure error;
  primitives::holds holds;  // as many as locks, or none
};

// If an earlier lock is lost while a later one is waited for, everything is released and it starts again.
all_acquired acquire_all(const locks& all, const patience& p, std::stop_token stop, const std::source_location& where);

}  // namespace tyer::primitives
