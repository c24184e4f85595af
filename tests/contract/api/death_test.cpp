// Processes that die or stop while they hold or wait: the same for every kind of lock that one has at a time.
#include "contract/api/child.hpp"
#include "contract/api/fixture.hpp"

#include <signal.h>

#include <memory>
#include <vector>

namespace contract {
namespace {

constexpr auto ttl = 3s;         // etcd knows only whole seconds
constexpr auto waiter_ttl = 2s;  // a machine that stands still for a second takes nobody's place

class death_of : public fixture {
 protected:
  void needs(const std::string& kind) {
    if (!engine.there()) GTEST_SKIP() << no_server;
    if (!can().queue) GTEST_SKIP() << no_queue;
    if (kind == "shared_mutex" && !can().shared) GTEST_SKIP() << no_such_lock;
    if (kind.starts_with("permits") && !can().permits) GTEST_SKIP() << no_such_lock;
  }

  std::unique_ptr<child> start(const std::string& kind) {
    return std::make_unique<child>(child_order{.name = name(), .kind = kind, .ttl = ttl, .waiter_ttl = waiter_ttl});
  }

  // One that holds, then three in the queue behind it, in order.
  std::vector<std::unique_ptr<child>> line_up(const std::string& kind) {
    std::vector<std::unique_ptr<child>> all;
    all.push_back(start(kind));
    if (!all.front()->line_with("held", patience)) throw std::runtime_error("it did not get a free lock");
    for (std::size_t i = 0; i < 3; ++i) {
      all.push_back(start(kind));
      if (const auto there = queue_has(i + 1); !there) throw std::runtime_error(there.message());
    }
    return all;
  }

  // Those who are left have it in their order, each within this time.
  void expect_served(const std::vector<std::unique_ptr<child>>& all, std::size_t first, std::size_t dead,
                     std::chrono::milliseconds each) {
    for (std::size_t i = first; i < all.size(); ++i) {
      if (i == dead) continue;
      ASSERT_TRUE(all[i]->line_with("held", each + std::chrono::milliseconds{slack}))
          << "the one at place " << i << ", pid " << all[i]->pid() << ":" << who_is_there();
      for (std::size_t later = i + 1; later < all.size(); ++later) {
        if (later == dead) continue;
        EXPECT_FALSE(all[later]->line(0ms)) << "place " << later << " before place " << i;
      }
      all[i]->release();
      EXPECT_TRUE(all[i]->line_with("released", patience));
    }
  }
};

class death : public death_of, public ::testing::WithParamInterface<std::string> {
  void SetUp() override { needs(GetParam()); }
};

TEST_P(death, of_a_holder_gives_its_queue_their_turns_within_its_ttl) {
  auto all = line_up(GetParam());
  all[0]->kill();
  expect_served(all, 1, 0, ttl);
}

TEST_P(death, of_a_holder_gives_the_next_one_a_larger_token) {
  auto holder = start(GetParam());
  const auto held = holder->line_with("held", patience);
  ASSERT_TRUE(held);
  holder->kill();
  auto next = start(GetParam());
  const stopwatch watch;
  const auto got = next->line_with("held", ttl + std::chrono::milliseconds{slack});
  ASSERT_TRUE(got);
  EXPECT_LT(watch.elapsed(), ttl + slack);
  EXPECT_GT(std::stoull(got->substr(5)), std::stoull(held->substr(5)));
}

TEST_P(death, a_holder_that_was_only_stopped_is_told_when_it_goes_on) {
  auto holder = start(GetParam());
  ASSERT_TRUE(holder->line_with("held", patience));
  holder->signal(SIGSTOP);
  auto next = start(GetParam());
  ASSERT_TRUE(next->line_with("held", ttl + std::chrono::milliseconds{slack}));
  holder->signal(SIGCONT);
  EXPECT_TRUE(holder->line_with("lost", std::chrono::milliseconds{slack}));
  holder->release();
  EXPECT_TRUE(holder->line_with("already gone", patience));
  next->release();
  EXPECT_TRUE(next->line_with("released", patience));  // nobody has touched it
}

std::string kind_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param.starts_with("permits") ? "semaphore" : info.param;
}
INSTANTIATE_TEST_SUITE_P(kinds, death,
                         ::testing::Values("mutex", "recursive_mutex", "shared_mutex", "permits:1/1", "election",
                                           "multi_mutex"),
                         kind_name);

using place = std::tuple<std::string, std::size_t>;
class death_in_the_queue : public death_of, public ::testing::WithParamInterface<place> {
  void SetUp() override { needs(std::get<0>(GetParam())); }
};

TEST_P(death_in_the_queue, costs_the_others_at_most_its_waiter_ttl) {
  const auto& [kind, dead] = GetParam();
  auto all = line_up(kind);
  all[dead]->kill();
  all[0]->release();
  expect_served(all, 1, dead, 2 * waiter_ttl);
}

TEST_P(death_in_the_queue, long_before_costs_nothing) {
  const auto& [kind, dead] = GetParam();
  auto all = line_up(kind);
  all[dead]->kill();
  ASSERT_TRUE(queue_has(2));  // its place has run out
  all[0]->release();
  expect_served(all, 1, dead, 0ms);
}

std::string place_name(const ::testing::TestParamInfo<place>& info) {
  static constexpr const char* places[] = {"", "head", "middle", "tail"};
  return kind_name({std::get<0>(info.param), 0}) + "_" + places[std::get<1>(info.param)];
}
INSTANTIATE_TEST_SUITE_P(places, death_in_the_queue,
                         ::testing::Combine(::testing::Values("mutex", "shared_mutex", "permits:1/1", "multi_mutex"),
                                            ::testing::Values(1U, 2U, 3U)),
                         place_name);

}  // namespace
}  // namespace contract
