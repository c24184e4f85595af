// An intrusive queue: each member has a `std::shared_ptr<Member> behind`, so that pushing never allocates.
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
    while (pop()) {  // one by one: a recursive destructor could overflow the stack
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
