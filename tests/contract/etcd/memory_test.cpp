// An allocation fails in the thread that drives the engine, at any point of our own code: at the worst that call is unknown, and
// everything else goes on.
#include "contract/engine/harness.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

thread_local int fails_at = 0;  // counted down by every allocation; 0: none fails

// Of this program; not of a library.
bool is_ours(void* caller) {
  static void* const base = [] {
    Dl_info here{};
    ::dladdr(reinterpret_cast<void*>(&is_ours), &here);
    return here.dli_fbase;
  }();
  Dl_info there{};
  return ::dladdr(caller, &there) != 0 && there.dli_fbase == base;
}

}  // namespace

void* operator new(std::size_t n) {
  if (fails_at > 0 && is_ours(__builtin_return_address(0)) && --fails_at == 0) throw std::bad_alloc{};
  if (void* p = std::malloc(n != 0 ? n : 1)) return p;
  throw std::bad_alloc{};
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace tyer::contract {
namespace {

struct etcd_memory : engine_contract {
  // One after the other, until it is done without the allocation that was to fail.
  template <class F, class G>
  static void fail_at_every_point(F doing, G afterwards) {
    for (int n = 1; n < 400; ++n) {
      fails_at = n;
      try {
        doing(n);
      } catch (const std::bad_alloc&) {
      } catch (const surprise&) {
        // It failed in words.
      }
      const bool reached = std::exchange(fails_at, 0) == 0;
      ASSERT_NO_THROW(afterwards(n)) << "after allocation " << n;
      if (!reached) return;
    }
  }

  // As a runtime does: asked again while it is not known.
  static void lock_at_last(client& of, const want& w) {
    const auto end = of.now() + patience;
    while (granted_in(of.acquire(w)) == nullptr) {
      if (of.now() > end) throw surprise("never granted");
      of.pump_until(of.now() + 10ms);
    }
  }
  static void keep_at_last(client& of, const want& w) {
    const auto end = of.now() + patience;
    for (;;) {
      try {
        if (of.keep(w, fate::holding, w.ttl) != fate::holding) throw std::runtime_error("it is gone");
        return;
      } catch (const surprise&) {
        if (of.now() > end) throw;
        of.pump_until(of.now() + 10ms);
      }
    }
  }
  static void release_at_last(client& of, const want& w) {
    for (const auto end = of.now() + patience;; of.pump_until(of.now() + 10ms)) {
      try {
        return void(of.release(w));
      } catch (const surprise&) {
        if (of.now() > end) throw;
      }
    }
  }

  client driven{prefix, 500ms};
};

TEST_F(etcd_memory, one_failed_allocation_ends_no_other_call) {
  const auto held = driven.wants("held");
  driven.lock(held);
  fail_at_every_point(
      [&](int n) {
        auto w = driven.wants("order/" + std::to_string(n));
        w.ttl = 60s + std::chrono::seconds{n};  // a lease of its own
        driven.lock(w);
        driven.release(w);
      },
      [&](int n) {
        auto other = driven.wants("other/" + std::to_string(n));
        other.ttl = 60s + std::chrono::seconds{n};
        lock_at_last(driven, other);
        keep_at_last(driven, held);
      });
}

// It was: a number was given back behind the answer, and where there was no memory for that, whatever came next for the name
// waited for an operation that was over.
TEST_F(etcd_memory, one_failed_allocation_stops_nothing_else_of_the_same_name) {
  auto held = a.wants("same");
  held.ttl = 300s;
  a.lock(held);
  want w;
  fail_at_every_point(
      [&](int) {
        w = driven.wants("same");
        driven.acquire(w);  // it is taken
      },
      [&](int) { release_at_last(driven, w); });
}

TEST_F(etcd_memory, one_failed_allocation_keeps_nobody_from_its_turn) {
  want holder, waiter;
  fail_at_every_point(
      [&](int n) {
        const int armed = std::exchange(fails_at, 0);
        holder = a.wants("order/" + std::to_string(n));
        a.lock(holder);
        waiter = driven.waits(holder.name);
        waiter.waiter_ttl = 2s;
        while (queued_in(driven.acquire(waiter)) == nullptr) driven.pump_until(driven.now() + 10ms);
        a.release(holder);
        fails_at = armed;
        driven.pump_until(driven.now() + 50ms);  // it is told
      },
      [&](int) {
        // Told by the watch, or found by keeping its place; it does not ask by itself.
        const auto end = driven.now() + patience;
        for (bool told = false; !told;) {
          if (driven.now() > end) throw std::runtime_error("its turn never came");
          driven.pump_until(driven.now() + 10ms);
          try {
            told = driven.saw(event::kind::wake, waiter.who) ||
                   driven.keep(waiter, fate::waiting, waiter.waiter_ttl) != fate::waiting;
          } catch (const surprise&) {
            // Not known yet.
          }
        }
        lock_at_last(driven, waiter);
      });
}

}  // namespace
}  // namespace tyer::contract
