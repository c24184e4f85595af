// Never two holders, nobody waits for ever, nobody is overtaken: thousands of schedules, and bugs planted in the server's statements.
#include "unit/kit/settle_world.hpp"

#include <gtest/gtest.h>

namespace tyer::kit {
namespace {

using setting = settle_world::setting;

std::string first_wrong(const settle_world& w) {
  if (!w.wrong.empty()) return w.wrong.front();
  return w.table.wrong.empty() ? "" : w.table.wrong.front();
}

void expect_nothing_wrong(const setting& s, std::uint32_t seeds) {
  std::uint64_t grants = 0, conflicts = 0, whole = 0, kills = 0;
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    settle_world w{seed, s};
    w.run();
    ASSERT_EQ(first_wrong(w), "") << "seed " << seed;
    grants += w.table.grants;
    conflicts += w.table.conflicts;
    whole += w.table.whole_reads;
    kills += w.table.kills;
  }
  EXPECT_GT(grants, seeds * 10U);
  EXPECT_GT(conflicts, 0U);
  for (const auto& [what, count] :
       {std::pair{"grants", grants}, {"conflicts", conflicts}, {"whole_reads", whole}, {"kills", kills}}) {
    ::testing::Test::RecordProperty(what, std::to_string(count));
  }
}

TEST(settle_world, exclusive) { expect_nothing_wrong({}, 300); }
TEST(settle_world, exclusive_and_shared) {
  expect_nothing_wrong({.modes = {mode::exclusive, mode::shared, mode::shared}}, 300);
}
TEST(settle_world, permits) { expect_nothing_wrong({.modes = {mode::permit}}, 300); }
TEST(settle_world, all_modes) {
  expect_nothing_wrong({.modes = {mode::exclusive, mode::shared, mode::permit}, .clients = 8}, 300);
}
TEST(settle_world, a_long_queue_of_which_one_is_read) {
  expect_nothing_wrong({.modes = {mode::exclusive, mode::shared}, .clients = 12, .table = {.head = 1, .turns = 2}},
                       150);
}
TEST(settle_world, without_faults) {
  expect_nothing_wrong({.modes = {mode::exclusive, mode::shared}, .faults = false}, 100);
}

TEST(settle_world, whoever_waits_is_woken_and_need_not_ask) {
  expect_nothing_wrong({.modes = {mode::exclusive}, .faults = false, .sessions = false, .polls = false}, 200);
  expect_nothing_wrong({.modes = {mode::exclusive, mode::shared, mode::permit},
                        .clients = 8,
                        .faults = false,
                        .sessions = false,
                        .polls = false,
                        .table = {.head = 1, .turns = 1}},
                       200);
}

bool found(const setting& s) {
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    settle_world w{seed, s};
    w.run();
    if (!first_wrong(w).empty()) return true;
  }
  return false;
}

TEST(settle_world, finds_a_write_that_ignores_the_version) {
  EXPECT_TRUE(found({.modes = {mode::exclusive, mode::shared}, .table = {.ignores_version = true}}));
}
TEST(settle_world, finds_a_session_that_is_taken_for_dead_while_it_is_renewed) {
  EXPECT_TRUE(found({.table = {.takes_without_killing = true}}));
}
TEST(settle_world, finds_an_attach_that_does_not_change_the_version) {
  EXPECT_TRUE(found({.table = {.attach_keeps_version = true}}));
}
TEST(settle_world, finds_joins_that_are_not_counted) {
  EXPECT_TRUE(found({.modes = {mode::exclusive, mode::shared, mode::permit},
                     .faults = false,
                     .sessions = false,
                     .polls = false,
                     .table = {.joins_without_count = true}}));
}
TEST(settle_world, finds_a_take_in_front_of_the_queue) { EXPECT_TRUE(found({.table = {.take_ignores_crowd = true}})); }

}  // namespace
}  // namespace tyer::kit
