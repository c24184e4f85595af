// A seed is a bug report: it must say the same thing twice.
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

namespace tyer::sim {
namespace {

TEST(replay, one_seed_is_one_history) {
  for (const std::uint64_t seed : {1u, 4711u, 99u}) {
    const verdict a = simulate(seed), b = simulate(seed);
    EXPECT_EQ(a.hash, b.hash) << "seed " << seed;
    EXPECT_EQ(a.events, b.events) << "seed " << seed;
    EXPECT_EQ(a.grants, b.grants) << "seed " << seed;
  }
}

TEST(replay, also_with_a_planted_bug) {
  const verdict a = simulate(7, bug::deadline_from_reply), b = simulate(7, bug::deadline_from_reply);
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.violations, b.violations);
}

TEST(replay, other_seeds_are_other_histories) { EXPECT_NE(simulate(1).hash, simulate(2).hash); }

// Faults that nobody notices prove nothing.
TEST(replay, the_faults_bite) {
  std::uint64_t losses = 0, unknowns = 0, refused = 0, handoffs = 0, conversions = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const verdict v = simulate(seed);
    EXPECT_TRUE(v.clean()) << "seed " << seed << ": " << v.violations.front();
    EXPECT_GE(v.faults, 20u);
    EXPECT_GT(v.grants, 100u);
    losses += v.losses;
    unknowns += v.unknowns;
    refused += v.refused_writes;
    handoffs += v.handoffs;
    conversions += v.conversions;
  }
  EXPECT_GT(losses, 0u);
  EXPECT_GT(unknowns, 0u);
  EXPECT_GT(refused, 0u);
  EXPECT_GT(handoffs, 20u);
  EXPECT_GT(conversions, 200u);
}

}  // namespace
}  // namespace tyer::sim
