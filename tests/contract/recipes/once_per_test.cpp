#include "contract/recipes/recipe_fixture.hpp"

#include <vector>

namespace contract {
namespace {

using recipes::once_per;

class once_per_of : public recipe_fixture {
 protected:
  once_per make(std::chrono::milliseconds period = 1h) const { return once_per{engine_uri(), name(), period}; }
};

TEST_F(once_per_of, a_job_runs_once_in_a_period_whoever_starts_it) {
  const auto a = make(), b = make();
  int ran = 0;
  EXPECT_TRUE(a.run([&] { ++ran; }));
  EXPECT_FALSE(a.run([&] { ++ran; }));
  EXPECT_FALSE(b.run([&] { ++ran; }));
  EXPECT_EQ(ran, 1);
}

TEST_F(once_per_of, of_many_who_start_together_one_runs) {
  std::atomic<int> ran = 0;
  std::vector<std::future<bool>> all;
  const auto job = make();
  for (int i = 0; i < 8; ++i) {
    all.push_back(in_background([&] { return job.run([&] { ++ran; }); }));
  }
  int said = 0;
  for (auto& f : all) said += soon(f) ? 1 : 0;
  EXPECT_EQ(said, 1);
  EXPECT_EQ(ran, 1);
}

TEST_F(once_per_of, two_starts_are_a_period_apart_and_not_much_more) {
  constexpr auto period = 2s;
  const auto job = make(period);
  steady_clock::time_point first, second;
  ASSERT_TRUE(job.run([&] { first = steady_clock::now(); }));
  ASSERT_TRUE(eventually([&] { return job.run([&] { second = steady_clock::now(); }); }));
  EXPECT_GE(second - first, period);
  EXPECT_LT(second - first, period + 1s + 2 * slack);  // etcd knows only whole seconds
}

TEST_F(once_per_of, a_job_that_throws_has_used_its_period_up) {
  const auto job = make();
  EXPECT_THROW(job.run([] { throw std::runtime_error("no disk"); }), std::runtime_error);
  EXPECT_FALSE(job.run([] {}));
}

TEST_F(once_per_of, what_is_left_of_a_period_can_be_asked_for) {
  const auto job = make(10min);
  EXPECT_EQ(job.remaining(one), 0ms);
  ASSERT_TRUE(job.run([] {}));
  EXPECT_GT(job.remaining(one), 9min);
  // With the ttl; Redlock adds two hundredths of it all, for clocks that run apart.
  EXPECT_LE(job.remaining(one), 10min + 11s + (engine_uri().starts_with("redlock") ? 13s : 0s));
  const auto held = tyer::admin{one}.show(once_per::memory_of(name()));
  ASSERT_EQ(held.size(), 1U);
  EXPECT_TRUE(once_per::is_memory(held.front()));
}

TEST_F(once_per_of, an_operator_opens_a_period) {
  const auto job = make();
  ASSERT_TRUE(job.run([] {}));
  break_holds_of(once_per::memory_of(name()));
  EXPECT_TRUE(job.run([] {}));
}

TEST_F(once_per_of, another_lock_of_the_name_is_no_memory) {
  const tyer::hold h = tyer::mutex{one, name()}.acquire();
  const auto held = tyer::admin{one}.show(name());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_FALSE(once_per::is_memory(held.front()));
  EXPECT_TRUE(make().run([] {}));
}

TEST_F(once_per_of, with_the_engine_away_nothing_is_run) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  const once_per job{engine_uri(), name(), 1h, {.request_timeout = 500ms}};
  engine.pause();
  EXPECT_EQ(code_of([&] { job.run([] { ADD_FAILURE() << "it was run"; }); }), errc::unavailable);
}

TEST_F(once_per_of, periods_out_of_range_are_refused) {
  EXPECT_EQ(code_of([&] { make(999ms); }), errc::invalid_option);
  EXPECT_EQ(code_of([&] { make(24h); }), errc::invalid_option);
  EXPECT_EQ(code_of([&] { (once_per{recipes::client_source{}, name(), 1h}); }), errc::invalid_option);
}

}  // namespace
}  // namespace contract
