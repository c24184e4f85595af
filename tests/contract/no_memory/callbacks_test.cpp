// Calls with a callback: it is called once, or the call throws, wherever memory runs out.
#include "contract/no_memory/fixture.hpp"

#include <tyer/async.hpp>

#include <memory>
#include <new>

namespace tyer::test {
namespace {

// It was: a callback that found no memory on its way was destroyed, and never called.
struct no_memory_callbacks : no_memory {
  struct note {
    std::atomic<int> calls{0};
    failure why;
  };
  // Starts it, and waits for its callback if it did not throw.
  template <class Start>
  static void once(Start start) {
    std::shared_ptr<note> n;
    bool begun = false;
    try {
      n = std::make_shared<note>();
      start(n);
      begun = true;
    } catch (const std::bad_alloc&) {}
    if (!n) return;
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (begun && n->calls == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(n->calls, begun ? 1 : 0) << (begun ? "it was never called" : "it threw, and called");
    if (begun && n->calls == 1) expect_no_memory(n->why);
  }
  template <class... Answer>
  static auto noting(const std::shared_ptr<note>& n) {
    return [n](failure why, Answer...) {
      n->why = std::move(why);
      ++n->calls;
    };
  }
};

TEST_P(no_memory_callbacks, of_an_acquire) {
  const auto name = fresh("called");
  mutex m{c, name, {.ttl = 1s}};
  for_every_allocation(name, [&] { once([&](const auto& n) { start_try_acquire_for(m, 200ms, noting<hold>(n)); }); });
}

TEST_P(no_memory_callbacks, of_several_locks) {
  const auto name = fresh("called"), other = fresh("called");
  multi_mutex m{c, {name, other}, {.ttl = 1s}};
  for_every_allocation(name,
                       [&] { once([&](const auto& n) { start_try_acquire_for(m, 200ms, noting<multi_hold>(n)); }); });
}

TEST_P(no_memory_callbacks, of_a_release) {
  const auto name = fresh("called");
  mutex m{c, name, {.ttl = 1s}};
  for_every_allocation(name, [&] {
    failure why;
    hold h = m.try_acquire(why);
    if (h) once([&](const auto& n) { start_release(std::move(h), noting<release_outcome>(n)); });
  });
}

TEST_P(no_memory_callbacks, of_a_confirmation) {
  const auto name = fresh("called");
  for_every_allocation(name, [&] { once([&](const auto& n) { start_confirm(k, noting<bool>(n)); }); });
}

// It was: the call of all parts kept the call of the one that was dropped, and that one kept it.
TEST_P(no_memory_callbacks, of_a_confirmation_of_several_locks_was_never_called) {
  const auto name = fresh("called"), other = fresh("called");
  multi_mutex m{c, {name, other}, {.ttl = 4s}};
  const multi_hold h = m.acquire();
  for_every_allocation(fresh("free"), [&] { once([&](const auto& n) { start_confirm(h, noting<bool>(n)); }); });
}

TEST_P(no_memory_callbacks, of_a_release_of_several_locks) {
  const auto name = fresh("called"), other = fresh("called");
  multi_mutex m{c, {name, other}, {.ttl = 1s}};
  for_every_allocation(name, [&] {
    failure why;
    multi_hold h = m.try_acquire(why);
    if (h) once([&](const auto& n) { start_release(h, noting<release_outcome>(n)); });
  });
}

TEST_P(no_memory_callbacks, of_an_upgrade) {
  const auto name = fresh("called");
  shared_mutex m{c, name, {.ttl = 1s}};
  for_every_allocation(name, [&] {
    failure why;
    hold h = m.shared().try_acquire(why);
    if (h) once([&](const auto& n) { start_try_upgrade(m, h, noting<bool>(n)); });
  });
}

TEST_P(no_memory_callbacks, of_who_waits_until_it_is_ready) {
  if (GetParam() == whose::clients_threads)
    GTEST_SKIP() << "they need no memory for it, but now and then for something else";
  const auto name = fresh("called");
  for_every_allocation(name, [&] { once([&](const auto& n) { start_wait_ready(c, 200ms, noting<>(n)); }); });
}

INSTANTIATE_TEST_SUITE_P(of, no_memory_callbacks, ::testing::Values(whose::calling_thread, whose::clients_threads),
                         name_of);

}  // namespace
}  // namespace tyer::test
