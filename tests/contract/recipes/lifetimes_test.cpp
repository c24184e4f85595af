// The recipes as any other object: moved, copied, and left behind by their client.
#include <tyer/recipes.hpp>
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tyer::recipes {
namespace {

using namespace std::chrono_literals;

class recipe_lifetimes : public ::testing::Test {
 protected:
  once_per period() {
    return {[this] { return engine.connect(); }, "token", 1s};
  }
  static fresh made(const hold&) { return {"value", 1h}; }

  testing::engine engine;
  std::optional<client> mine{engine.connect()};
  std::shared_ptr<store> cache = std::make_shared<memory_store>();
};

template <class F>
std::error_code told(F f) {
  try {
    static_cast<void>(f());
  } catch (const error& e) {
    return e.code();
  }
  return {};
}

TEST_F(recipe_lifetimes, what_was_moved_from_crashed) {
  single_flight flight{*mine, "flight", cache};
  cached page{*mine, "page", cache};
  striped stock{*mine, "stock", 4};
  shared_value token{*mine, period(), cache};
  once_per daily = period();
  const auto flight_too = std::move(flight);
  const auto page_too = std::move(page);
  const auto stock_too = std::move(stock);
  const auto token_too = std::move(token);
  const auto daily_too = std::move(daily);
  EXPECT_EQ(flight.get("a", made), "value");  // NOLINT: here and below, that it goes on is the point
  EXPECT_EQ(page.read("a", made), "value");
  EXPECT_EQ(stock.size(), 4U);
  EXPECT_TRUE(stock.acquire("a").held.valid());
  EXPECT_EQ(token.get(made), "value");
  EXPECT_EQ(daily.name(), "token");
  EXPECT_FALSE(daily.run([] {}));
  EXPECT_FALSE(daily_too.run([] {}));
  EXPECT_EQ(&stock.at(0), &stock_too.at(0));
}

TEST_F(recipe_lifetimes, asked_a_client_that_was_not_there_any_more) {
  const single_flight flight{*mine, "flight", cache};
  const cached page{*mine, "page", cache};
  const striped stock{*mine, "stock", 4};
  const shared_value token{*mine, period(), cache};
  mine.reset();
  EXPECT_EQ(told([&] { return flight.get("a", made); }), errc::closed);
  EXPECT_EQ(told([&] { return page.read("a", made); }), errc::closed);
  EXPECT_EQ(told([&] { return stock.acquire("a"); }), errc::closed);
  EXPECT_EQ(told([&] { return token.get(made); }), errc::closed);
}

// As a member beside it, of an object that is returned or put into a container.
TEST_F(recipe_lifetimes, asked_a_client_where_it_was_no_more) {
  const single_flight flight{*mine, "flight", cache};
  const cached page{*mine, "page", cache};
  const shared_value token{*mine, period(), cache};
  const client moved = std::move(*mine);
  mine.reset();
  EXPECT_EQ(flight.get("a", made), "value");
  EXPECT_EQ(page.read("a", made), "value");
  EXPECT_EQ(token.get(made), "value");
}

TEST_F(recipe_lifetimes, a_recipe_that_ends_does_not_close_the_client) {
  static_cast<void>(single_flight{*mine, "flight", cache}.get("a", made));
  mutex m{*mine, "x"};
  EXPECT_TRUE(m.acquire().valid());
}

TEST_F(recipe_lifetimes, a_refresh_outlived_its_shared_value) {
  std::vector<std::function<void()>> refreshes;
  const auto later = [&](std::function<void()> f) { refreshes.push_back(std::move(f)); };
  const auto open = [this] { return engine.connect(); };
  int fetched = 0;
  const auto fetch = [&](const hold&) {
    ++fetched;
    return fresh{"value", 2h};
  };
  {
    const shared_value token{
        *mine, {open, "token", 1s}, cache, {.ends_before = 0ms, .refresh_before = 3h, .refresh_on = later}};
    EXPECT_EQ(token.get(fetch), "value");
    EXPECT_EQ(token.get(fetch), "value");
  }
  ASSERT_EQ(refreshes.size(), 1U);
  engine.advance(10s);
  refreshes.front()();
  EXPECT_EQ(fetched, 2);
}

TEST_F(recipe_lifetimes, a_wait_for_ever_let_every_call_begin_a_refresh) {
  std::vector<std::function<void()>> refreshes;
  const single_flight flight{*mine,
                             "flight",
                             cache,
                             {.wait_at_most = std::chrono::milliseconds::max(),
                              .refresh_before = 2h,
                              .refresh_on = [&](std::function<void()> f) { refreshes.push_back(std::move(f)); }}};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(flight.get("k", made), "value");
  EXPECT_EQ(refreshes.size(), 1U);
}

}  // namespace
}  // namespace tyer::recipes
