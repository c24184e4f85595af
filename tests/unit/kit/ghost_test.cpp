// The reference model: what a hold with a lock delay leaves behind.
#include "unit/kit/resource_fixture.hpp"

namespace tyer::kit {

namespace {

class ghost_test : public resource_test {
 protected:
  // Five seconds after its loss others may have it.
  static request delayed(request r) {
    r.lock_delay = 5s;
    return r;
  }
  fate evict(std::uint64_t who) { return it.evict(number(who), "broken", now, told); }
};

TEST_F(ghost_test, a_lock_delay_counts_from_the_expiry_not_from_its_discovery) {
  auto r = ask(1);
  r.lock_delay = 5s;
  lock(r);
  now += 14s;
  EXPECT_EQ(find_busy(ask(2)).hint, 1s);
  now += 1s;
  lock(ask(2));
}

TEST_F(ghost_test, the_hint_includes_the_lock_delay) {
  auto r = ask(1);
  r.lock_delay = 5s;
  lock(r);
  EXPECT_EQ(find_busy(ask(2)).hint, 15s);
}

TEST_F(ghost_test, an_eviction_is_an_unclean_loss) {
  auto r = ask(1);
  r.lock_delay = 5s;
  lock(r);
  EXPECT_EQ(it.evict(number(1), "broken", now, told), fate::holding);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].what, notice::kind::gone);
  EXPECT_EQ(told[0].reason, "broken");
  EXPECT_EQ(find_busy(ask(2)).hint, 5s);
}

TEST_F(ghost_test, an_unclaimed_hand_over_causes_no_lock_delay) {
  lock(ask(1));
  auto dead = wait(2);
  dead.lock_delay = 1h;
  enqueue(dead);
  release(1);
  now += 2s;
  lock(ask(3));
}

TEST_F(ghost_test, a_head_held_back_by_a_lock_delay_is_told_when_to_look) {
  auto r = ask(1);
  r.lock_delay = 1s;
  lock(r);
  enqueue(wait(2));
  release(1, false);
  EXPECT_TRUE(woken().empty());
  EXPECT_EQ(enqueue(wait(2)).look_again, 1s);
  now += 1s;
  lock(wait(2));
}

TEST_F(ghost_test, a_ghost_is_gone_for_its_owner) {
  lock(delayed(ask(1)));
  now += 10s;
  EXPECT_EQ(keep(1, fate::holding, 10s), fate::gone);
  EXPECT_EQ(evict(1), fate::gone);
  EXPECT_EQ(it.ask("please", now, told), 0u);
  EXPECT_TRUE(told.empty());
  EXPECT_EQ(find_busy(delayed(ask(1))).hint, 5s) << "its id is like anybody else's";
  now += 5s;
  lock(delayed(ask(1)));
}

TEST_F(ghost_test, a_clean_release_lays_it_and_the_queue_has_its_turn) {
  lock(delayed(ask(1)));
  enqueue(wait(2));
  release(1, false);
  EXPECT_TRUE(woken().empty());
  EXPECT_EQ(release(1), fate::gone);
  EXPECT_EQ(woken(), only(2));
}

TEST_F(ghost_test, an_unclean_release_does_not_lay_it) {
  lock(delayed(ask(1)));
  EXPECT_EQ(release(1, false), fate::holding);
  now += 1s;
  EXPECT_EQ(release(1, false), fate::gone);
  EXPECT_EQ(find_busy(ask(2)).hint, 4s);
}

TEST_F(ghost_test, a_shared_ghost_stops_writers_only) {
  lock(delayed(ask(1, mode::shared)));
  evict(1);
  lock(ask(2, mode::shared));
  release(2);
  EXPECT_EQ(find_busy(ask(3)).hint, 5s);
  now += 5s;
  lock(ask(3));
}

TEST_F(ghost_test, a_ghost_of_permits_keeps_its_slots) {
  auto r = delayed(permits(1, 2, 3));
  EXPECT_EQ(lock(r).slots, (std::vector<std::uint32_t>{0, 1}));
  release(1, false);
  EXPECT_EQ(lock(permits(2, 1, 3)).slots, std::vector<std::uint32_t>{2});
  EXPECT_EQ(find_busy(permits(3, 1, 3)).hint, 5s);
  EXPECT_EQ(fail(permits(3, 1, 4)).kind, why::refused);
  now += 5s;
  EXPECT_EQ(lock(permits(3, 1, 3)).slots, std::vector<std::uint32_t>{0});
}

TEST_F(ghost_test, an_upgrade_waits_for_ghosts_too) {
  lock(delayed(ask(1, mode::shared)));
  lock(ask(2, mode::shared));
  release(1, false);
  EXPECT_EQ(std::get<queued>(convert(2, mode::exclusive)).ahead, 0u);
  now += 5s;
  it.reap(now, told);
  EXPECT_EQ(woken(), only(2));
}

TEST_F(ghost_test, an_upgrade_ends_when_its_hold_becomes_a_ghost) {
  lock(delayed(ask(1, mode::shared)));
  lock(ask(2, mode::shared));
  std::get<queued>(convert(1, mode::exclusive));
  enqueue(wait(3, mode::shared));
  evict(1);
  EXPECT_EQ(woken(), only(3));
}

TEST_F(ghost_test, a_reader_that_comes_back_takes_the_place_of_its_ghost) {
  lock(delayed(ask(1, mode::shared)));
  release(1, false);
  lock(delayed(ask(1, mode::shared)));
  EXPECT_EQ(it.holds().size(), 1u);
  EXPECT_EQ(release(1), fate::holding);
  lock(ask(2));
}

TEST_F(ghost_test, who_waits_behind_its_own_ghost_can_give_up_both) {
  lock(delayed(ask(1)));
  release(1, false);
  enqueue(wait(1));
  EXPECT_EQ(release(1), fate::waiting);
  lock(ask(2));
}

}  // namespace

}  // namespace tyer::kit
