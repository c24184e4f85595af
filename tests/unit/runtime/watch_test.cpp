#include "runtime/watch.hpp"

#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>

namespace tyer::testing {
namespace {

// The real thread of the alarms, on a clock that is moved by hand: look() returns when everything due was told.
struct alarms {
  hand_clock clock;
  runtime::watch watch{clock};
  std::shared_ptr<runtime::spec> lock = bench::make_lock("order", 10s);

  hold_ptr hold() {
    auto h = std::make_shared<tyer::detail::hold_state>(
        lock, counted_ids{}.next(),
        tyer::detail::hold_state::grant{
            1, clock.now(), lease::valid_until(clock.now(), lock->ttl), engine::mode::exclusive, {}});
    watch.guard(h);
    return h;
  }
  void move(lease::duration d) {
    clock.move(d);
    watch.look();
  }
};

TEST(watch, tells_lost_before_the_end) {
  alarms a;
  const auto h = a.hold();
  a.move(8999ms);
  EXPECT_FALSE(h->lost().stop_requested());
  a.move(1ms);
  EXPECT_TRUE(h->lost().stop_requested());
  EXPECT_LT(a.clock.now(), h->valid_until());
  EXPECT_EQ(h->where(), phase::lost);
}

TEST(watch, a_renewed_hold_is_left_alone_until_its_new_end) {
  alarms a;
  const auto h = a.hold();
  h->extend(h->valid_until() + 3s);
  a.move(9s);
  EXPECT_FALSE(h->lost().stop_requested());
  a.move(3s);
  EXPECT_TRUE(h->lost().stop_requested());
}

TEST(watch, a_hold_that_was_given_back_is_never_lost) {
  alarms a;
  const auto h = a.hold();
  EXPECT_TRUE(h->end(phase::released));
  a.move(100s);
  EXPECT_FALSE(h->lost().stop_requested());
}

TEST(watch, after_a_pause_valid_is_false_before_anybody_was_told) {
  alarms a;
  const auto h = a.hold();
  a.clock.move(1h);
  EXPECT_FALSE(h->valid(a.clock.now()));
  EXPECT_FALSE(h->lost().stop_requested());
  a.watch.look();
  EXPECT_TRUE(h->lost().stop_requested());
}

TEST(watch, tells_of_a_loss_that_the_desk_has_found) {
  alarms a;
  const auto h = a.hold();
  std::atomic<bool> called{false};
  std::stop_callback on_lost{h->lost(), [&] { called = true; }};
  ASSERT_TRUE(h->end(phase::lost));
  a.watch.tell(h);
  a.watch.stop();
  EXPECT_TRUE(called);
}

TEST(watch, a_callback_may_call_the_watch) {
  alarms a;
  const auto h = a.hold();
  hold_ptr another;
  std::stop_callback on_lost{h->lost(), [&] { another = a.hold(); }};
  a.move(9s);
  ASSERT_TRUE(another);
  a.move(9s);
  EXPECT_TRUE(another->lost().stop_requested());
}

}  // namespace
}  // namespace tyer::testing
