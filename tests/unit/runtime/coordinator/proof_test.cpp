// The coordinator and how much a renewal has proven: a hold lives as long as the engine says, not as long as it was asked for.
#include "runtime/coordinator/coordinator.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

// A hold with a ttl of 9 s, whose first renewal has just been sent.
struct proof_bench : bench {
  proof_bench() : owner(held()) { pass(3s); }
  scripted_engine::keep_call& renewal() { return engine.keeps.back(); }
  lease::time_point valid_until() const { return owner->hold->valid_until(); }
  // Until the next renewal has left.
  lease::duration time_to_next() {
    const auto before = engine.keeps.size();
    const auto since = renewal().sent;
    while (engine.keeps.size() == before && clock.now() < since + 20s) pass(1ms);
    return clock.now() - since;
  }
  caller owner;
};

TEST(coordinator_proof, a_hold_was_extended_by_what_was_asked_for_and_not_by_what_was_proven) {
  proof_bench b;
  b.pass(5s);
  const auto sent = b.renewal().sent;
  b.renewal().prove({fate::holding}, 8s);
  EXPECT_EQ(b.valid_until(), sent + 8s - 400ms);
}

TEST(coordinator_proof, what_was_granted_stays_if_a_renewal_proves_less) {
  proof_bench b;
  const auto before = b.valid_until();
  b.renewal().prove({fate::holding}, 2s);
  EXPECT_EQ(b.valid_until(), before) << "never shortened";
}

TEST(coordinator_proof, an_engine_that_proves_less_is_asked_again_sooner_and_for_as_much_as_ever) {
  proof_bench b;
  b.renewal().prove({fate::holding}, 3s);
  const auto next = b.time_to_next();
  EXPECT_LE(next, 1s);
  EXPECT_GE(next, 800ms);
  EXPECT_EQ(b.renewal().ttl, 9s) << "it may be able to give it now";
  b.renewal().prove({fate::holding}, 9s);
  EXPECT_GE(b.time_to_next(), 2600ms);
}

TEST(coordinator_proof, a_hold_lives_on_as_long_as_little_is_proven_again_and_again) {
  proof_bench b;
  for (int n = 0; n < 1000; ++n) {
    b.renewal().prove({fate::holding}, 200ms);
    if (b.time_to_next() > 100ms) break;
  }
  EXPECT_EQ(b.engine.keeps.size(), 1001u);
  EXPECT_EQ(b.owner->hold->where(), phase::held);
  EXPECT_GT(b.clock.now(), lease::time_point{1000s} + 30s) << "long after its grant was over";
}

TEST(coordinator_proof, the_owner_is_told_in_time_when_the_last_proof_was_short) {
  proof_bench b;
  b.pass(5s);
  b.renewal().prove({fate::holding}, 8s);
  const auto end = b.valid_until();
  EXPECT_EQ(b.owner->hold->alarm_at(), end - 400ms);
}

// It was: short proofs could not put off the early alarm of a long one, and a hold that was proven all the time was lost.
TEST(coordinator_proof, short_proofs_put_off_the_alarm_of_a_long_one) {
  proof_bench b;
  const auto alarm = b.owner->hold->alarm_at(), end = b.valid_until();
  while (b.clock.now() + 60ms < alarm) {
    b.renewal().prove({fate::holding}, 200ms);
    b.time_to_next();
  }
  b.renewal().prove({fate::holding}, 200ms);
  EXPECT_EQ(b.valid_until(), end);
  EXPECT_GT(b.owner->hold->alarm_at(), alarm);
  EXPECT_LT(b.owner->hold->alarm_at(), end);
}

TEST(coordinator_proof, nothing_proven_neither_extends_nor_ends_and_is_asked_again_soon) {
  proof_bench b;
  const auto before = b.valid_until();
  b.renewal().prove({fate::holding}, 0ms);
  EXPECT_EQ(b.valid_until(), before);
  EXPECT_EQ(b.owner->hold->where(), phase::held);
  const auto next = b.time_to_next();
  EXPECT_LE(next, lease::renew_retry(9s) + 1ms);
  EXPECT_GE(next, lease::renew_retry(9s)) << "but not at once";
}

TEST(coordinator_proof, an_engine_that_never_proves_anything_loses_the_hold_when_its_grant_is_over) {
  proof_bench b;
  const auto end = b.valid_until();
  while (b.owner->hold->where() == phase::held && b.clock.now() < end) {
    if (!b.renewal().answered()) b.renewal().prove({fate::holding}, 0ms);
    b.pass(1ms);
  }
  EXPECT_EQ(b.owner->hold->where(), phase::lost);
  EXPECT_LT(b.clock.now(), end);
}

TEST(coordinator_proof, less_than_nothing_is_nothing) {
  proof_bench b;
  const auto before = b.valid_until();
  b.renewal().prove({fate::holding}, -5s);
  EXPECT_EQ(b.valid_until(), before);
  EXPECT_GE(b.time_to_next(), lease::renew_retry(9s));
}

TEST(coordinator_proof, more_than_was_asked_for_is_cut) {
  proof_bench b;
  const auto sent = b.renewal().sent;
  b.renewal().prove({fate::holding}, 24h);
  EXPECT_EQ(b.valid_until(), sent + 9s - 450ms);
  EXPECT_LE(b.time_to_next(), 3s);
}

TEST(coordinator_proof, a_grant_of_less_is_renewed_sooner_too) {
  bench b;
  const auto c = b.want();
  b.engine.acquires[0].answer(seam::granted{1, 3s});
  ASSERT_TRUE(c->hold);
  EXPECT_EQ(c->hold->valid_until(), b.clock.now() + 3s - 150ms);
  b.pass(1s);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  EXPECT_EQ(b.engine.keeps[0].ttl, 9s);
}

// It was: lost() came as long before the end as for the ttl that was asked for. A grant of less than that was lost at once.
TEST(coordinator_proof, a_grant_of_far_less_than_was_asked_for_was_lost_at_once) {
  bench b;
  b.lock = bench::make_lock("order", 60s);
  const auto c = b.want();
  b.engine.acquires[0].answer(seam::granted{1, 3s});
  ASSERT_TRUE(c->hold);
  EXPECT_GT(c->hold->alarm_at(), b.clock.now() + 2s);
  for (int n = 0; n < 20; ++n) {
    b.pass(500ms);
    for (auto& k : b.engine.keeps) {
      if (!k.answered()) k.prove({fate::holding}, 3s);
    }
  }
  EXPECT_EQ(c->hold->where(), phase::held);
}

TEST(coordinator_proof, a_place_in_the_queue_is_kept_sooner_too) {
  bench b;
  b.want();
  b.engine.acquires[0].queue(1, 9s);  // its place lives for 3 s
  b.pass(1s);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  b.engine.keeps[0].prove({fate::waiting}, 600ms);
  b.pass(200ms);
  ASSERT_EQ(b.engine.keeps.size(), 2u);
  EXPECT_EQ(b.engine.keeps[1].ttl, 3s);
}

TEST(coordinator_proof, a_hold_with_a_max_hold_ends_then_however_little_was_proven) {
  bench b;
  b.lock->max_hold = 5s;
  const auto c = b.held();
  const auto end = b.clock.now() + 5s;
  b.pass(3s);
  b.engine.keeps.back().prove({fate::holding}, 6s);
  EXPECT_EQ(c->hold->valid_until(), end);
  b.pass(1900ms);
  EXPECT_EQ(c->hold->where(), phase::lost);
}

}  // namespace
}  // namespace tyer::testing
