// Lock delay: what a hold that was lost unclean leaves behind, in every mode.
#include "contract/engine/harness.hpp"

#include <algorithm>

namespace tyer::contract {

class ghost_contract : public engine_contract {
 protected:
  std::vector<mode> modes() const {
    std::vector<mode> all;
    if (!can().lock_delay) return all;
    all.push_back(mode::exclusive);
    if (can().shared) all.push_back(mode::shared);
    if (can().permits) all.push_back(mode::permit);
    return all;
  }
  // Who holds it with a lock delay, and somebody whom its ghost would keep out.
  want haunting(client& who, const std::string& name, mode how, milliseconds delay) {
    want w = how == mode::permit ? who.permits(name, 2, 3) : who.wants(name, how);
    w.lock_delay = delay;
    return w;
  }
  want kept_out(client& who, const std::string& name, mode how) {
    return how == mode::permit ? who.permits(name, 2, 3) : who.wants(name);
  }
  static std::string name_of(mode how) { return "order/" + std::to_string(static_cast<int>(how)); }
};

TEST_F(ghost_contract, nobody_has_it_before_the_delay_is_over) {
  for (const mode how : modes()) {
    auto w = haunting(a, name_of(how), how, brief());
    w.ttl = brief();
    const auto o = a.acquire(w);
    ASSERT_TRUE(granted_in(o)) << describe(o);
    EXPECT_GE(b.poll(kept_out(b, w.name, how)), o.sent + granted_in(o)->ttl + w.lock_delay);
  }
}

TEST_F(ghost_contract, an_unclean_release_and_an_eviction_leave_it_behind) {
  for (const mode how : modes()) {
    for (const bool evicted : {false, true}) {
      const auto w = haunting(a, name_of(how) + (evicted ? "/evicted" : "/released"), how, brief());
      a.lock(w);
      const auto before = a.now();
      EXPECT_EQ(evicted ? c.evict(w) : a.release(w, false), fate::holding);
      EXPECT_GE(b.poll(kept_out(b, w.name, how)), before + w.lock_delay);
    }
  }
}

TEST_F(ghost_contract, it_is_gone_for_its_owner) {
  for (const mode how : modes()) {
    const auto w = haunting(a, name_of(how), how, 60s);
    a.lock(w);
    a.release(w, false);
    EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::gone);
    EXPECT_EQ(a.keep(w, fate::waiting, 20s), fate::gone);
    EXPECT_EQ(a.release(w, false), fate::gone);
    EXPECT_EQ(b.evict(w), fate::gone);
    EXPECT_EQ(b.ask(w.name, "please"), 0u);
    EXPECT_FALSE(b.listed(w));
    EXPECT_FALSE(b.could_lock(kept_out(b, w.name, how))) << "and still in its place";
  }
}

TEST_F(ghost_contract, its_id_is_like_anybody_elses) {
  if (modes().empty()) return;
  auto w = haunting(a, "order", mode::exclusive, 60s);
  a.lock(w);
  a.release(w, false);
  a.find_busy(w);
  if (!can().queue) return;
  w.enqueue = true;
  EXPECT_EQ(a.enqueue(w).ahead, 0u);
  EXPECT_EQ(a.release(w), fate::waiting) << "which lays the ghost too";
  b.lock(b.wants("order"));
}

TEST_F(ghost_contract, a_clean_release_lays_it) {
  for (const mode how : modes()) {
    const auto w = haunting(a, name_of(how), how, 60s);
    a.lock(w);
    EXPECT_EQ(b.evict(w), fate::holding);
    EXPECT_EQ(a.release(w), fate::gone);
    EXPECT_TRUE(b.could_lock(kept_out(b, w.name, how)));
  }
}

TEST_F(ghost_contract, laid_it_lets_the_queue_have_its_turn) {
  if (!can().queue) return;
  for (const mode how : modes()) {
    const auto w = haunting(a, name_of(how), how, 60s);
    a.lock(w);
    auto next = kept_out(b, w.name, how);
    next.enqueue = true;
    b.enqueue(next);
    a.release(w, false);
    b.round_trip();
    EXPECT_FALSE(b.saw(event::kind::wake, next.who));
    a.release(w);
    if (can().push) b.await(event::kind::wake, next.who);
    b.lock(next);
  }
}

TEST_F(ghost_contract, a_shared_one_lets_readers_in) {
  if (!std::ranges::count(modes(), mode::shared)) return;
  const auto w = haunting(a, "order", mode::shared, 60s);
  a.lock(w);
  a.release(w, false);
  b.lock(b.wants("order", mode::shared));
}

TEST_F(ghost_contract, one_of_permits_keeps_its_slots_only) {
  if (!std::ranges::count(modes(), mode::permit)) return;
  const auto w = haunting(a, "pool", mode::permit, 60s);
  a.lock(w);
  a.release(w, false);
  EXPECT_EQ(b.lock(b.permits("pool", 1, 3)).slots, std::vector<std::uint32_t>{2});
  c.find_busy(c.permits("pool", 1, 3));
}

TEST_F(ghost_contract, a_hold_that_is_kept_becomes_none) {
  for (const mode how : modes()) {
    auto w = haunting(a, name_of(how), how, 60s);
    w.ttl = steady();
    a.lock(w);
    EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::holding);
    b.pump_until(b.now() + w.ttl + 5ms);
    EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::holding);
    const auto shown = b.listed(w);
    ASSERT_TRUE(shown);
    EXPECT_LE(shown->left, 20s) << "the delay is not the owner's time";
    EXPECT_EQ(a.release(w), fate::holding);
    EXPECT_TRUE(b.could_lock(kept_out(b, w.name, how)));
  }
}

TEST_F(ghost_contract, an_unclaimed_hand_over_leaves_none) {
  if (!can().queue) return;
  for (const mode how : modes()) {
    const auto holder = a.wants(name_of(how));
    a.lock(holder);
    auto w = haunting(b, holder.name, how, 60s);
    w.enqueue = true;
    b.enqueue(w);
    a.release(holder);
    EXPECT_EQ(b.release(w, false), fate::holding);
    EXPECT_TRUE(c.could_lock(c.wants(holder.name)));
  }
}

TEST_F(ghost_contract, an_upgrade_waits_for_it) {
  if (!std::ranges::count(modes(), mode::shared) || !can().convert) return;
  const auto w = haunting(a, "order", mode::shared, 60s);
  const auto up = b.wants("order", mode::shared);
  a.lock(w);
  b.lock(up);
  a.release(w, false);
  ASSERT_TRUE(queued_in(b.convert(up, mode::exclusive)));
  a.release(w);
  const auto o = b.convert(up, mode::exclusive);
  EXPECT_TRUE(granted_in(o)) << describe(o);
}

}  // namespace tyer::contract
