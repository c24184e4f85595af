// What a client has counted, on a real server: by the same numbers whatever the engine.
#include "contract/api/fixture.hpp"

#include <tyer/stats.hpp>

namespace contract {
namespace {

using tyer::acquire_end;
using tyer::engine_request;
using tyer::loss_reason;
using tyer::request_end;

class stats : public fixture {
 protected:
  static tyer::group_stats group(const tyer::client& c) { return c.stats().groups.at(0); }
  static std::uint64_t ended(const tyer::client& c, acquire_end how) { return group(c).acquire_duration[how].count(); }
  static std::uint64_t reconnects(const tyer::client& c) {
    const auto s = c.stats();
    return s.reconnects[tyer::reconnection::same_server] + s.reconnects[tyer::reconnection::other_server];
  }
};

TEST_F(stats, what_happened_to_a_lock_and_how_long_the_engine_took) {
  auto c = connect();
  const tyer::mutex m{c, name(), {.ttl = 60s}};
  constexpr std::uint64_t turns = 10;
  const stopwatch all;
  for (std::uint64_t i = 0; i < turns; ++i) {
    auto h = m.acquire();
    EXPECT_EQ(group(c).holds, 1U);
    EXPECT_EQ(h.release(), tyer::release_outcome::released);
  }
  const auto s = c.stats();
  const auto& g = s.groups.at(0);
  EXPECT_EQ(g.acquire_duration[acquire_end::granted].count(), turns);
  EXPECT_EQ(g.hold_duration.count(), turns);
  EXPECT_EQ(g.holds, 0U);
  EXPECT_EQ(g.waiters, 0U);
  for (const auto what : {engine_request::acquire, engine_request::release}) {
    const auto& took = s.request_duration[what][request_end::answered];
    EXPECT_GE(took.count(), turns);
    EXPECT_GT(took.sum, 0s);
    EXPECT_LE(took.sum, all.elapsed());
  }
  EXPECT_LE(s.request_duration[engine_request::acquire][request_end::answered].sum,
            g.acquire_duration[acquire_end::granted].sum)
      << "a caller waits no shorter than for the request made for it";
  EXPECT_EQ(s.groups.size(), 1U);
}

TEST_F(stats, who_waits_in_the_queue_and_who_is_handed_the_lock_inside) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  auto c = connect(), other = connect();
  const tyer::mutex mine{c, name(), {.ttl = 60s}}, theirs{other, name(), {.ttl = 60s}};
  auto h = theirs.acquire();
  auto first = in_background([&] { return mine.acquire(); });
  ASSERT_TRUE(queue_has(1));
  auto second = in_background([&] { return mine.acquire(); });
  ASSERT_TRUE(eventually([&] { return group(c).waiters == 2; }));
  h.release();
  // Whichever of the two came first.
  const auto done = [](auto& f) { return f.wait_for(0s) == std::future_status::ready; };
  ASSERT_TRUE(eventually([&] { return done(first) || done(second); }));
  (done(first) ? first : second).get().release();
  (first.valid() ? first : second).get().release();
  EXPECT_EQ(ended(c, acquire_end::queued) + ended(c, acquire_end::handed_off) + ended(c, acquire_end::granted), 2U);
  EXPECT_GE(ended(c, acquire_end::queued), 1U);
  EXPECT_EQ(ended(c, acquire_end::handed_off), can().handoffs ? 1U : 0U);
  EXPECT_EQ(group(c).waiters, 0U);
}

TEST_F(stats, renewals) {
  auto c = connect();
  const auto h = tyer::mutex{c, name(), {.ttl = 6s}}.acquire();
  ASSERT_TRUE(eventually([&] { return c.stats().renewal_remaining.count() >= 1; }));
  const auto s = c.stats();
  EXPECT_GE(s.renewal_lag.count(), 1U);
  EXPECT_GT(s.remaining_min, 0s);
  EXPECT_LT(s.remaining_min, 6s);
  EXPECT_GE(s.request_duration[engine_request::keep][request_end::answered].count(), 1U);
}

TEST_F(stats, a_loss) {
  auto c = connect();
  const auto h = tyer::mutex{c, name(), {.ttl = 60s}}.acquire();
  ASSERT_EQ(raw().evict(raw().holding(name()).at(0)), tyer::engine::fate::holding);
  ASSERT_TRUE(wait_for_loss(h.lost()));
  EXPECT_EQ(group(c).losses[loss_reason::gone], 1U);
  EXPECT_EQ(group(c).holds, 0U);
}

TEST_F(stats, an_engine_that_is_away_and_comes_back) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  auto c = connect({.request_timeout = 300ms});
  const tyer::mutex m{c, name()};
  EXPECT_EQ(reconnects(c), 0U);
  engine.kill();
  EXPECT_EQ(code_of([&] { static_cast<void>(m.try_acquire()); }), errc::unavailable);
  EXPECT_EQ(ended(c, acquire_end::unavailable), 1U);
  EXPECT_GE(c.stats().request_duration[engine_request::acquire][request_end::failed].count(), 1U);
  engine.restart();
  EXPECT_TRUE(eventually([&] { return reconnects(c) >= 1; }));
  EXPECT_TRUE(took(m.try_acquire_for(patience)));
}

}  // namespace
}  // namespace contract
