// k of N.
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

TEST_F(redis_scripts, the_lowest_free_permits_are_taken) {
  EXPECT_EQ(permits(ann, 3, 20), "0-2");
  EXPECT_EQ(permits(bob, 6, 20), "3-8");
  EXPECT_EQ(permits(cid, 1, 20), "9-9");
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(release(cid), "h");
  EXPECT_EQ(permits(dee, 6, 20), "0-2 9-11");
  EXPECT_EQ(permits(dee, 6, 20), "0-2 9-11") << "again the same";
  EXPECT_EQ(permits(ann, 8, 20), "12-19");
  EXPECT_EQ(permits(cid, 1, 20, {.place = 0ms})[0], 'b');
  EXPECT_EQ(release(bob), "h");
  EXPECT_EQ(permits(cid, 6, 20), "3-8");
}

TEST_F(redis_scripts, capacities_around_a_byte) {
  for (const std::uint32_t capacity : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 1000u}) {
    server.ask({"FLUSHALL"});
    EXPECT_EQ(permits(ann, capacity, capacity), "0-" + std::to_string(capacity - 1));
    EXPECT_EQ(permits(bob, 1, capacity, {.place = 0ms})[0], 'b') << capacity;
    EXPECT_EQ(release(ann), "h");
    EXPECT_EQ(permits(bob, 1, capacity), "0-0");
    EXPECT_EQ(permits(cid, capacity, capacity, {.place = 0ms})[0], 'b') << capacity;
  }
}

TEST_F(redis_scripts, as_many_permits_as_there_can_be) {
  EXPECT_EQ(permits(ann, 1, redis::capacity_max), "0-0");
  EXPECT_EQ(permits(bob, redis::capacity_max - 1, redis::capacity_max), "1-65535");
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(release(bob), "h");
  EXPECT_EQ(server.ask({"STRLEN", key}).number, 44);
}

TEST_F(redis_scripts, another_capacity_while_in_use) {
  permits(ann, 1, 3);
  EXPECT_EQ(permits(bob, 1, 5), "n3");
  EXPECT_EQ(permits(ann, 1, 5), "n3");
  release(ann);
  EXPECT_EQ(permits(bob, 1, 5), "0-0");
}

TEST_F(redis_scripts, permits_end_one_by_one) {
  permits(ann, 1, 2, {.ttl = brief});
  permits(bob, 1, 2);
  outlast(brief);
  EXPECT_EQ(permits(cid, 1, 2), "0-0");
  EXPECT_EQ(keep_hold(ann), "g");
  EXPECT_EQ(keep_hold(bob), "h");
}

TEST_F(redis_scripts, a_claim_of_permits_tells_their_slots) {
  permits(ann, 3, 3);
  EXPECT_EQ(permits(bob, 1, 3)[0], 'q');
  EXPECT_EQ(permits(cid, 2, 3)[0], 'q');
  EXPECT_EQ(permits(dee, 1, 3)[0], 'q');
  release(ann);
  EXPECT_EQ(permits(cid, 2, 3), "1-2");
  EXPECT_EQ(permits(bob, 1, 3), "0-0");
  EXPECT_EQ(permits(bob, 1, 3), "0-0");
  EXPECT_TRUE(permits(dee, 1, 3).starts_with("q0 "));
}

TEST_F(redis_scripts, who_wants_few_does_not_overtake_who_wants_many) {
  permits(ann, 2, 3);
  EXPECT_TRUE(permits(bob, 3, 3).starts_with("q0 "));
  EXPECT_EQ(permits(cid, 1, 3), "q1 3000");
  EXPECT_EQ(permits(dee, 1, 3, {.place = 0ms})[0], 'b');
  EXPECT_EQ(release(bob), "w");
  EXPECT_EQ(keep_waiter(cid), "h") << "whoever was behind it has its turn";
}

TEST_F(redis_scripts, who_wants_few_waited_behind_who_wanted_many_and_died_until_a_hold_ended) {
  permits(ann, 2, 3, {.ttl = 1h});
  EXPECT_TRUE(permits(bob, 3, 3, {.place = brief}).starts_with("q0 "));
  EXPECT_EQ(permits(cid, 1, 3), "q1 3000");
  EXPECT_EQ(permits(dee, 1, 3), "q2 3000");
  outlast(brief);
  EXPECT_EQ(keep_waiter(cid), "h");
  EXPECT_EQ(keep_waiter(dee), "w") << "there is no more";
}

TEST_F(redis_scripts, permits_shared_holds_and_exclusive_ones_exclude_each_other) {
  permits(ann, 1, 3);
  EXPECT_EQ(attempt(bob)[0], 'b');
  EXPECT_EQ(share(bob, {.place = 0ms})[0], 'b');
  release(ann);
  share(ann);
  EXPECT_EQ(permits(bob, 1, 3, {.place = 0ms})[0], 'b');
  EXPECT_EQ(permits(ann, 1, 3), "m");
}

TEST_F(redis_scripts, lost_holders_of_permits_are_forgotten_at_their_time) {
  permits(ann, 1, 2, {.ttl = brief});
  server.ask({"DEL", holders});
  EXPECT_EQ(permits(bob, 1, 2), "1-1");
  outlast(brief);
  EXPECT_EQ(permits(cid, 1, 2), "0-0");
}

// It was granted first, so its part was the smaller one until it said what it had seen.
TEST_F(redis_scripts, after_a_loss_a_claim_is_above_what_its_client_has_seen_and_nobody_was_overtaken) {
  const how one{.as = engine::mode::permit, .take = 1, .capacity = 2};
  const auto part = [](const std::string& answer) { return answer[0] == 's' ? std::stoull(answer.substr(1)) : 0; };
  permits(ann, 2, 2);
  ASSERT_EQ(acquire(bob, one)[0], 'q');
  release(ann);
  EXPECT_EQ(keep_waiter(bob), "h") << "it was handed one before the next came";
  const auto later = part(acquire(cid, one));
  auto claim = one;
  claim.seen = later + 1000;
  EXPECT_EQ(part(acquire(bob, claim)), later + 1001);
  EXPECT_GT(part(acquire(cid, one)), 0U) << "and the other still has what it had";
}

}  // namespace tyer::test
