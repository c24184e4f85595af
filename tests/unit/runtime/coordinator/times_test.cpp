// What the coordinator has to remember for later: one time for each who waits, whatever happens meanwhile.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

// ---- of holds

TEST(coordinator_times, a_max_hold_is_forgotten_with_its_hold) {
  bench b;
  b.lock->max_hold = 1h;
  for (int i = 0; i < 5000; ++i) {
    auto c = b.held(static_cast<std::uint64_t>(100 + i));
    EXPECT_EQ(b.coordinator.times(), 1u);
    b.give_back(c);
  }
  EXPECT_EQ(b.coordinator.times(), 0u);
}

TEST(coordinator_times, a_max_hold_is_forgotten_when_the_hold_is_handed_on) {
  bench b;
  b.lock = bench::make_lock("order", 9s, 200);
  b.lock->max_hold = 1h;
  auto c = b.held();
  for (int i = 0; i < 100; ++i) {
    auto next = b.want();
    b.confirm();
    b.give_back(c);
    ASSERT_TRUE(next->hold);
    c = next;
  }
  EXPECT_EQ(b.coordinator.times(), 1u);
}

TEST(coordinator_times, a_limit_is_forgotten_when_the_wait_is_over) {
  bench b;
  for (int i = 0; i < 5000; ++i) {
    auto c = b.want(b.lock, true, 1h);
    b.engine.acquires.back().grant(static_cast<std::uint64_t>(100 + i));
    b.give_back(c);
  }
  EXPECT_EQ(b.coordinator.times(), 0u);
}

TEST(coordinator_times, a_limit_of_an_upgrade_is_forgotten_when_it_is_over) {
  bench b;
  const auto readers = bench::readers_of(*b.lock);
  auto c = b.want(readers);
  b.engine.acquires.back().grant(100);
  std::uint64_t part = 100;
  for (int i = 0; i < 1000; ++i) {
    auto up = b.convert(c->hold, b.lock, true, 1h);
    b.engine.converts.back().grant(++part);
    ASSERT_TRUE(up->yes);
    auto down = b.convert(c->hold, readers, true, 1h);
    b.engine.converts.back().grant(++part);
    ASSERT_TRUE(down->yes);
  }
  EXPECT_EQ(b.coordinator.times(), 0u);
}

// ---- of those who look on

struct onlooker {
  explicit onlooker(bench& b) {
    it->name = "order";
    it->every = 1s;
    it->seen = [this](const seam::outcome<seam::page>& o) {
      looks += std::holds_alternative<seam::page>(o.result) ? 1 : 0;
    };
    b.coordinator.observe(it);
  }
  std::shared_ptr<runtime::observer> it = std::make_shared<runtime::observer>();
  int looks = 0;
};

void answer_looks(bench& b) {
  for (std::size_t i = 0; i < b.engine.shows.size(); ++i) {
    if (!b.engine.shows[i].answered()) b.engine.shows[i].answer({});
  }
}

TEST(coordinator_times, changes_do_not_multiply_the_looks_of_an_observer) {
  bench b;
  onlooker o{b};
  answer_looks(b);
  for (int i = 0; i < 500; ++i) {
    b.coordinator.changed("order");
    b.coordinator.changed("order");  // while it looks
    answer_looks(b);
  }
  EXPECT_EQ(b.coordinator.times(), 1u);
  const auto before = b.engine.shows.size();
  for (int second = 0; second < 60; ++second) {
    b.pass(1s);
    answer_looks(b);
  }
  EXPECT_LE(b.engine.shows.size() - before, 61u) << "one a second, however much has happened";
  EXPECT_GE(b.engine.shows.size() - before, 59u);
}

// It was: with every candidate that joined an election, all who observed it looked, and each look asked for every lease.
TEST(coordinator_times, who_joins_the_queue_is_no_news_for_one_who_observes_the_holders) {
  bench b;
  onlooker w{b};
  w.it->waiters = false;
  b.engine.shows[0].answer({});
  for (int i = 0; i < 100; ++i) b.coordinator.queue_changed("order");
  EXPECT_EQ(b.engine.shows.size(), 1u);
  b.coordinator.changed("order");
  EXPECT_EQ(b.engine.shows.size(), 2u);
}

TEST(coordinator_times, an_observer_of_the_queue_looks_no_more_often_than_it_said) {
  bench b;
  onlooker w{b};
  w.it->apart = 100ms;
  b.engine.shows[0].answer({});
  for (int i = 0; i < 500; ++i) {
    b.coordinator.queue_changed("order");
    b.pass(1ms);
    if (!b.engine.shows.back().answered()) b.engine.shows.back().answer({});
  }
  EXPECT_GE(b.engine.shows.size(), 5u);
  EXPECT_LE(b.engine.shows.size(), 6u);
  b.pass(100ms);
  EXPECT_LE(b.engine.shows.size(), 7u) << "and sees what was last";
}

TEST(coordinator_times, an_observer_that_was_forgotten_leaves_nothing_behind) {
  bench b;
  for (int i = 0; i < 1000; ++i) {
    onlooker o{b};
    answer_looks(b);
    b.coordinator.forget(o.it);
  }
  EXPECT_EQ(b.coordinator.times(), 0u);
}

TEST(coordinator_times, one_that_is_forgotten_while_it_looks_looks_no_more) {
  bench b;
  onlooker o{b};
  b.coordinator.forget(o.it);
  answer_looks(b);
  EXPECT_EQ(o.looks, 0);
  b.pass(1min);
  EXPECT_EQ(b.engine.shows.size(), 1u);
}

}  // namespace
}  // namespace tyer::testing
