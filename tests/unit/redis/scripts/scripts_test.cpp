// An exclusive lock that nobody waits for.
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

TEST_F(redis_scripts, a_free_lock_is_granted) {
  const auto before = server_time();
  const auto part = part_of(acquire(ann));
  EXPECT_GE(part, static_cast<std::uint64_t>(before.count()));
  EXPECT_LE(part, static_cast<std::uint64_t>(server_time().count()));
  EXPECT_GT(pttl(key), 86'000'000);
}

TEST_F(redis_scripts, the_state_is_small) {
  acquire(ann, {.owner = "shop-7"});
  EXPECT_EQ(server.ask({"STRLEN", key}).number, 50);
  release(ann);
  EXPECT_EQ(server.ask({"STRLEN", key}).number, 44);
  EXPECT_EQ(server.ask({"OBJECT", "ENCODING", key}).text, "embstr");
}

TEST_F(redis_scripts, the_same_id_is_granted_again_with_the_same_token) {
  const auto part = part_of(acquire(ann));
  EXPECT_EQ(part_of(acquire(ann)), part);
  EXPECT_EQ(part_of(acquire(ann, {.seen = part + 5})), part)
      << "it has been granted: the token must not change under the holder";
}

TEST_F(redis_scripts, a_held_lock_is_busy) {
  acquire(ann);
  const auto answer = attempt(bob);
  ASSERT_EQ(answer[0], 'b');
  EXPECT_GT(std::stoi(answer.substr(1)), 9000);
  EXPECT_FALSE(exists(queue));
  EXPECT_FALSE(exists(waiters));
}

TEST_F(redis_scripts, release_frees) {
  acquire(ann);
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(release(ann), "g");
  EXPECT_GT(pttl(key), 86'000'000) << "the tombstone expires";
  EXPECT_PRED1(is_part, attempt(bob));
}

TEST_F(redis_scripts, release_of_somebody_elses_hold_does_nothing) {
  acquire(ann);
  EXPECT_EQ(release(bob), "g");
  EXPECT_EQ(attempt(cid)[0], 'b');
  EXPECT_EQ(keep_hold(ann), "h");
}

TEST_F(redis_scripts, release_of_nothing) {
  EXPECT_EQ(release(ann), "g");
  EXPECT_FALSE(exists(key));
}

TEST_F(redis_scripts, an_expired_hold_is_taken_over) {
  const auto part = part_of(acquire(ann, {.ttl = 1ms}));
  outlast(1ms);
  EXPECT_GT(part_of(attempt(bob)), part);
  EXPECT_EQ(release(ann), "g");
  EXPECT_EQ(keep_hold(ann), "g");
}

TEST_F(redis_scripts, an_expired_hold_is_gone_even_if_nobody_took_it) {
  set_expired_holder();
  outlast(1ms);
  EXPECT_EQ(keep_hold(ann), "g");
  EXPECT_EQ(release(ann), "h") << "but it was still in its place";
}

TEST_F(redis_scripts, an_expired_holder_that_asks_again_gets_a_new_token) {
  const auto part = part_of(acquire(ann, {.ttl = 1ms}));
  outlast(1ms);
  EXPECT_GT(part_of(acquire(ann)), part);
}

TEST_F(redis_scripts, too_late_does_nothing) {
  const auto now = server_time();
  const auto answer = acquire(ann, {.not_after = now - 1us});
  ASSERT_EQ(answer[0], 'l');
  EXPECT_GE(std::stoll(answer.substr(1)), now.count());
  EXPECT_FALSE(exists(key));
}

TEST_F(redis_scripts, tokens_grow) {
  const auto first = part_of(acquire(ann));
  release(ann);
  const auto second = part_of(acquire(bob));
  EXPECT_GT(second, first);
  release(bob);
  const std::uint64_t seen = second + 1'000'000'000'000;
  EXPECT_EQ(part_of(acquire(cid, {.seen = seen})), seen + 1) << "what the client has seen is the floor";
  release(cid);
  EXPECT_EQ(part_of(acquire(dee)), seen + 2) << "and the tombstone keeps it, ahead of the clock";
}

TEST_F(redis_scripts, tokens_grow_through_flushall) {
  const auto first = part_of(acquire(ann));
  server.ask({"FLUSHALL"});
  EXPECT_GT(part_of(acquire(bob)), first) << "the server's clock is the floor";
}

TEST_F(redis_scripts, tokens_end_where_doubles_lose_digits) {
  const std::uint64_t last = redis::exact_max;
  EXPECT_EQ(part_of(acquire(ann, {.seen = last - 1})), last);
  release(ann);
  EXPECT_EQ(acquire(bob), "p");
  EXPECT_EQ(acquire(bob, {.seen = last}), "p");
}

TEST_F(redis_scripts, keep_extends_and_leaves_token_and_owner) {
  const auto part = part_of(acquire(ann, {.ttl = 5s, .owner = "the owner"}));
  EXPECT_EQ(keep_hold(ann, 30s), "h");
  EXPECT_GT(std::stoi(attempt(bob).substr(1)), 29'000);
  EXPECT_EQ(part_of(acquire(ann)), part);
  EXPECT_EQ(shown().at(6), "somebody") << "the claim names the owner anew";
}

// Setting a time to live costs, so it is left alone while most of it is left.
TEST_F(redis_scripts, the_key_lives_long_enough) {
  acquire(ann, {.live = 60s});
  EXPECT_LE(pttl(key), 60'000);
  server.ask({"PEXPIRE", key, "59999"});  // so that a new one would show
  acquire(ann, {.live = 60s});
  EXPECT_LE(pttl(key), 59'999) << "most of it is left";
  acquire(ann);
  EXPECT_GT(pttl(key), 86'000'000) << "but not of a day";
  acquire(ann, {.live = 60s});
  EXPECT_GT(pttl(key), 86'000'000) << "never shorter";
  release(ann);
  EXPECT_GT(pttl(key), 86'000'000);
  server.ask({"DEL", key});
  acquire(ann, {.live = 60s});
  EXPECT_EQ(keep_hold(ann), "h");
  EXPECT_GT(pttl(key), 86'000'000);
}

TEST_F(redis_scripts, keep_answers_for_each) {
  acquire(ann);
  server.ask({"SET", "tyer:{foreign}", "x"});
  server.ask({"RPUSH", "tyer:{list}", "x"});
  const auto v = call(scripts::keep_holds, {"5", key, "tyer:{none}", "tyer:{foreign}", "tyer:{list}", key, "10000",
                                            "86400000", ann + ann + ann + ann + bob});
  EXPECT_EQ(v.text, "hgggg");
  EXPECT_FALSE(exists("tyer:{none}")) << "never re-creates";
}

TEST_F(redis_scripts, lift_raises_the_part_of_its_own_hold_only) {
  const auto part = part_of(acquire(ann, {.owner = "A"}));
  EXPECT_EQ(lift(bob, part + 5), "g");
  EXPECT_EQ(lift(ann, part - 1), "g") << "never down";
  const auto ttl = pttl(key);
  EXPECT_EQ(lift(ann, part + 5), "h");
  EXPECT_LE(pttl(key), ttl);
  EXPECT_EQ(lift(ann, part + 5), "h") << "the same again is recognised";
  EXPECT_EQ(lift(ann, part + 4), "g");
  EXPECT_EQ(part_of(acquire(ann)), part + 5);
  const auto words = shown();
  ASSERT_EQ(words.size(), 7u);
  EXPECT_EQ(words[4] + words[6], std::to_string(part + 5) + "somebody");
  release(ann);
  EXPECT_EQ(lift(ann, part + 9), "g");
  EXPECT_GT(part_of(acquire(bob)), part + 5);
}

TEST_F(redis_scripts, lift_leaves_waiters_and_delays_alone) {
  const auto part = part_of(acquire(ann, {.delay = 1h}));
  acquire(bob);
  EXPECT_EQ(lift(bob, part + 5), "g") << "who waits has no part";
  EXPECT_EQ(lift(ann, part + 5), "h");
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(lift(bob, part + 50), "g") << "handed over, but not claimed";
  EXPECT_GT(part_of(acquire(bob)), part + 5);
}

TEST_F(redis_scripts, lift_of_what_is_over_or_not_exclusive) {
  set_expired_holder();
  outlast(1ms);
  EXPECT_EQ(lift(ann, redis::exact_max), "g");
  acquire(ann, {.ttl = 20ms, .delay = 1h});
  outlast(20ms);
  EXPECT_EQ(lift(ann, redis::exact_max), "g") << "a ghost";
  server.ask({"DEL", key});
  share(ann);
  EXPECT_EQ(lift(ann, redis::exact_max), "g");
  server.ask({"DEL", key, holders});
  acquire(ann);
  EXPECT_EQ(lift(ann, redis::exact_max + 1), "g");
  EXPECT_EQ(lift(ann, redis::exact_max), "h");
  EXPECT_EQ(part_of(acquire(ann)), redis::exact_max);
}

}  // namespace tyer::test
