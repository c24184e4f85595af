#include "contract/recipes/recipe_fixture.hpp"

#include <vector>

namespace contract {
namespace {

using recipes::fresh;
using recipes::shared_value;
using tyer::hold;

class shared_value_of : public recipe_fixture {
 protected:
  shared_value make(const tyer::client& c, std::chrono::milliseconds period,
                    recipes::shared_value_options o = {}) const {
    return shared_value{c, recipes::once_per{engine_uri(), name(), period}, store, std::move(o)};
  }
};

TEST_F(shared_value_of, many_on_two_clients_use_what_one_has_fetched) {
  const auto a = make(one, 1h), b = make(two, 1h);
  std::atomic<int> fetched = 0;
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(in_background([&, i] {
      return (i % 2 == 0 ? a : b).get([&](const hold&) {
        ++fetched;
        return fresh{"token", 2h};
      });
    }));
  }
  for (auto& f : all) EXPECT_EQ(soon(f), "token");
  EXPECT_EQ(fetched, 1);
}

TEST_F(shared_value_of, a_value_is_stored_until_shortly_before_it_ends) {
  const auto a = make(one, 1s, {.ends_before = 10min});
  EXPECT_EQ(a.get([](const hold&) { return fresh{"token", 2h}; }), "token");
  const auto left = store->find(name() + "/value")->left;
  EXPECT_LE(left, 110min);
  EXPECT_GT(left, 109min);
}

// The issuer counts from when it was asked, and the answer may take its time.
TEST_F(shared_value_of, a_value_lived_from_when_it_came_and_was_used_after_its_end) {
  constexpr auto took = 300ms;
  const auto a = make(one, 1s, {.ends_before = 10min});
  EXPECT_EQ(a.get([&](const hold&) {
    std::this_thread::sleep_for(took);
    return fresh{"token", 2h};
  }),
            "token");
  EXPECT_LE(store->find(name() + "/value")->left, 110min - took);
}

TEST_F(shared_value_of, a_value_that_was_refused_is_fetched_once_more_for_all_who_say_so) {
  const auto a = make(one, 1s), b = make(two, 1s);
  std::atomic<int> fetched = 0;
  const auto fetch = [&](const hold&) { return fresh{"token " + std::to_string(++fetched), 2h}; };
  EXPECT_EQ(a.get(fetch), "token 1");
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 10; ++i) {
    all.push_back(in_background([&, i] { return (i % 2 == 0 ? a : b).replace("token 1", fetch); }));
  }
  for (auto& f : all) EXPECT_EQ(soon(f), "token 2");
  EXPECT_EQ(b.replace("token 1", fetch), "token 2");
  EXPECT_EQ(b.get(fetch), "token 2");
  EXPECT_EQ(fetched, 2);
}

TEST_F(shared_value_of, a_value_that_was_refused_is_not_fetched_more_often_than_the_period_allows) {
  const auto a = make(one, 1h);
  const auto fetch = [](const hold&) { return fresh{"token", 2h}; };
  EXPECT_EQ(a.get(fetch), "token");
  EXPECT_EQ(code_of([&] { std::ignore = a.replace("token", fetch); }), errc::over_limit);
  EXPECT_EQ(a.get(fetch), "token");
}

TEST_F(shared_value_of, after_a_fetch_that_threw_the_next_waits_for_the_period) {
  constexpr auto period = 2s;
  const auto a = make(one, period), b = make(two, period);
  const stopwatch watch;
  EXPECT_THROW(std::ignore = a.get([](const hold&) -> fresh { throw std::runtime_error("503"); }), std::runtime_error);
  EXPECT_EQ(b.get([](const hold&) { return fresh{"token", 2h}; }), "token");
  EXPECT_GE(watch.elapsed(), period);
}

TEST_F(shared_value_of, a_period_that_is_too_long_to_wait_for_is_told_at_once) {
  const auto a = make(one, 1h), b = make(two, 1h);
  EXPECT_THROW(std::ignore = a.get([](const hold&) -> fresh { throw std::runtime_error("503"); }), std::runtime_error);
  const stopwatch watch;
  EXPECT_EQ(code_of([&] { std::ignore = b.get([](const hold&) { return fresh{"token", 2h}; }); }), errc::over_limit);
  EXPECT_LT(watch.elapsed(), 10s);
}

TEST_F(shared_value_of, while_there_is_a_value_nobody_waits_for_the_next_one) {
  int failures = 0;
  const auto a =
      make(one, 20s, {.ends_before = 0ms, .refresh_before = 1min, .refresh_failed = [&](auto) { ++failures; }});
  EXPECT_EQ(a.get([](const hold&) { return fresh{"token", 30s}; }), "token");
  const stopwatch watch;
  EXPECT_EQ(a.get([](const hold&) { return fresh{"too soon", 30s}; }), "token");
  EXPECT_LT(watch.elapsed(), 10s);
  EXPECT_EQ(failures, 1);
}

}  // namespace
}  // namespace contract
