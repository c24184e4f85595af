// An exclusive lock that others wait for.
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

TEST_F(redis_scripts, waiters_queue_in_order) {
  acquire(ann);
  const auto first = acquire(bob);
  ASSERT_TRUE(first.starts_with("q0 ")) << first;
  EXPECT_GT(std::stoi(first.substr(3)), 9000) << "the head looks again when the holder's time is over";
  EXPECT_EQ(acquire(cid), "q1 3000");
  EXPECT_EQ(acquire(dee), "q2 3000");
  EXPECT_EQ(acquire(cid), "q1 3000") << "asking again keeps the place";
  EXPECT_TRUE(acquire(bob).starts_with("q0 "));
  EXPECT_GT(pttl(queue), 86'000'000);
  EXPECT_GT(pttl(waiters), 86'000'000);
}

TEST_F(redis_scripts, release_hands_over_to_the_head) {
  const auto part = part_of(acquire(ann));
  acquire(bob, {.place = 2s});
  acquire(cid);
  raw_redis inbox{server_uri()};
  inbox.ask({"SUBSCRIBE", "tyer:inbox:" + "4242424242424242"s});
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(inbox.read().items.at(2).text, "w" + bob);
  const auto busy = attempt(dee);
  ASSERT_EQ(busy[0], 'b') << "a try never overtakes";
  EXPECT_LE(std::stoi(busy.substr(1)), 2000) << "until it is claimed, only for the waiter's lease";
  const auto claimed = part_of(acquire(bob));
  EXPECT_GT(claimed, part);
  EXPECT_GT(std::stoi(attempt(dee).substr(1)), 9000) << "claimed: the full time";
  EXPECT_EQ(part_of(acquire(bob)), claimed);
  EXPECT_TRUE(acquire(cid).starts_with("q0 "));
}

TEST_F(redis_scripts, queue_keys_vanish_with_the_last_waiter) {
  acquire(ann);
  acquire(bob);
  release(ann);
  EXPECT_FALSE(exists(queue));
  EXPECT_FALSE(exists(waiters));
  acquire(bob);
  EXPECT_EQ(release(bob), "h");
  EXPECT_PRED1(is_part, attempt(cid));
}

TEST_F(redis_scripts, a_claim_knows_a_token_the_server_has_forgotten) {
  acquire(ann);
  acquire(bob);
  release(ann);
  const std::uint64_t seen = redis::exact_max / 2;
  EXPECT_EQ(part_of(acquire(bob, {.seen = seen})), seen + 1);
  EXPECT_EQ(part_of(acquire(bob)), seen + 1);
}

TEST_F(redis_scripts, a_waiter_can_leave) {
  acquire(ann);
  acquire(bob);
  acquire(cid);
  EXPECT_EQ(release(bob), "w");
  EXPECT_EQ(release(bob), "g");
  EXPECT_TRUE(acquire(cid).starts_with("q0 "));
  EXPECT_EQ(release(cid), "w");
  EXPECT_EQ(release(ann), "h");
  EXPECT_PRED1(is_part, attempt(dee)) << "an empty queue leaves nothing behind";
}

TEST_F(redis_scripts, a_hand_over_can_be_declined) {
  acquire(ann);
  acquire(bob);
  acquire(cid);
  release(ann);
  EXPECT_EQ(release(bob), "h");
  EXPECT_PRED1(is_part, acquire(cid));
}

TEST_F(redis_scripts, anybodys_touch_passes_an_expired_lock_on_to_the_head) {
  const std::vector<std::pair<const char*, std::function<void()>>> touches{
      {"try", [&] { EXPECT_EQ(attempt(dee)[0], 'b'); }},
      {"acquire", [&] { EXPECT_EQ(acquire(dee)[0], 'q'); }},
      {"release of a stranger", [&] { EXPECT_EQ(release(dee), "g"); }},
      {"release of the expired holder", [&] { EXPECT_EQ(release(ann), "h"); }},
      {"evict of a stranger", [&] { EXPECT_EQ(evict(dee), "g"); }},
      {"keep of the expired holder", [&] { EXPECT_EQ(keep_hold(ann), "g"); }},
      {"keep of a stranger", [&] { EXPECT_EQ(keep_waiter(dee), "g"); }},
      {"keep of the second", [&] { EXPECT_EQ(keep_waiter(cid), "w"); }},
  };
  for (const auto& [name, touch] : touches) {
    server.ask({"FLUSHALL"});
    acquire(ann, {.ttl = brief});
    ASSERT_EQ(acquire(bob)[0], 'q') << name;
    ASSERT_EQ(acquire(cid)[0], 'q') << name;
    outlast(brief);
    touch();
    EXPECT_EQ(keep_waiter(bob), "h") << name;
    EXPECT_EQ(keep_waiter(cid), "w") << name;
  }
}

TEST_F(redis_scripts, the_head_that_asks_after_expiry_is_granted_at_once) {
  acquire(ann, {.ttl = brief});
  acquire(bob);
  acquire(cid);
  outlast(brief);
  EXPECT_PRED1(is_part, acquire(bob));
  EXPECT_EQ(keep_hold(bob), "h") << "no claim needed";
  EXPECT_TRUE(acquire(cid).starts_with("q0 "));
}

TEST_F(redis_scripts, the_head_that_keeps_its_place_after_expiry_is_handed_the_lock) {
  acquire(ann, {.ttl = brief});
  acquire(bob);
  outlast(brief);
  EXPECT_EQ(keep_waiter(bob), "h");
  EXPECT_PRED1(is_part, acquire(bob));
}

TEST_F(redis_scripts, dead_waiters_are_skipped) {
  acquire(ann);
  acquire(bob, {.place = 1ms});
  acquire(cid, {.place = 1ms});
  acquire(dee);
  outlast(1ms);
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(keep_waiter(dee), "h");
  EXPECT_EQ(keep_waiter(bob), "g");
  EXPECT_FALSE(exists(queue));
  EXPECT_FALSE(exists(waiters));
}

TEST_F(redis_scripts, to_look_at_a_place_does_not_keep_it) {
  acquire(ann);
  acquire(bob, {.place = brief});
  acquire(cid);
  const auto before = kept();
  EXPECT_EQ(keep_waiter(bob, 0ms), "w");
  EXPECT_EQ(kept(), before);
  outlast(brief);
  EXPECT_EQ(keep_waiter(bob, 0ms), "g") << "it has lapsed";
  EXPECT_EQ(kept(), before);
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(keep_waiter(cid, 0ms), "h");
  EXPECT_EQ(keep_waiter(bob, 0ms), "g");
}

TEST_F(redis_scripts, a_crowd_of_dead_waiters_is_reaped_in_bounded_steps) {
  acquire(ann, {.ttl = 1h});
  for (int i = 0; i < 12000; ++i)
    acquire("E-" + std::to_string(100000 + i) + "--------", {.place = 1ms, .most = 20000});
  acquire(dee, {.place = 60s, .most = 20000});
  outlast(1ms);
  EXPECT_EQ(release(ann), "h");
  const auto left = server.ask({"ZCARD", queue}).number;
  EXPECT_GT(left, 1) << "one script does not do it all";
  EXPECT_LT(left, 3000);
  EXPECT_EQ(acquire(cid, {.most = 20000})[0], 'q') << "somebody alive may still stand there";
  EXPECT_PRED1(is_part, acquire(dee));
}

TEST_F(redis_scripts, a_dead_waiter_that_was_handed_the_lock_costs_its_lease) {
  acquire(ann);
  acquire(bob, {.place = brief});
  acquire(cid);
  release(ann);
  EXPECT_TRUE(acquire(cid).starts_with("q0 "));
  outlast(brief);
  EXPECT_PRED1(is_part, acquire(cid));
  EXPECT_EQ(release(bob), "g");
}

TEST_F(redis_scripts, tickets_do_not_go_back_with_the_clock) {
  acquire(ann);
  acquire(bob);
  // As if bob had queued before the server's clock was set back by a day.
  server.ask({"ZINCRBY", queue, "86400000000", bob});
  acquire(cid);
  acquire(dee);
  EXPECT_TRUE(acquire(bob).starts_with("q0 "));
  EXPECT_EQ(acquire(cid), "q1 3000");
  EXPECT_EQ(acquire(dee), "q2 3000");
}

TEST_F(redis_scripts, too_many_waiters) {
  acquire(ann);
  EXPECT_EQ(acquire(bob, {.most = 1})[0], 'q');
  EXPECT_EQ(acquire(cid, {.most = 1}), "o");
  EXPECT_EQ(acquire(bob, {.most = 1})[0], 'q') << "who stands there stays";
  EXPECT_EQ(server.ask({"HLEN", waiters}).number, 1);
}

TEST_F(redis_scripts, keep_does_not_extend_what_was_not_claimed) {
  acquire(ann);
  acquire(bob, {.place = 2s});
  release(ann);
  EXPECT_EQ(keep_hold(bob, 60s), "w");
  EXPECT_EQ(keep_waiter(bob, 60s), "h");
  EXPECT_LE(std::stoi(attempt(cid).substr(1)), 2000);
}

TEST_F(redis_scripts, keep_waiters_extends_the_place) {
  acquire(ann);
  acquire(bob, {.place = brief});
  EXPECT_EQ(keep_waiter(bob, 60s), "w");
  outlast(brief);
  release(ann);
  EXPECT_PRED1(is_part, acquire(bob));
  EXPECT_EQ(keep_waiter(cid), "g");
  EXPECT_EQ(call(scripts::keep_waiters, {"1", "tyer:{none}", "1000", "1000", cid}).text, "g");
}

TEST_F(redis_scripts, a_lost_state_heals_when_waiters_look_again) {
  acquire(ann);
  acquire(bob);
  acquire(cid);
  server.ask({"DEL", key});
  EXPECT_PRED1(is_part, acquire(dee)) << "nobody holds it as far as the server knows";
  EXPECT_TRUE(acquire(cid).starts_with("q1 ")) << "and the queue stands as before";
  release(dee);
  EXPECT_PRED1(is_part, acquire(bob));
}

}  // namespace tyer::test
