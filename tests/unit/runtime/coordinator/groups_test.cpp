// The coordinator and names on several servers, one of which hangs.
#include "runtime/coordinator/coordinator.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tyer::testing {
namespace {

// Names that begin with `a` live elsewhere than the others.
struct groups_bench : bench {
  explicit groups_bench(runtime::limits l = {}) : bench(l) {
    engine.where = [](std::string_view name) { return name.starts_with('a') ? 1u : 2u; };
  }
  caller held(std::string name) {
    caller c = want(make_lock(std::move(name), 2s));
    engine.acquires.back().grant(1);
    return c;
  }
  // Everything but what was asked of the server that hangs.
  void answer_keeps_without(const std::vector<caller>& hung) {
    for (std::size_t i = 0; i < engine.keeps.size(); ++i) {
      auto& k = engine.keeps[i];
      const bool hangs = std::ranges::any_of(k.who, [&](const id& who) {
        return std::ranges::any_of(hung, [&](const caller& c) { return c->hold->who() == who; });
      });
      if (!hangs && !k.answered()) k.answer(std::vector<fate>(k.who.size(), k.as));
    }
  }
};

TEST(coordinator_groups, a_server_that_hangs_does_not_lose_the_holds_on_another) {
  groups_bench b{{.keeps_in_flight_max = 1}};
  const std::vector<bench::caller> hung{b.held("a1"), b.held("a2"), b.held("a3")}, healthy{b.held("b1"), b.held("b2")};
  for (int i = 0; i < 100; ++i) {
    b.pass(50ms);
    b.answer_keeps_without(hung);
  }
  for (const auto& c : healthy) EXPECT_GT(c->hold->valid_until(), b.clock.now());
  for (const auto& c : hung) EXPECT_LT(c->hold->valid_until(), b.clock.now());
}

TEST(coordinator_groups, a_name_that_has_moved_is_not_kept_together_with_those_it_came_from) {
  groups_bench b;
  const auto stays = b.held("a1"), moves = b.held("a2");
  b.engine.where = [](std::string_view name) { return name == "a1" ? 1u : 2u; };
  b.pass(700ms);
  ASSERT_EQ(b.engine.keeps.size(), 2u);
  EXPECT_EQ(b.engine.keeps[0].who.size(), 1u);
  EXPECT_EQ(b.engine.keeps[1].who.size(), 1u);
}

TEST(coordinator_groups, acquires_stuck_at_one_server_do_not_delay_those_at_another) {
  groups_bench b{{.asks_in_flight_max = 2}};
  std::vector<bench::caller> stuck;
  for (int i = 0; i < 5; ++i) stuck.push_back(b.want(bench::make_lock("a" + std::to_string(i), 9s)));
  EXPECT_EQ(b.engine.acquires.size(), 2u);
  const auto other = b.want(bench::make_lock("b", 9s));
  ASSERT_EQ(b.engine.acquires.size(), 3u);
  b.engine.acquires.back().grant(1);
  EXPECT_TRUE(other->hold);
  EXPECT_EQ(b.engine.acquires.size(), 3u) << "nor does an answer there send more to the one that hangs";
  b.engine.acquires[0].grant(1);
  EXPECT_EQ(b.engine.acquires.size(), 4u);
}

}  // namespace
}  // namespace tyer::testing
