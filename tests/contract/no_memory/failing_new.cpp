#include "contract/no_memory/failing_new.hpp"

#include "runtime/own_thread.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

thread_local int left_here = 0;
std::atomic<int> left_there{0};
std::atomic<bool> has_failed{false};

bool fails() noexcept {
  if (left_here > 0) return --left_here == 0;
  if (left_there.load(std::memory_order_relaxed) <= 0 || !tyer::runtime::on_own_thread) return false;
  return left_there.fetch_sub(1) == 1;
}

void* allocated(std::size_t size) {
  if (fails()) {
    has_failed = true;
    throw std::bad_alloc{};
  }
  if (void* p = std::malloc(size != 0 ? size : 1)) return p;
  throw std::bad_alloc{};
}

}  // namespace

void* operator new(std::size_t size) { return allocated(size); }
void* operator new[](std::size_t size) { return allocated(size); }
// Also these: a sanitizer's own would not fit our delete.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept try {
  return allocated(size);
} catch (const std::bad_alloc&) {
  return nullptr;
}
void* operator new[](std::size_t size, const std::nothrow_t& n) noexcept { return operator new(size, n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace tyer::test {

failing_new::failing_new(whose w, int n) {
  has_failed = false;
  if (w == whose::calling_thread) left_here = n;
  if (w == whose::clients_threads) left_there = n;
}

failing_new::~failing_new() {
  left_here = 0;
  left_there = 0;
}

bool failing_new::failed() const { return has_failed; }

}  // namespace tyer::test
