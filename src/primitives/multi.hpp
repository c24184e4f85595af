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

// One of them, and what it is called wherever somebody wants it too.
struct multi_part {
  std::string identity;  // of the engine: its address as the user wrote it; others may write it in another way
  std::shared_ptr<const detail::lock_state> lock;
};

// In the order that is the same for everybody, each once. Names first: of one server they are the same for everybody, however
// its address is written.
using locks = std::vector<std::shared_ptr<const detail::lock_state>>;
locks in_order(std::vector<multi_part> parts);

// Those that were acquired so far. Whatever nobody has taken out is given back, also when an exception comes by.
class holds {
 public:
  holds() noexcept = default;
  explicit holds(const locks& of);
  holds(holds&&) noexcept = default;
  holds& operator=(holds&&) = delete;
  ~holds() { give_back(); }

  void push_back(hold_ptr h) noexcept;  // of the next lock; there is room
  bool empty() const noexcept { return got_.empty(); }
  bool all_valid() const noexcept;
  void give_back() noexcept;

  // In the order of the locks: what is done with each is done by the caller from then on, and must not fail.
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

// When an earlier one is lost while a later one is waited for, everything is given back and it begins anew.
all_acquired acquire_all(const locks& all, const patience& p, std::stop_token stop, const std::source_location& where);

}  // namespace tyer::primitives
