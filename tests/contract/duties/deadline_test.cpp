// not_after: what would be executed later does nothing, or is told of.
#include "contract/duties/calls.hpp"
#include "contract/duties/silence.hpp"

#include <array>

namespace tyer::contract {

struct deadline_duty : engine_contract {
  static constexpr milliseconds timeout = 1s;
  static constexpr milliseconds late = 10s;  // to find a server, on a machine that has other things to do
};

// Not 0: an engine knows its server's clock only to within a round trip.
TEST_F(deadline_duty, a_request_that_is_certainly_late_does_nothing) {
  auto w = a.wants("order");
  w.not_after = -10s;
  a.find_failure(w);
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::gone);
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

// Whether it was executed in time is up to the engine; what it says about it must be true.
TEST_F(deadline_duty, a_late_request_leaves_nothing_behind_that_it_does_not_tell_of) {
  auto w = a.waits("order");
  w.not_after = 20ms;
  const auto o = a.call<answer>([&](auto reply) {
    a.raw().acquire(w.request(), std::move(reply));
    b.pump_until(b.now() + 100ms);  // a's loop stands still meanwhile
  });
  const bool held = granted_in(o) != nullptr;
  EXPECT_TRUE(held || std::holds_alternative<engine::failure>(o.result)) << describe(o);
  EXPECT_EQ(b.could_lock(b.wants("order")), !held);
}

// The server reads it only when its time is over. If it is written all the same, as by a server that cannot be told a
// deadline, the engine that was not told so takes it back: at the latest when what it asked for would be over.
TEST_F(deadline_duty, a_request_that_the_server_reads_too_late_leaves_nothing_for_longer_than_it_asked_for) {
  client quick{prefix, timeout};
  quick.lock(quick.wants("another"));  // whatever it needs first, a lease for one, is there
  auto w = quick.waits("order");
  w.enqueue = can().queue;
  w.ttl = w.waiter_ttl = std::max<milliseconds>(2s, can().ttl_min);
  w.not_after = 300ms;
  silence nobody_speaks;
  const auto o = quick.acquire(w);
  EXPECT_TRUE(std::holds_alternative<engine::failure>(o.result)) << describe(o);
  const auto over = o.sent + w.ttl;
  nobody_speaks.end();
  quick.pump_until(over);     // as a runtime would, that has given up
  const auto in_time = [&] {  // it may have to find its server first, and may leave it once more
    quick.pump_until(quick.now() + 20ms);
    return quick.now() - over < late;
  };
  const auto again = quick.wants("order");
  while (granted_in(quick.acquire(again)) == nullptr) ASSERT_TRUE(in_time());
  const std::array all{w.target()};
  const auto ask = [&](auto reply) { quick.raw().keep(all, fate::holding, 20s, std::move(reply)); };
  auto kept = quick.call<engine::kept>(ask, 20s / 6);
  while (std::holds_alternative<engine::failure>(kept.result)) {
    ASSERT_TRUE(in_time()) << describe(std::get<engine::failure>(kept.result));
    kept = quick.call<engine::kept>(ask, 20s / 6);
  }
  EXPECT_EQ(std::get<engine::kept>(kept.result).fates, std::vector{fate::gone});
}

}  // namespace tyer::contract
