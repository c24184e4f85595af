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

found hunt(bug planted, std::uint64_t seeds_max, const std::string& promise, const std::string& words) {
  for (std::uint64_t seed = 1; seed <= seeds_max; ++seed) {
    const verdict v = simulate(seed, planted);
    for (const auto& line : v.violations) {
      if (line.starts_with(promise) && line.find(words) != std::string::npos) return {seed, line};
    }
  }
  return {};
}

// `words`: of the violation that this bug must show as, where others would be found by accident.
void expect_found(bug planted, std::uint64_t seeds_max, const std::string& promise, const std::string& words = {}) {
  const found f = hunt(planted, seeds_max, promise, words);
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

// ---- modes

TEST(planted, reader_that_joins_past_a_queued_writer) {
  expect_found(bug::reader_past_writer, 100, "live", "out of turn");
}
TEST(planted, permits_counted_without_k) { expect_found(bug::permits_without_k, 100, "leased", "permits are out"); }
TEST(planted, slot_given_twice) { expect_found(bug::slot_twice, 100, "leased", "two windows overlap: pool"); }
TEST(planted, upgrade_granted_beside_a_reader) {
  expect_found(bug::upgrade_beside_reader, 100, "leased", "two windows overlap: cache");
}
TEST(planted, second_upgrader_that_waits) {
  expect_found(bug::second_upgrader_waits, 100, "live", "somebody is stuck");
}
TEST(planted, downgrade_that_keeps_the_old_token) {
  expect_found(bug::downgrade_keeps_token, 100, "live", "lost that the server still has");
}
TEST(planted, late_downgrade_after_an_upgrade) {
  expect_found(bug::late_downgrade, 300, "leased", "two windows overlap: cache");
}
TEST(planted, upgrade_not_taken_back_after_a_cancel) {
  expect_found(bug::upgrade_not_undone, 300, "live", "an upgrade that was given up");
}

// ---- the queue, delays and limits

TEST(planted, dead_waiter_at_the_head_not_reaped) { expect_found(bug::dead_head_not_reaped, 300, "live", "lies idle"); }
TEST(planted, hand_over_of_a_full_ttl_without_a_claim) {
  expect_found(bug::hand_over_without_claim, 100, "live", "nobody claims");
}
TEST(planted, ghost_not_honoured) { expect_found(bug::ghost_not_honoured, 300, "leased", "during a lock delay"); }
TEST(planted, ghost_laid_by_a_stranger) {
  expect_found(bug::ghost_laid_by_stranger, 300, "leased", "during a lock delay");
}
TEST(planted, min_hold_that_is_ignored) { expect_found(bug::min_hold_ignored, 100, "leased", "during a min_hold"); }
TEST(planted, max_hold_that_is_ignored) {
  expect_found(bug::max_hold_ignored, 100, "leased", "longer than its max_hold");
}

// ---- the hand-off

TEST(planted, hand_off_beyond_the_bound) {
  expect_found(bug::handoff_beyond_bound, 100, "live", "handed off too often");
}
TEST(planted, hand_off_past_validity) { expect_found(bug::handoff_past_validity, 100, "leased", "too little left"); }
TEST(planted, hand_off_without_a_new_token) {
  expect_found(bug::handoff_without_token, 100, "fenced", "the same token");
}
TEST(planted, revocation_that_is_not_heard) { expect_found(bug::revocation_not_heard, 300, "live", "asked back"); }

}  // namespace
}  // namespace tyer::sim
