// An intrusive doubly linked list: no allocation, removal from the middle without a search.
#pragma once

#include <cstddef>

namespace tyer::lease {

template <class T>
struct link {
  T* previous = nullptr;
  T* next = nullptr;
  bool linked = false;
};

template <class T, link<T> T::* Member>
class list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  T* front() const noexcept { return first_; }

  void push_back(T& item) noexcept {
    link<T>& l = item.*Member;
    l = {last_, nullptr, true};
    (last_ != nullptr ? (last_->*Member).next : first_) = &item;
    last_ = &item;
    ++size_;
  }

  void erase(T& item) noexcept {
    link<T>& l = item.*Member;
    (l.previous != nullptr ? (l.previous->*Member).next : first_) = l.next;
    (l.next != nullptr ? (l.next->*Member).previous : last_) = l.previous;
    l = {};
    --size_;
  }

  T* pop_front() noexcept {
    T* item = first_;
    if (item != nullptr) erase(*item);
    return item;
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tyer::lease
