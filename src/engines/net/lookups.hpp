// Host names that are being looked up, and the end of whoever asked for them.
//
// Asio looks host names up one after the other, on a thread that nobody can call back: getaddrinfo() takes as long as the name
// server lets it, and an io_context waits for that thread when it is destroyed. Whoever starts a lookup says so, and when it has
// come back by itself; if one has not, the end of whoever owns the io_context is left to a thread of its own, which waits for it
// and for nothing else.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

namespace tyer::net {

class lookups {
 public:
  std::uint64_t begin() noexcept { return ++begun_; }
  void came_back(std::uint64_t which) noexcept { back_ = std::max(back_, which); }
  bool under_way() const noexcept { return back_ < begun_; }

 private:
  std::uint64_t begun_ = 0, back_ = 0;
};

// Never waits for a name server. `owner` has an io_context in it.
template <class Owner>
void let_go(std::unique_ptr<Owner> owner, const lookups& of_it) {
  if (!of_it.under_way()) return;  // destroyed here
  try {
    std::thread{[last = std::move(owner)]() mutable { last.reset(); }}.detach();
  } catch (...) {  // no thread to be had: it was waited for here
  }
}

}  // namespace tyer::net
