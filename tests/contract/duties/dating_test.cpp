// What an answer is dated with: when its request left, not when it was answered nor when the answer came. Whoever holds counts
// its time from there, so that it never believes longer than the server does.
#include "contract/duties/calls.hpp"
#include "contract/duties/silence.hpp"

namespace tyer::contract {

struct dating_duty : engine_contract {
  // Makes a call of a server that says nothing for a while, then does. Nothing if it was given up meanwhile.
  template <class T, class F>
  std::optional<outcome<T>> call_a_slow_server(F start, milliseconds earlier = 0ms) {
    silence nobody_speaks;
    auto box = std::make_shared<std::optional<outcome<T>>>();
    const auto made = a.now();
    start(engine::reply<T>{[box](outcome<T>&& o) { *box = std::move(o); }});
    a.pump_until(made + 200ms);
    const auto still_silent = a.now();
    if (box->has_value()) return std::nullopt;  // of several servers some are not waited for
    nobody_speaks.end();
    a.pump_until([&] { return box->has_value(); }, "a reply");
    if (std::holds_alternative<engine::failure>((*box)->result)) return std::nullopt;
    EXPECT_GE((*box)->sent, made - earlier);
    EXPECT_LE((*box)->sent, still_silent);
    return std::move(**box);
  }
};

TEST_F(dating_duty, a_grant_counts_from_when_its_request_left_however_late_the_answer) {
  const auto warm = a.wants("warm");
  a.lock(warm);
  // Its name is known: else an engine may try, then read, and count from the read, which leaves when the server speaks again.
  const auto before = a.wants("order");
  a.lock(before);
  a.release(before);
  const auto w = a.wants("order");
  const auto o = call_a_slow_server<answer>([&](auto reply) { a.raw().acquire(w.request(), std::move(reply)); });
  if (!o) return;
  ASSERT_NE(granted_in(*o), nullptr) << describe(*o);
  EXPECT_LE(granted_in(*o)->ttl, w.ttl);
}

TEST_F(dating_duty, a_renewal_counts_from_when_its_request_left_however_late_the_answer) {
  auto w = a.wants("order");
  w.ttl = 12s;
  a.lock(w);
  const auto t = w.target();
  const auto o = call_a_slow_server<engine::kept>(
      [&](auto reply) { a.raw().keep({&t, 1}, fate::holding, w.ttl, std::move(reply)); }, w.ttl / 6);
  if (!o) return;
  EXPECT_EQ(value_of(*o).fates, std::vector{fate::holding});
  EXPECT_LE(value_of(*o).ttl, w.ttl);
  EXPECT_GT(value_of(*o).ttl, w.ttl / 2);
}

TEST_F(dating_duty, a_conversion_leaves_the_hold_no_more_time_than_it_had) {
  if (!can().convert) GTEST_SKIP() << "it converts nothing";
  auto w = a.wants("order");
  w.ttl = 12s;
  a.lock(w);
  const auto locked = a.now();
  const auto o =
      call_a_slow_server<answer>([&](auto reply) { a.raw().convert(w.target(), mode::shared, 20s, std::move(reply)); });
  if (!o) return;
  ASSERT_NE(granted_in(*o), nullptr) << describe(*o);
  EXPECT_LE(o->sent + granted_in(*o)->ttl, locked + w.ttl + 50ms);  // clocks of servers are read to the millisecond
}

}  // namespace tyer::contract
