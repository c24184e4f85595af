// One hold at a time: grant, busy, release, expiry.
#include "contract/engine/harness.hpp"

namespace tyer::contract {

class exclusive_contract : public engine_contract {
 protected:
  bool without_lock_delay() {
    if (can().lock_delay) return false;
    auto w = a.wants("refused");
    w.lock_delay = 1ms;
    EXPECT_TRUE(is_unsupported(a.acquire(w)));
    return true;
  }
};

TEST_F(exclusive_contract, a_free_name_is_granted) {
  const auto g = a.lock(a.wants("order"));
  EXPECT_GE(g.ttl, can().ttl_min);
  EXPECT_EQ(g.part != 0, can().token);
}

TEST_F(exclusive_contract, the_same_id_again_is_the_same_grant) {
  const auto w = a.wants("order");
  const auto first = a.lock(w), second = a.lock(w);
  EXPECT_EQ(first.part, second.part);
  EXPECT_EQ(first.ttl, second.ttl);
}

TEST_F(exclusive_contract, the_same_id_again_counts_from_the_last_time) {
  auto w = a.wants("order");
  w.ttl = steady();
  const auto given = a.lock(w).ttl;
  const auto first_end = a.now() + given;
  a.pump_until(a.now() + given / 2);
  a.lock(w);
  b.pump_until(first_end + 5ms);
  EXPECT_FALSE(b.could_lock(b.wants("order")));
}

TEST_F(exclusive_contract, another_id_is_busy_even_of_the_same_client) {
  a.lock(a.wants("order"));
  EXPECT_GT(a.find_busy(a.wants("order")).hint, 0ms);
  EXPECT_GT(b.find_busy(b.wants("order")).hint, 0ms);
}

TEST_F(exclusive_contract, busy_hints_at_what_is_left_of_the_hold) {
  auto w = a.wants("order");
  w.ttl = 30s;
  const auto given = a.lock(w).ttl;
  EXPECT_LE(b.find_busy(b.wants("order")).hint, given + 1ms);
}

TEST_F(exclusive_contract, what_is_released_is_free) {
  const auto w = a.wants("order");
  a.lock(w);
  EXPECT_EQ(a.release(w), fate::holding);
  b.lock(b.wants("order"));
}

TEST_F(exclusive_contract, a_second_release_frees_nothing) {
  const auto first = a.wants("order");
  a.lock(first);
  EXPECT_EQ(a.release(first), fate::holding);
  b.lock(b.wants("order"));
  EXPECT_EQ(a.release(first), fate::gone);
  EXPECT_FALSE(c.could_lock(c.wants("order")));
}

TEST_F(exclusive_contract, a_stranger_frees_nothing) {
  const auto w = a.wants("order");
  a.lock(w);
  EXPECT_EQ(b.release(b.wants("order")), fate::gone);
  EXPECT_EQ(a.keep(w, fate::holding, 60s), fate::holding);
  EXPECT_FALSE(c.could_lock(c.wants("order")));
}

TEST_F(exclusive_contract, a_release_of_what_never_was_is_gone) {
  EXPECT_EQ(a.release(a.wants("never held")), fate::gone);
}

TEST_F(exclusive_contract, a_release_by_another_name_frees_nothing) {
  auto w = a.wants("order");
  a.lock(w);
  w.name = "another";
  EXPECT_EQ(a.release(w), fate::gone);
  EXPECT_FALSE(b.could_lock(b.wants("order")));
}

TEST_F(exclusive_contract, a_dead_holder_is_free_after_its_ttl_and_not_before) {
  auto w = a.wants("order");
  w.ttl = brief();
  const auto o = a.acquire(w);
  ASSERT_TRUE(granted_in(o)) << describe(o);
  EXPECT_GE(b.poll(b.wants("order")), o.sent + granted_in(o)->ttl);
}

TEST_F(exclusive_contract, releasing_an_expired_hold_harms_nobody) {
  auto w = a.wants("order");
  w.ttl = brief();
  const auto given = lasts(w, a.lock(w));
  a.pump_until(a.now() + given + 5ms);
  const auto next = b.wants("order");
  b.lock_freed(next);
  EXPECT_EQ(a.release(w), fate::gone);
  EXPECT_EQ(b.keep(next, fate::holding, 20s), fate::holding);
}

TEST_F(exclusive_contract, two_names_are_independent) {
  const auto one = a.wants("one"), two = b.wants("two");
  a.lock(one);
  b.lock(two);
  EXPECT_EQ(a.release(one), fate::holding);
  EXPECT_EQ(b.keep(two, fate::holding, 60s), fate::holding);
}

TEST_F(exclusive_contract, two_prefixes_are_independent) {
  client other{prefix + "other:"};
  a.lock(a.wants("order"));
  other.lock(other.wants("order"));
}

TEST_F(exclusive_contract, a_lock_delay_follows_an_unclean_release) {
  if (without_lock_delay()) return;
  auto w = a.wants("order");
  w.lock_delay = brief();
  a.lock(w);
  const auto before = a.now();
  EXPECT_EQ(a.release(w, false), fate::holding);
  EXPECT_GE(b.poll(b.wants("order")), before + w.lock_delay);
}

TEST_F(exclusive_contract, a_lock_delay_follows_an_expiry) {
  if (without_lock_delay()) return;
  auto w = a.wants("order");
  w.ttl = w.lock_delay = brief();
  const auto o = a.acquire(w);
  ASSERT_TRUE(granted_in(o)) << describe(o);
  EXPECT_GE(b.poll(b.wants("order")), o.sent + granted_in(o)->ttl + w.lock_delay);
}

TEST_F(exclusive_contract, no_lock_delay_follows_a_clean_release) {
  if (without_lock_delay()) return;
  auto w = a.wants("order");
  w.lock_delay = 30s;
  a.lock(w);
  EXPECT_EQ(a.release(w), fate::holding);
  b.lock(b.wants("order"));
}

}  // namespace tyer::contract
