// A line through its members, each of which has a `std::shared_ptr<Member> behind`: nobody stays outside for want of memory.
//
// Thread safety: none.
#pragma once

#include <memory>
#include <utility>

namespace tyer::runtime {

template <class Member>
class chain {
 public:
  chain() = default;
  chain(const chain&) = delete;
  ~chain() {
    while (pop()) {  // one after the other, however many
    }
  }

  bool empty() const noexcept { return first_ == nullptr; }
  void push(std::shared_ptr<Member> m) noexcept {
    Member* const raw = m.get();
    (last_ != nullptr ? last_->behind : first_) = std::move(m);
    last_ = raw;
  }
  std::shared_ptr<Member> pop() noexcept {  // null if there is none
    auto m = std::move(first_);
    if (m) first_ = std::move(m->behind);
    if (!first_) last_ = nullptr;
    return m;
  }
  void swap(chain& other) noexcept {
    first_.swap(other.first_);
    std::swap(last_, other.last_);
  }

 private:
  std::shared_ptr<Member> first_;
  Member* last_ = nullptr;
};

}  // namespace tyer::runtime
