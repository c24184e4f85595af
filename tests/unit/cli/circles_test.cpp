// Deadlocks among what was seen at the locks.
#include "deadlocks/circles.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace cli {
namespace {

using tyer::lock_mode;

struct place {
  std::uint64_t pid;
  bool waiting = false;
  lock_mode mode = lock_mode::exclusive;
  std::uint64_t inside = 0;  // the command of that `tyer run`
};

class circles_of_locks : public ::testing::Test {
 protected:
  void lock(const std::string& name, const std::vector<place>& places) {
    seen_lock l{"here", {name, {}}};
    for (const auto& p : places) l.what.all.push_back(entry(name, p));
    all.push_back(std::move(l));
  }

  tyer::lock_entry entry(const std::string& name, const place& p) {
    tyer::lock_entry e;
    auto id = std::to_string(p.pid) + std::to_string(all.size()) + (p.waiting ? "a" : "b");
    id.insert(0, tyer::hold_id::length - id.size(), '0');
    e.name = name, e.id = tyer::hold_id::from(id), e.waiting = p.waiting, e.mode = p.mode;
    e.owner.host = "shop", e.owner.pid = p.pid;
    e.owner.label = p.inside == 0 ? "tyer run by joe: x" : "tyer run in " + std::to_string(p.inside) + " by joe: x";
    return e;
  }

  static std::vector<std::vector<std::uint64_t>> pids(const std::vector<circle>& found) {
    std::vector<std::vector<std::uint64_t>> all;
    for (const auto& c : found) {
      auto& one = all.emplace_back();
      for (const auto& step : c) one.push_back(step.waits.owner.pid);
    }
    return all;
  }

  using found = std::vector<std::vector<std::uint64_t>>;
  std::vector<seen_lock> all;
};

// The pid falls along the queue, so that nobody in it is known to be free before all that come earlier by number are.
std::vector<place> and_many(std::vector<place> first, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) first.push_back({100'000 - i, true});
  return first;
}

TEST_F(circles_of_locks, a_run_inside_the_command_of_another_waited_as_a_stranger) {
  constexpr auto how = lock_mode::exclusive;
  lock("a", {{1}, {21, true, how, 2}});
  lock("b", {{2}, {11, true, how, 1}});
  EXPECT_EQ(pids(circles(all)), (found{{11, 21}}));
}

TEST_F(circles_of_locks, a_queue_of_thousands_took_minutes) {
  lock("a", and_many({{1}}, 5'000));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(pids(circles(all)), found{});
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{20});  // 0.7 s for 400 before
}

TEST_F(circles_of_locks, a_deadlock_that_thousands_wait_behind_took_hours_to_find) {
  lock("a", and_many({{1}, {2, true}}, 5'000));
  lock("b", and_many({{2}, {1, true}}, 500));  // some wait in two threads
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(pids(circles(all)), (found{{1, 2}}));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{20});  // 20 s for 400 before
}

TEST_F(circles_of_locks, one_was_not_told_when_somebody_who_had_a_part_in_it_gave_up) {
  // 1 comes first in both queues, and is found in a circle of its own with 2. Then it gives up.
  lock("a", {{2}, {1, true}, {3, true}});
  lock("b", {{3}, {2, true}});
  lock("c", {{1}, {2, true}});
  const auto before = all;
  EXPECT_EQ(pids(circles(before)), (found{{1, 2}}));
  all.clear();
  lock("a", {{2}, {3, true}});
  lock("b", {{3}, {2, true}});
  EXPECT_EQ(pids(lasting(circles(all), before)), (found{{2, 3}}));
}

TEST_F(circles_of_locks, what_was_held_only_later_does_not_last) {
  lock("a", {{2}, {3, true}});
  lock("b", {{3, true}, {2, true}});
  const auto before = all;
  all.clear();
  lock("a", {{2}, {3, true}});
  lock("b", {{3}, {2, true}});
  EXPECT_EQ(pids(circles(all)), (found{{2, 3}}));
  EXPECT_EQ(pids(lasting(circles(all), before)), found{});
}

TEST_F(circles_of_locks, a_permit_with_somebody_behind_another_deadlock_does_not_come_back) {
  lock("a", {{1}, {2, true}, {9, true}});
  lock("b", {{2}, {1, true}});
  lock("permits", {{9, false, lock_mode::permit}, {5, false, lock_mode::permit}, {6, true, lock_mode::permit}});
  lock("c", {{6}, {5, true}});
  EXPECT_EQ(pids(circles(all)), (found{{1, 2}, {5, 6}}));
}

TEST_F(circles_of_locks, readers_beside_each_other_do_not_wait) {
  lock("a", {{1, false, lock_mode::shared}, {2, false, lock_mode::shared}, {3, true, lock_mode::shared}});
  lock("b", {{3}, {1, true}});
  EXPECT_EQ(pids(circles(all)), found{});
}

}  // namespace
}  // namespace cli
