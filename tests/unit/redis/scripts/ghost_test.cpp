// What a hold with a lock delay leaves behind.
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

TEST_F(redis_scripts, a_lock_delay_follows_an_expiry) {
  acquire(ann, {.ttl = 20ms, .delay = 1h});
  outlast(20ms);
  EXPECT_EQ(keep_hold(ann), "g");
  EXPECT_EQ(keep_waiter(ann), "g");
  EXPECT_EQ(evict(ann), "g");
  EXPECT_TRUE(shown().empty());
  EXPECT_EQ(call(scripts::ask, {"1", key, "please"}).text, "0");
  EXPECT_GT(std::stoi(attempt(bob).substr(1)), 3'000'000);
  EXPECT_EQ(acquire(ann, {.place = 0ms, .delay = 1h})[0], 'b') << "its id is like anybody else's";
}

TEST_F(redis_scripts, a_lock_delay_is_over) {
  acquire(ann, {.ttl = 10ms, .delay = 30ms});
  acquire(bob);
  outlast(40ms);
  EXPECT_PRED1(is_part, acquire(bob));
}

TEST_F(redis_scripts, a_lock_delay_does_not_shorten_the_hold) {
  const auto part = part_of(acquire(ann, {.owner = "A", .delay = 1h}));
  EXPECT_EQ(part_of(acquire(ann, {.owner = "A", .delay = 1h})), part);
  EXPECT_EQ(keep_hold(ann, 60s), "h");
  const auto words = shown();
  ASSERT_EQ(words.size(), 7u);
  EXPECT_GT(std::stoi(words[3]), 59'000);
  EXPECT_LE(std::stoi(words[3]), 60'000);
  EXPECT_EQ(words[6], "A");
  EXPECT_EQ(keep_hold(ann, 1s), "h") << "nor does keeping";
  EXPECT_GT(std::stoi(shown()[3]), 59'000);
  EXPECT_EQ(release(ann), "h");
  EXPECT_PRED1(is_part, attempt(bob)) << "a clean release leaves nothing";
}

TEST_F(redis_scripts, a_clean_release_lays_the_ghost) {
  for (const bool evicted : {true, false}) {
    server.ask({"FLUSHALL"});
    acquire(ann, {.delay = 1h});
    acquire(bob);
    EXPECT_EQ(evicted ? evict(ann) : release_unclean(ann), "h");
    EXPECT_EQ(keep_waiter(bob), "w");
    EXPECT_EQ(release_unclean(ann), "g");
    EXPECT_EQ(keep_waiter(bob), "w");
    EXPECT_EQ(release(ann), "g");
    EXPECT_EQ(keep_waiter(bob), "h");
  }
}

TEST_F(redis_scripts, a_shared_ghost_stops_writers_only) {
  share(ann, {.delay = 1h});
  EXPECT_EQ(release_unclean(ann), "h");
  EXPECT_PRED1(is_part, share(bob));
  EXPECT_EQ(release(bob), "h");
  EXPECT_EQ(attempt(cid)[0], 'b');
  EXPECT_EQ(release(ann), "g");
  EXPECT_PRED1(is_part, attempt(cid));
}

TEST_F(redis_scripts, a_ghost_of_permits_keeps_its_slots) {
  permits(ann, 2, 3, {.ttl = 20ms, .delay = brief});
  outlast(20ms);
  EXPECT_EQ(permits(bob, 1, 3), "2-2");
  EXPECT_EQ(permits(cid, 1, 3)[0], 'q');
  outlast(brief);
  EXPECT_EQ(permits(cid, 1, 3), "0-0");
}

TEST_F(redis_scripts, an_id_that_comes_back_takes_the_place_of_its_ghost) {
  permits(ann, 2, 4, {.delay = 1h});
  release_unclean(ann);
  EXPECT_EQ(permits(ann, 2, 4, {.delay = 1h}), "0-1");
  EXPECT_EQ(permits(bob, 2, 4), "2-3");
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(permits(cid, 2, 4), "0-1");
}

TEST_F(redis_scripts, who_waits_behind_its_own_ghost_can_give_up_both) {
  acquire(ann, {.delay = 1h});
  release_unclean(ann);
  EXPECT_TRUE(acquire(ann, {.delay = 1h}).starts_with("q0 "));
  EXPECT_EQ(release(ann), "w");
  EXPECT_PRED1(is_part, attempt(bob));
}

TEST_F(redis_scripts, an_unclaimed_hand_over_leaves_no_ghost) {
  acquire(ann);
  acquire(bob, {.place = 100ms, .delay = 1h});
  share(cid, {.delay = 1h});
  release(ann);
  outlast(100ms);
  EXPECT_EQ(keep_waiter(cid), "h");
  EXPECT_EQ(release_unclean(cid), "h");
  EXPECT_PRED1(is_part, attempt(dee));
}

TEST_F(redis_scripts, a_claim_brings_the_lock_delay) {
  acquire(ann);
  acquire(bob, {.delay = 1h});
  release(ann);
  EXPECT_PRED1(is_part, acquire(bob, {.delay = 1h}));
  EXPECT_EQ(evict(bob), "h");
  EXPECT_EQ(attempt(cid)[0], 'b');
}

TEST_F(redis_scripts, an_upgrade_waits_for_ghosts_too) {
  share(ann, {.delay = 300ms});
  share(bob);
  release_unclean(ann);
  EXPECT_EQ(convert(bob, engine::mode::exclusive)[0], 'q');
  outlast(300ms);
  EXPECT_EQ(keep_hold(bob), "h") << "its own renewal finds out";
  EXPECT_EQ(convert(bob, engine::mode::exclusive)[0], 't');
  EXPECT_FALSE(exists(holders));
}

}  // namespace tyer::test
