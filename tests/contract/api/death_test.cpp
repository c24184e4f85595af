// Processes that die or stop while they hold or wait.
#include "contract/api/child.hpp"
#include "contract/api/fixture.hpp"

#include <signal.h>

#include <memory>
#include <vector>

namespace contract {
namespace {

constexpr auto ttl = 2000ms;
constexpr auto waiter_ttl = 1000ms;

class death : public fixture {
 protected:
  void SetUp() override {
    if (!engine.there()) GTEST_SKIP() << no_server;
  }

  std::unique_ptr<child> start() { return std::make_unique<child>(name(), ttl, waiter_ttl); }

  // Three processes in the queue behind `h`, in order.
  std::vector<std::unique_ptr<child>> queue_three() {
    std::vector<std::unique_ptr<child>> all;
    for (std::size_t i = 0; i < 3; ++i) {
      all.push_back(start());
      if (!queue_has(i + 1)) throw std::runtime_error("it did not queue");
    }
    return all;
  }

  // Those who are left are served in their order, at the latest when the dead one's place has run out.
  void expect_served(const std::vector<std::unique_ptr<child>>& all, std::size_t dead) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == dead) continue;
      ASSERT_TRUE(all[i]->line_with("held", std::chrono::ceil<std::chrono::milliseconds>(2 * waiter_ttl + slack)))
          << "the one at place " << i;
      for (std::size_t later = i + 1; later < all.size(); ++later) {
        if (later == dead) continue;
        EXPECT_FALSE(all[later]->line(0ms)) << "place " << later << " before place " << i;
      }
      all[i]->release();
      EXPECT_TRUE(all[i]->line_with("released", patience));
    }
  }
};

TEST_F(death, of_a_holder_frees_the_lock_within_its_ttl) {
  auto c = connect();
  auto holder = start();
  const auto held = holder->line_with("held", patience);
  ASSERT_TRUE(held);
  holder->kill();
  const stopwatch watch;
  auto h = tyer::mutex{c, name()}.acquire();
  EXPECT_LT(watch.elapsed(), ttl + slack);
  EXPECT_GT(h.token(), std::stoull(held->substr(5)));
}

TEST_F(death, of_a_holder_gives_its_queue_their_turns) {
  auto holder = start();
  ASSERT_TRUE(holder->line_with("held", patience));
  auto all = queue_three();
  holder->kill();
  const stopwatch watch;
  ASSERT_TRUE(all[0]->line_with("held", ttl + std::chrono::milliseconds{slack}));
  EXPECT_LT(watch.elapsed(), ttl + slack);
  all[0]->release();
  for (std::size_t i : {1U, 2U}) {
    ASSERT_TRUE(all[i]->line_with("held", std::chrono::milliseconds{slack}));
    all[i]->release();
  }
}

class death_in_the_queue : public death, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(death_in_the_queue, costs_the_others_at_most_its_waiter_ttl) {
  auto c = connect();
  auto h = tyer::mutex{c, name()}.acquire();
  auto all = queue_three();
  all[GetParam()]->kill();
  h.release();
  expect_served(all, GetParam());
}

TEST_P(death_in_the_queue, long_before_costs_nothing) {
  auto c = connect();
  auto h = tyer::mutex{c, name()}.acquire();
  auto all = queue_three();
  all[GetParam()]->kill();
  ASSERT_TRUE(queue_has(2));  // its place has run out
  h.release();
  expect_served(all, GetParam());
}

std::string place_name(const ::testing::TestParamInfo<std::size_t>& info) {
  static constexpr const char* names[] = {"head", "middle", "tail"};
  return names[info.param];
}
INSTANTIATE_TEST_SUITE_P(places, death_in_the_queue, ::testing::Values(0U, 1U, 2U), place_name);

TEST_F(death, a_holder_that_was_only_stopped_is_told_when_it_goes_on) {
  auto c = connect();
  auto holder = start();
  const auto held = holder->line_with("held", patience);
  ASSERT_TRUE(held);
  holder->signal(SIGSTOP);
  const stopwatch watch;
  auto h = tyer::mutex{c, name()}.acquire();
  EXPECT_LT(watch.elapsed(), ttl + slack);
  EXPECT_GT(h.token(), std::stoull(held->substr(5)));
  holder->signal(SIGCONT);
  EXPECT_TRUE(holder->line_with("lost", std::chrono::milliseconds{slack}));
  holder->release();
  EXPECT_TRUE(holder->line_with("already gone", patience));
  EXPECT_TRUE(h.valid());
}

}  // namespace
}  // namespace contract
