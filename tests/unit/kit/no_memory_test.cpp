// Every allocation of a call fails once: whoever called is told, by the exception and the reply that was dropped, or by its
// answer; and never twice.
#include "contract/no_memory/failing_new.hpp"
#include "unit/kit/pocket_engine.hpp"

#include <gtest/gtest.h>

#include <new>

namespace tyer::kit {
namespace {

struct nobody final : seam::events {
  void wake(const seam::id&) override {}
  void suspect(const seam::id&) override {}
  void gone(const seam::id&) override {}
  void asked(const seam::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const seam::server_facts&) override {}
  void down(const failure&) override {}
};

struct kit_no_memory_test : ::testing::Test {
  // A reply that notes when it was called, and when it was dropped.
  struct counted {
    explicit counted(int* t, int* d) : times(t), dropped(d) {}
    counted(counted&& o) noexcept : times(o.times), dropped(std::exchange(o.dropped, nullptr)) {}
    ~counted() {
      if (dropped != nullptr) ++*dropped;
    }
    void operator()(outcome<answer>&&) { ++*times; }
    int *times, *dropped;
  };

  // Until everything works without a failure. The engine gets what it needs beforehand.
  template <class F>
  static void for_every_allocation(F what) {
    for (int n = 1;; ++n) {
      ASSERT_LT(n, 100);
      bool failed = false;
      what([&](auto step) {
        const test::failing_new one{test::whose::calling_thread, n};
        try {
          step();
        } catch (const std::bad_alloc&) {}
        failed = one.failed();
      });
      if (failed) continue;
      EXPECT_GT(n, 1) << "there was nothing to fail";
      return;
    }
  }

  hand_clock clock;
  core::random_ids ids;
  nobody events;
};

TEST_F(kit_no_memory_test, a_call) {
  for_every_allocation([&](auto without_memory) {
    pocket_engine e{seam::environment{"", &ids, &clock, 2s, {}}, {}};
    e.open(events);
    e.acquires.reserve(1);
    int times = 0, dropped = 0;
    const seam::request r{.what = {ids.next(), "order"}, .ttl = 1s, .not_after = 1s};
    without_memory([&] { e.acquire(r, counted{&times, &dropped}); });
    clock.move(2s);
    e.run(clock.now());
    EXPECT_EQ(dropped, 1) << "the reply was let go of";
    EXPECT_LE(times, 1);
    EXPECT_EQ(times, e.acquires.empty() ? 0 : 1) << "whoever reached the engine is answered";
  });
}

TEST_F(kit_no_memory_test, a_refusal) {
  for_every_allocation([&](auto without_memory) {
    pocket_engine e{seam::environment{"", &ids, &clock, 2s, {}}, {}};
    e.open(events);
    int times = 0, dropped = 0;
    const seam::request r{.what = {ids.next(), "order", mode::shared}, .ttl = 1s, .not_after = 1s};
    without_memory([&] { e.acquire(r, counted{&times, &dropped}); });
    e.run(clock.now());
    EXPECT_EQ(dropped, 1);
    EXPECT_LE(times, 1);
  });
}

TEST_F(kit_no_memory_test, a_turn) {
  for_every_allocation([&](auto without_memory) {
    calls all{2s};
    int times = 0, dropped = 0, started = 0;
    const auto c = all.begin<answer>(clock.now(), counted{&times, &dropped});
    without_memory([&] { all.in_turn(c, "a name that is too long to be short", [&] { ++started; }); });
    all.step(clock.now() + 2s, [&] { all.on_time(clock.now() + 2s); });
    EXPECT_EQ(times, 1);
    EXPECT_EQ(dropped, 1);
    int next = 0;
    const auto d = all.begin<answer>(clock.now(), [](auto&&) {});
    all.in_turn(d, "a name that is too long to be short", [&] { ++next; });
    EXPECT_EQ(next, 1) << "nobody stands in the way";
  });
}

TEST_F(kit_no_memory_test, giving_up_what_is_overdue_and_answering_need_none) {
  pocket_engine e{seam::environment{"", &ids, &clock, 2s, {}}, {}};
  e.open(events);
  int times = 0, dropped = 0;
  const seam::request r{.what = {ids.next(), "order"}, .ttl = 1s, .not_after = 1s};
  for (int n = 0; n < 3; ++n) e.acquire(r, counted{&times, &dropped});
  calls& all = e.calls();
  for (int n = 1; n <= 3; ++n) {
    const test::failing_new one{test::whose::calling_thread, n};
    clock.move(n == 1 ? 0ms : 2s);
    all.step(clock.now(), [&] {
      if (n == 1) all.answer<answer>(*e.acquires[0], answer{seam::busy{}});
      all.on_time(clock.now());
    });
  }
  EXPECT_EQ(times, 3);
  EXPECT_EQ(dropped, 3);
}

TEST_F(kit_no_memory_test, closing) {
  for_every_allocation([&](auto without_memory) {
    pocket_engine e{seam::environment{"", &ids, &clock, 2s, {}}, {}};
    e.open(events);
    int times = 0, dropped = 0;
    bool closed = false;
    const seam::request r{.what = {ids.next(), "order"}, .ttl = 1s, .not_after = 1s};
    for (int n = 0; n < 3; ++n) e.acquire(r, counted{&times, &dropped});
    e.close([&](auto&&) { closed = true; });
    without_memory([&] { e.run(clock.now()); });
    e.run(clock.now());
    EXPECT_EQ(times, 3);
    EXPECT_TRUE(closed);
  });
}

}  // namespace
}  // namespace tyer::kit
