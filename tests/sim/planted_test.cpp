// The checks bite: each planted bug is found within a bounded number of seeds, and the same seeds are clean without it.
#include "sim/simulation.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace tyer::sim {
namespace {

struct found {
  std::uint64_t seed = 0;  // 0: not found
  std::string first;       // violation
};

found hunt(bug planted, std::uint64_t seeds_max, const std::string& promise) {
  for (std::uint64_t seed = 1; seed <= seeds_max; ++seed) {
    const verdict v = simulate(seed, planted);
    for (const auto& line : v.violations) {
      if (line.starts_with(promise)) return {seed, line};
    }
  }
  return {};
}

void expect_found(bug planted, std::uint64_t seeds_max, const std::string& promise) {
  const found f = hunt(planted, seeds_max, promise);
  ASSERT_NE(f.seed, 0u) << "not found in " << seeds_max << " seeds";
  std::printf("found by seed %llu: %s\n", static_cast<unsigned long long>(f.seed), f.first.c_str());
  for (std::uint64_t seed = 1; seed <= f.seed; ++seed) {
    const verdict v = simulate(seed);
    EXPECT_TRUE(v.clean()) << "seed " << seed << " without the bug: " << v.violations.front();
  }
}

TEST(planted, no_compare_on_release) { expect_found(bug::no_compare_on_release, 100, "leased"); }
TEST(planted, keep_that_recreates) { expect_found(bug::keep_recreates, 100, "leased"); }
TEST(planted, deadline_counted_from_the_reply) { expect_found(bug::deadline_from_reply, 300, "leased"); }
TEST(planted, wall_clock) { expect_found(bug::wall_clock, 100, "leased"); }
TEST(planted, validity_counted_from_a_push) { expect_found(bug::validity_from_push, 100, "leased"); }
TEST(planted, no_compensation_of_a_cancelled_acquire) { expect_found(bug::no_compensation, 100, "live"); }
TEST(planted, no_look_again_after_a_lost_push) { expect_found(bug::no_look_again, 100, "live"); }
TEST(planted, late_request_after_compensation) { expect_found(bug::late_request, 300, "live"); }
TEST(planted, token_floor_lost) { expect_found(bug::token_floor_lost, 20, "fenced"); }
TEST(planted, tombstone_without_ttl) { expect_found(bug::tombstone_without_ttl, 20, "live"); }
TEST(planted, renewal_that_revives_an_expired_hold) { expect_found(bug::renewal_revives, 300, "live"); }
TEST(planted, equal_tokens_on_hand_over) { expect_found(bug::equal_tokens_on_hand_over, 20, "fenced"); }
TEST(planted, gone_that_is_ignored) { expect_found(bug::gone_ignored, 100, "leased"); }
TEST(planted, reply_off_by_one) { expect_found(bug::reply_off_by_one, 300, "leased"); }

}  // namespace
}  // namespace tyer::sim
