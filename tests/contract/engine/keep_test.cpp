// Renewal: extends what is there, never re-creates what is gone.
#include "contract/engine/harness.hpp"

#include <algorithm>

namespace tyer::contract {

using keep_contract = engine_contract;

TEST_F(keep_contract, a_kept_hold_outlives_its_ttl) {
  auto w = a.wants("order");
  w.ttl = steady();
  const auto given = lasts(w, a.lock(w));
  const auto end = a.now() + given;
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::holding);
  b.pump_until(end + 5ms);
  EXPECT_FALSE(b.could_lock(b.wants("order")));
  EXPECT_EQ(a.release(w), fate::holding);
}

TEST_F(keep_contract, keeping_extends_by_what_it_says) {
  const auto w = a.wants("order");
  a.lock(w);
  const auto ttl = std::max<milliseconds>(w.ttl + 60s, can().ttl_min);
  a.keep(w, fate::holding, ttl);
  const auto shown = b.listed(w);
  ASSERT_TRUE(shown);
  EXPECT_GT(shown->left, w.ttl);
}

TEST_F(keep_contract, never_shortens) {
  const auto w = a.wants("order");
  a.lock(w);
  const auto brief_ttl = brief();
  EXPECT_EQ(a.keep(w, fate::holding, brief_ttl), fate::holding);
  const auto shown = b.listed(w);
  ASSERT_TRUE(shown);
  EXPECT_GT(shown->left, brief_ttl);
}

TEST_F(keep_contract, an_expired_hold_is_gone_even_if_nobody_took_it) {
  auto w = a.wants("order");
  w.ttl = brief();
  const auto given = lasts(w, a.lock(w));
  a.pump_until(a.now() + given + 5ms);
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::gone);
  b.lock_freed(b.wants("order"));
}

TEST_F(keep_contract, never_re_creates) {
  const auto w = a.wants("order");
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::gone);
  EXPECT_EQ(a.keep(w, fate::waiting, 20s), fate::gone);
  EXPECT_TRUE(b.could_lock(b.wants("order")));
  a.lock(w);
  a.release(w);
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::gone);
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

TEST_F(keep_contract, does_not_touch_the_hold_of_another) {
  auto theirs = b.wants("order");
  theirs.ttl = brief();
  const auto given = lasts(theirs, b.lock(theirs));
  const auto end = b.now() + given;
  EXPECT_EQ(a.keep(a.wants("order"), fate::holding, 20s), fate::gone);
  b.pump_until(end + 5ms);
  EXPECT_EQ(b.keep(theirs, fate::holding, 20s), fate::gone);
}

TEST_F(keep_contract, a_waiter_that_was_handed_the_lock_is_told_but_not_extended) {
  if (!can().queue) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  auto w = b.waits("order");
  be_mortal(w);
  b.enqueue(w);
  a.release(holder);
  // Where the waiter's own client judges (etcd), its time runs from when it is told.
  if (can().push) b.await(event::kind::wake, w.who);
  EXPECT_EQ(b.keep(w, fate::waiting, 60s), fate::holding);
  b.pump_until(b.now() + w.waiter_ttl + 5ms);
  EXPECT_EQ(b.keep(w, fate::waiting, 60s), fate::gone);
  c.lock_freed(c.wants("order"));
}

TEST_F(keep_contract, an_empty_batch_is_answered) { EXPECT_TRUE(a.keep_all({}, fate::holding, 20s).empty()); }

TEST_F(keep_contract, a_full_batch_tells_each_its_own_fate) {
  const auto size = std::min<std::size_t>(can().keep_batch, 1000);
  std::vector<want> batch;
  std::vector<fate> expected;
  const auto add = [&](want w, fate f) {
    batch.push_back(std::move(w));
    expected.push_back(f);
  };
  constexpr auto long_enough = 3min;  // hundreds of requests one after the other, on a machine that is busy
  auto theirs = b.wants("theirs");
  theirs.ttl = long_enough;
  b.lock(theirs);
  for (std::size_t i = 0; batch.size() < size; ++i) {
    auto mine = a.wants("mine/" + std::to_string(i));
    mine.ttl = long_enough;
    if (i % 4 == 0) {
      add(a.wants("theirs"), fate::gone);
    } else if (i % 4 == 1) {
      add(mine, fate::gone);
    } else if (i % 4 == 2 && can().queue && i < 100) {
      auto waiter = a.waits("theirs");
      waiter.waiter_ttl = long_enough;
      a.enqueue(waiter);
      add(waiter, fate::waiting);
    } else {
      a.lock(mine);
      add(mine, fate::holding);
    }
  }
  EXPECT_EQ(a.keep_all(batch, fate::waiting, 60s), expected);
  std::ranges::reverse(batch);
  std::ranges::reverse(expected);
  // Kept as a hold, a waiter has no hold; whether the engine also looks for its place is up to the engine.
  const auto fates = a.keep_all(batch, fate::holding, 60s);
  for (std::size_t i = 0; i < fates.size(); ++i) {
    EXPECT_EQ(fates[i] == fate::holding, expected[i] == fate::holding) << i;
  }
}

}  // namespace tyer::contract
