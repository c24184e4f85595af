// Five servers that know nothing of each other: some of them die, are stopped, or come back without their data.
#include "contract/api/child.hpp"
#include "contract/api/fixture.hpp"

#include <algorithm>
#include <iostream>
#include <vector>

namespace contract {
namespace {

using std::chrono::microseconds;

constexpr auto node_timeout = 50ms;  // the default
constexpr int turns = 50;

class redlock : public fixture {
 protected:
  static std::string node(int i) { return "node-" + std::to_string(i); }
  // As the URI has it.
  static std::string address(int i) {
    auto uri = engine_uri();
    uri = uri.substr(uri.find("://") + 3);
    uri = uri.substr(0, uri.find_first_of("/?"));
    for (; i > 0; --i) uri = uri.substr(uri.find(',') + 1);
    return uri.substr(0, uri.find(','));
  }

  // On all nodes, not only on those of a majority that were the fastest or already connected.
  tyer::hold acquire_everywhere(const tyer::mutex& lock) {
    tyer::hold h;
    const auto has_it = [&](int i) { return seam{"redis://" + address(i)}.holding(name()).size() == 1; };
    const bool all = eventually([&] {
      h = {};
      h = lock.acquire();
      return has_it(0) && has_it(1) && has_it(2) && has_it(3) && has_it(4);
    });
    EXPECT_TRUE(all);
    return h;
  }

  struct cost {
    microseconds lock, unlock;
  };
  // Of many, the one that a quarter is faster than: what a busy machine adds is not in it, what every lock costs is.
  cost measure(const tyer::mutex& lock, const char* when) {
    std::vector<microseconds> locks, unlocks;
    for (int i = 0; i < turns; ++i) {
      const stopwatch locking;
      auto h = lock.acquire();
      locks.push_back(std::chrono::duration_cast<microseconds>(locking.elapsed()));
      const stopwatch unlocking;
      h.release();
      unlocks.push_back(std::chrono::duration_cast<microseconds>(unlocking.elapsed()));
    }
    for (auto* all : {&locks, &unlocks}) std::ranges::sort(*all);
    std::cout << when << ": lock " << locks[turns / 2].count() << " us, unlock " << unlocks[turns / 2].count()
              << " us (median of " << turns << ")\n";
    return {locks[turns / 4], unlocks[turns / 4]};
  }
};

TEST_F(redlock, one_dead_master_of_five_costs_no_more_than_one_node_timeout) {
  auto c = connect();
  tyer::mutex lock{c, name()};
  const auto before = measure(lock, "5 alive");
  engine.kill(node(1));
  const auto after = measure(lock, "1 dead");
  EXPECT_LT(after.lock, before.lock + node_timeout);
  EXPECT_LT(after.unlock, before.unlock + node_timeout);
}

TEST_F(redlock, one_stopped_master_of_five_costs_no_more_than_one_node_timeout) {
  auto c = connect();
  tyer::mutex lock{c, name()};
  const auto before = measure(lock, "5 alive");
  engine.pause(node(2));
  const auto after = measure(lock, "1 stopped");
  EXPECT_LT(after.lock, before.lock + node_timeout);
  EXPECT_LT(after.unlock, before.unlock + node_timeout);
}

TEST_F(redlock, two_dead_masters_of_five_are_borne) {
  auto c = connect(), other = connect();
  tyer::mutex lock{c, name(), {.ttl = 20s}}, theirs{other, name()};
  auto held = lock.acquire();
  engine.kill(node(0));
  engine.kill(node(4));
  EXPECT_TRUE(held.valid());
  EXPECT_FALSE(took(theirs.try_acquire())) << "busy, not an error";
  const auto token = held.token();
  held.release();
  auto next = theirs.try_acquire_for(patience);
  EXPECT_GT(next.token(), token);
  next = {};
  measure(lock, "2 dead");
}

TEST_F(redlock, three_dead_masters_of_five_are_named) {
  auto c = connect();
  tyer::mutex lock{c, name()};
  lock.acquire().release();
  for (const int i : {0, 2, 3}) engine.kill(node(i));
  std::string words;  // until the client has heard of it, one may still answer
  ASSERT_TRUE(eventually([&] {
    words = words_of([&] { static_cast<void>(lock.try_acquire()); });
    return !words.empty();
  }));
  for (const int i : {0, 2, 3}) EXPECT_NE(words.find(address(i)), std::string::npos) << words;
  for (const int i : {1, 4}) EXPECT_EQ(words.find(address(i)), std::string::npos) << words;
  for (const int i : {0, 2, 3}) engine.restart(node(i));
  EXPECT_TRUE(took(lock.try_acquire_for(patience)));
}

TEST_F(redlock, a_hold_lasts_through_a_restart_of_a_minority_without_its_data_but_not_of_a_majority) {
  auto c = connect();
  tyer::mutex lock{c, name(), {.ttl = 6s}};
  auto held = acquire_everywhere(lock);
  for (const int i : {0, 1}) {
    engine.kill(node(i));
    engine.restart(node(i), server::data::lost);
  }
  const auto end = held.valid_until();
  EXPECT_TRUE(eventually([&] { return held.valid_until() > end; })) << "it is renewed by those who have it";
  EXPECT_FALSE(held.lost().stop_requested());
  for (const int i : {0, 1, 2}) engine.kill(node(i));
  for (const int i : {0, 1, 2}) engine.restart(node(i), server::data::lost);
  EXPECT_TRUE(wait_for_loss(held.lost()));
  const auto token = held.token();
  held = {};
  const tyer::hold next = lock.acquire();
  EXPECT_GT(next.token(), token);
}

TEST_F(redlock, a_hold_lasts_through_a_restart_of_all_with_their_data) {
  auto c = connect();
  tyer::mutex lock{c, name(), {.ttl = 20s}};
  auto held = acquire_everywhere(lock);
  engine.kill();
  const auto end = held.valid_until();
  engine.restart();
  EXPECT_TRUE(eventually([&] { return held.valid_until() > end; }));
  EXPECT_FALSE(held.lost().stop_requested());
  auto other = connect();
  EXPECT_FALSE(took(tyer::mutex{other, name()}.try_acquire()));
}

TEST_F(redlock, whoever_waits_looks_again_until_it_is_free) {
  auto a = connect(), b = connect();
  tyer::mutex lock{a, name(), {.ttl = 60s}}, theirs{b, name(), {.ttl = 60s}};
  auto held = lock.acquire();
  auto waiting = in_background([&] { return theirs.acquire(); });
  EXPECT_EQ(waiting.wait_for(300ms), std::future_status::timeout);
  const auto token = held.token();
  held.release();
  const stopwatch watch;
  const tyer::hold next = soon(waiting);
  EXPECT_GT(next.token(), token);
  EXPECT_LT(watch.elapsed(), slack);
}

TEST_F(redlock, a_wait_can_be_cancelled_and_leaves_nothing_behind) {
  auto a = connect(), b = connect();
  tyer::mutex lock{a, name(), {.ttl = 60s}}, theirs{b, name(), {.ttl = 60s}};
  for (int i = 0; i < 20; ++i) {
    auto held = lock.acquire();
    tyer::failure why;  // within so little time the servers may not have answered at all
    EXPECT_FALSE(took(theirs.try_acquire_for(why, std::chrono::milliseconds{5 * i})));
    held.release();
    EXPECT_TRUE(took(lock.try_acquire_for(patience)));
  }
  EXPECT_TRUE(eventually([&] { return raw().entries(name()).empty(); }));
}

TEST_F(redlock, a_dead_holder_frees_it_within_its_ttl) {
  auto c = connect();
  tyer::mutex lock{c, name()};
  child holder{{.name = name(), .ttl = 1500ms}};
  ASSERT_TRUE(holder.line_with("held", patience));
  holder.kill();
  const stopwatch watch;
  EXPECT_TRUE(took(lock.try_acquire_for(patience)));
  EXPECT_LT(watch.elapsed(), 1500ms + slack);
}

TEST_F(redlock, what_it_has_not_is_refused_when_it_is_made) {
  auto c = connect();
  EXPECT_EQ(code_of([&] { tyer::shared_mutex{c, name()}.lock_shared(); }), errc::unsupported);
  EXPECT_EQ(code_of([&] { tyer::semaphore{c, name(), 3}; }), errc::unsupported);
  EXPECT_EQ(code_of([&] { tyer::mutex(c, name(), {.lock_delay = 1s}); }), errc::unsupported);
}

}  // namespace
}  // namespace contract
