#include "contract/recipes/recipe_fixture.hpp"
#include "unit/redis/raw_redis.hpp"

#include <array>
#include <mutex>
#include <numeric>
#include <sstream>
#include <vector>

namespace contract {
namespace {

using recipes::stripe_hold;
using recipes::striped;
using tyer::hold;

// "redis+cluster://a:1,b:2" as "redis://a:1" and "redis://b:2".
std::vector<std::string> servers_of(const std::string& uri) {
  std::vector<std::string> all;
  std::istringstream hosts{uri.substr(uri.find("://") + 3)};
  for (std::string host; std::getline(hosts, host, ',');) all.push_back("redis://" + host.substr(0, host.find('/')));
  return all;
}

class striped_of : public recipe_fixture {
 protected:
  striped make(const tyer::client& c, std::size_t n, tyer::lock_options o = {}) const {
    return striped{c, name(), n, o};
  }

  // Of a cluster, and nobody takes its place; the others go on, where all would refuse by default.
  void pause_one_server() {
    for (const auto& server : servers_of(engine_uri())) {
      tyer::test::raw_redis{server}.ask({"CONFIG", "SET", "cluster-require-full-coverage", "no"});
    }
    engine.pause("replica-0");
    engine.pause("master-0");
  }
};

TEST_F(striped_of, a_key_has_the_same_stripe_everywhere_and_for_ever) {
  const auto s = make(one, 1000);
  EXPECT_EQ(s.size(), 1000U);
  EXPECT_EQ(s.stripe_of(""), 14695981039346656037U % 1000);
  EXPECT_EQ(s.stripe_of("a"), 0xaf63dc4c8601ec8cU % 1000);
  EXPECT_EQ(s.stripe_of("foobar"), 0x85944171f73967e8U % 1000);
  EXPECT_EQ(s.at(7).name(), name() + "/7");
}

TEST_F(striped_of, holders_of_one_key_exclude_each_other_and_others_do_not) {
  const auto a = make(one, 4), b = make(two, 4);
  const stripe_hold h = a.acquire("x");
  EXPECT_EQ(h.stripe, a.stripe_of("x"));
  const hold same = b.at(b.stripe_of("x")).try_acquire();
  EXPECT_FALSE(same);
  for (std::size_t i = 0; i < 4; ++i) {
    if (i == h.stripe) continue;
    const hold other = b.at(i).try_acquire();
    EXPECT_TRUE(other);
  }
}

TEST_F(striped_of, by_turn_each_has_a_stripe_of_its_own_until_none_is_left) {
  const auto a = make(one, 3), b = make(two, 3);
  std::vector<stripe_hold> all;
  for (const auto* s : {&a, &b, &a}) all.push_back(s->acquire_any());
  std::array<bool, 3> seen{};
  for (const auto& h : all) seen[h.stripe] = true;
  EXPECT_TRUE(seen[0] && seen[1] && seen[2]);
  // A third client: one that has a stripe itself would wait in its own queue.
  const tyer::client three = connect();
  const auto c = make(three, 3);
  std::stop_source stop;
  auto waits_for_one = in_background([&] { return code_of([&] { std::ignore = c.acquire_any(stop.get_token()); }); });
  if (can().queue) {
    EXPECT_TRUE(eventually([&] {
      std::size_t n = 0;
      for (std::size_t i = 0; i < 3; ++i) n += raw().waiting(name() + "/" + std::to_string(i)).size();
      return n == 1;
    }));
  }
  stop.request_stop();
  EXPECT_EQ(soon(waits_for_one), errc::cancelled);
}

TEST_F(striped_of, a_split_stock_is_sold_to_the_last_piece_and_never_oversold) {
  constexpr std::size_t stripes = 4;
  const auto a = make(one, stripes), b = make(two, stripes);
  std::array<std::atomic<int>, stripes> stock{3, 0, 5, 1};
  std::array<std::atomic<int>, stripes> inside{};
  std::atomic<int> sold = 0, refused = 0, beside = 0;
  std::vector<std::future<void>> buyers;
  for (int i = 0; i < 14; ++i) {
    buyers.push_back(in_background([&, i] {
      const auto from = (i % 2 == 0 ? a : b).take([&](std::size_t at, const hold&) {
        if (++inside[at] != 1) ++beside;
        const bool some = stock[at].load() > 0;
        if (some) stock[at].store(stock[at].load() - 1);
        --inside[at];
        return some;
      });
      from ? ++sold : ++refused;
    }));
  }
  for (auto& f : buyers) soon(f);
  EXPECT_EQ(sold, 9);
  EXPECT_EQ(refused, 5);
  EXPECT_EQ(beside, 0);
  for (const auto& left : stock) EXPECT_EQ(left, 0);
}

TEST_F(striped_of, a_stripe_that_is_taken_is_waited_for_and_not_left_out) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  const auto a = make(one, 3), b = make(two, 3);
  hold theirs = b.at(1).acquire();
  auto buyer = in_background([&] { return a.take([](std::size_t at, const hold&) { return at == 1; }); });
  ASSERT_TRUE(waits(name() + "/1", 1));
  theirs.release();
  EXPECT_EQ(soon(buyer), 1U);
}

TEST_F(striped_of, each_stripe_is_asked_once_and_given_back) {
  const auto a = make(one, 3);
  std::vector<std::size_t> asked;
  EXPECT_FALSE(a.take([&](std::size_t at, const hold& h) {
    EXPECT_TRUE(h.valid());
    asked.push_back(at);
    return false;
  }));
  std::sort(asked.begin(), asked.end());
  EXPECT_EQ(asked, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_THROW(std::ignore = a.take([](std::size_t, const hold&) -> bool { throw std::runtime_error("no database"); }),
               std::runtime_error);
  const auto b = make(two, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(soon(in_background([&] { return b.at(i).acquire().valid(); })));
}

// In a cluster, where the others are on servers that answer.
TEST_F(striped_of, a_server_that_was_away_kept_everybody_from_the_stripes_of_the_others) {
  if (!engine.there() || !engine_uri().starts_with("redis+cluster")) GTEST_SKIP() << "no cluster";
  const tyer::client impatient = connect({.request_timeout = 500ms});
  const auto s = make(impatient, 16);
  const auto all_there = [&] {
    int sold = 0;
    for (int i = 0; i < 16; ++i) sold += s.take([](std::size_t, const hold&) { return true; }) ? 1 : 0;
    return sold;
  };
  ASSERT_EQ(all_there(), 16);
  pause_one_server();
  EXPECT_EQ(all_there(), 16);
  EXPECT_TRUE(s.acquire_any().held.valid());
}

TEST_F(striped_of, a_stock_that_is_left_on_a_server_that_is_away_is_not_told_as_sold_out) {
  if (!engine.there() || !engine_uri().starts_with("redis+cluster")) GTEST_SKIP() << "no cluster";
  const tyer::client impatient = connect({.request_timeout = 500ms, .unavailable_after = 1s});
  const auto s = make(impatient, 16);
  const auto none = [](std::size_t, const hold&) { return false; };
  ASSERT_FALSE(s.take(none));
  pause_one_server();
  EXPECT_EQ(code_of([&] { std::ignore = s.take(none); }), errc::unavailable);
}

TEST_F(striped_of, with_the_engine_away_nothing_is_taken) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  const tyer::client impatient = connect({.request_timeout = 200ms});
  const auto s = make(impatient, 64);
  engine.pause();
  const stopwatch watch;
  EXPECT_EQ(code_of([&] { std::ignore = s.take([](std::size_t, const hold&) { return true; }); }), errc::unavailable);
  EXPECT_EQ(code_of([&] { std::ignore = s.acquire_any(); }), errc::unavailable);
  EXPECT_LT(watch.elapsed(), 2 * 8 * 200ms + slack);  // eight stripes that are silent speak for all, twice
}

TEST_F(striped_of, what_is_out_of_range_is_refused) {
  EXPECT_EQ(code_of([&] { make(one, 0); }), errc::invalid_option);
  EXPECT_EQ(code_of([&] { make(one, 65537); }), errc::invalid_option);
  const auto two = make(one, 2);
  EXPECT_EQ(code_of([&] { std::ignore = two.at(2).name(); }), errc::invalid_option);
}

}  // namespace
}  // namespace contract
