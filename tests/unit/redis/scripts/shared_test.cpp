// Shared holds, and the way from shared to exclusive and back.
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

using engine::mode;

TEST_F(redis_scripts, readers_share) {
  const auto one = part_of(share(ann)), two = part_of(share(bob));
  EXPECT_GT(two, one);
  EXPECT_EQ(part_of(share(ann)), one) << "the same id is one reader";
  EXPECT_EQ(server.ask({"HLEN", holders}).number, 2);
  EXPECT_EQ(attempt(cid)[0], 'b');
  EXPECT_EQ(acquire(ann)[0], 'm') << "it holds the lock in another mode";
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(release(ann), "g");
  EXPECT_EQ(attempt(cid)[0], 'b');
  EXPECT_EQ(release(bob), "h");
  EXPECT_FALSE(exists(holders));
  EXPECT_EQ(server.ask({"STRLEN", key}).number, 44) << "only the tombstone is left";
  EXPECT_GT(part_of(attempt(cid)), two);
}

TEST_F(redis_scripts, holders_die_with_their_state) {
  share(ann, {.live = 60s});
  EXPECT_LE(pttl(key), 60'000);
  EXPECT_LE(pttl(holders), 60'000);
  EXPECT_GT(pttl(holders), 0);
  share(bob);
  EXPECT_GT(pttl(key), 86'000'000);
  EXPECT_GT(pttl(holders), 86'000'000);
  server.ask({"DEL", key, holders});
  share(ann, {.live = 60s});
  EXPECT_EQ(keep_hold(ann), "h");
  EXPECT_GT(pttl(key), 86'000'000);
  EXPECT_GT(pttl(holders), 86'000'000);
}

TEST_F(redis_scripts, holders_made_by_a_hand_over_expire_too) {
  acquire(ann);
  share(bob);
  release(ann);
  EXPECT_GT(pttl(holders), 86'000'000);
  EXPECT_LE(pttl(holders), 86'400'000);
}

TEST_F(redis_scripts, each_reader_has_its_own_time) {
  share(ann, {.ttl = brief});
  share(bob);
  EXPECT_EQ(keep_hold(bob, 30s), "h");
  outlast(brief);
  EXPECT_EQ(keep_hold(ann), "g");
  EXPECT_EQ(server.ask({"HLEN", holders}).number, 2) << "nobody had to look";
  share(cid);
  EXPECT_EQ(server.ask({"HLEN", holders}).number, 2);
  const auto busy = attempt(dee);
  EXPECT_GT(std::stoi(busy.substr(1)), 9000) << "the earliest end of those that are left";
}

TEST_F(redis_scripts, keeping_a_reader_never_shortens) {
  share(ann, {.ttl = 60s});
  EXPECT_EQ(keep_hold(ann, 1s), "h");
  EXPECT_GT(std::stoi(shown().at(3)), 59'000);
}

TEST_F(redis_scripts, a_run_of_readers_is_woken_together) {
  acquire(ann);
  share(bob);
  share(cid);
  acquire(dee);
  const auto late = make_id('E', 1);
  EXPECT_EQ(share(late), "q3 3000");
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(keep_hold(bob), "w") << "handed over, to be claimed";
  EXPECT_EQ(keep_waiter(cid), "h");
  EXPECT_PRED1(is_part, share(bob));
  EXPECT_EQ(keep_hold(bob), "h");
  EXPECT_TRUE(acquire(dee).starts_with("q0 "));
  EXPECT_EQ(share(late), "q1 3000") << "behind a writer";
  EXPECT_EQ(share(make_id('F', 1), {.place = 0ms})[0], 'b') << "a try does not overtake the writer";
  release(bob);
  release(cid);
  EXPECT_EQ(keep_waiter(dee), "h");
  EXPECT_EQ(keep_waiter(late), "w");
}

TEST_F(redis_scripts, a_reader_that_does_not_claim_costs_its_lease) {
  acquire(ann);
  share(bob, {.place = brief});
  acquire(cid);
  release(ann);
  EXPECT_TRUE(acquire(cid).starts_with("q0 "));
  outlast(brief);
  EXPECT_EQ(keep_waiter(cid), "h");
  EXPECT_FALSE(exists(holders));
}

// Nothing else of the name ends by itself: only those behind it can find out.
TEST_F(redis_scripts, readers_behind_a_writer_that_died_waited_until_a_hold_ended) {
  share(ann, {.ttl = 1h});
  acquire(bob, {.place = brief});
  const auto late = make_id('E', 1);
  ASSERT_EQ(share(cid), "q1 3000");
  ASSERT_EQ(share(dee), "q2 3000");
  ASSERT_TRUE(acquire(late).starts_with("q3 "));
  raw_redis inbox{server_uri()};
  inbox.ask({"SUBSCRIBE", "tyer:inbox:4343434343434343"});
  outlast(brief);
  EXPECT_EQ(keep_waiter(dee), "h") << "the second behind it is enough";
  EXPECT_EQ(inbox.read().items.at(2).text, "w" + cid) << "and the first one is told";
  EXPECT_PRED1(is_part, share(cid));
  EXPECT_EQ(keep_waiter(late), "w") << "a writer";
  EXPECT_EQ(keep_waiter(bob), "g");
}

TEST_F(redis_scripts, a_claim_of_a_reader_knows_a_token_the_server_has_forgotten) {
  acquire(ann);
  share(bob);
  release(ann);
  const std::uint64_t seen = redis::exact_max / 2;
  EXPECT_EQ(part_of(share(bob, {.seen = seen})), seen + 1);
  EXPECT_EQ(part_of(share(cid)), seen + 2);
  EXPECT_EQ(share(dee, {.seen = redis::exact_max}), "p");
}

TEST_F(redis_scripts, a_thousand_at_a_time_are_handed_the_lock) {
  acquire(ann);
  for (int i = 0; i < 1500; ++i) share("E-" + std::to_string(100000 + i) + "--------", {.place = 60s, .most = 2000});
  release(ann);
  const auto first = server.ask({"HLEN", holders}).number;
  EXPECT_GE(first, 1000);
  EXPECT_LT(first, 1500) << "one script does not do it all";
  share("E-100000--------");
  EXPECT_EQ(server.ask({"HLEN", holders}).number, 1500) << "the others at the next touch";
  EXPECT_FALSE(exists(queue));
}

TEST_F(redis_scripts, too_many_holders) {
  for (std::uint32_t i = 0; i < redis::holders_max; ++i)
    share("E-" + std::to_string(100000 + i) + "--------", {.ttl = 1h});
  EXPECT_EQ(share(ann), "h");
  EXPECT_PRED1(is_part, share("E-100000--------"));
  EXPECT_EQ(release("E-100000--------"), "h");
  EXPECT_PRED1(is_part, share(ann));
}

TEST_F(redis_scripts, holders_that_are_lost_block_no_longer_than_their_time) {
  share(ann, {.ttl = brief});
  server.ask({"DEL", holders});
  EXPECT_EQ(keep_hold(ann), "g");
  EXPECT_EQ(attempt(bob)[0], 'b');
  outlast(brief);
  EXPECT_PRED1(is_part, attempt(bob));
}

TEST_F(redis_scripts, holders_that_outlived_their_state_hold_nothing) {
  share(ann);
  share(bob);
  server.ask({"DEL", key});
  share(cid);
  EXPECT_EQ(keep_hold(ann), "g");
  EXPECT_EQ(release(cid), "h");
  EXPECT_PRED1(is_part, attempt(dee));
}

TEST_F(redis_scripts, a_waiter_that_changes_its_mind) {
  acquire(ann);
  acquire(bob);
  EXPECT_EQ(share(bob), "m");
  EXPECT_TRUE(acquire(bob).starts_with("q0 "));
}

TEST_F(redis_scripts, downgrade) {
  const auto part = part_of(acquire(ann, {.owner = "A"}));
  share(bob);
  acquire(cid);
  const auto answer = convert(ann, mode::shared);
  ASSERT_EQ(answer[0], 't') << answer;
  EXPECT_GT(std::stoull(answer.substr(1)), part);
  EXPECT_GT(std::stoi(answer.substr(answer.find(' '))), 9000);
  EXPECT_EQ(convert(ann, mode::shared).substr(0, 17), answer.substr(0, 17)) << "once";
  EXPECT_EQ(keep_waiter(bob), "h");
  EXPECT_EQ(keep_waiter(cid), "w");
  EXPECT_EQ(shown().at(6), "A");
  EXPECT_GT(pttl(holders), 86'000'000);
}

TEST_F(redis_scripts, upgrade_of_the_only_reader) {
  const auto part = part_of(share(ann));
  acquire(bob);
  const auto answer = convert(ann, mode::exclusive);
  ASSERT_EQ(answer[0], 't') << answer;
  EXPECT_GT(std::stoull(answer.substr(1)), part);
  EXPECT_FALSE(exists(holders));
  EXPECT_EQ(keep_waiter(bob), "w");
  EXPECT_EQ(part_of(acquire(ann)), std::stoull(answer.substr(1)));
  EXPECT_EQ(part_of(share(ann)), std::stoull(answer.substr(1))) << "exclusive is more than shared";
}

TEST_F(redis_scripts, upgrade_waits_for_the_other_readers) {
  share(ann);
  share(bob);
  acquire(cid);
  EXPECT_EQ(convert(ann, mode::exclusive).substr(0, 3), "q0 ");
  EXPECT_EQ(acquire(ann).substr(0, 3), "q0 ");
  EXPECT_EQ(convert(bob, mode::exclusive)[0], 'b') << "two would wait for each other";
  EXPECT_EQ(keep_hold(ann), "h");
  raw_redis inbox{server_uri()};
  inbox.ask({"SUBSCRIBE", "tyer:inbox:4141414141414141"});
  EXPECT_EQ(release(bob), "h");
  EXPECT_EQ(inbox.read().items.at(2).text, "w" + ann);
  EXPECT_PRED1(is_part, acquire(ann)) << "before the queue";
  EXPECT_EQ(keep_waiter(cid), "w");
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(keep_waiter(cid), "h");
}

TEST_F(redis_scripts, upgrade_taken_back) {
  const auto part = part_of(share(ann));
  share(bob);
  convert(ann, mode::exclusive);
  share(cid);
  EXPECT_EQ(keep_waiter(cid), "w");
  EXPECT_EQ(convert(ann, mode::shared).substr(0, 17), "t" + std::to_string(part));
  EXPECT_EQ(keep_waiter(cid), "h");
}

TEST_F(redis_scripts, an_upgrade_ends_with_its_hold) {
  const std::vector<std::pair<const char*, std::function<void()>>> ends{
      {"release", [&] { release(ann); }}, {"evict", [&] { evict(ann); }}, {"expiry", [&] { outlast(brief); }}};
  for (const auto& [name, end] : ends) {
    server.ask({"FLUSHALL"});
    share(ann, {.ttl = brief, .delay = 1h});
    share(bob);
    ASSERT_EQ(convert(ann, mode::exclusive)[0], 'q') << name;
    share(cid);
    end();
    EXPECT_PRED1(is_part, share(cid)) << name;
  }
}

TEST_F(redis_scripts, what_cannot_be_converted) {
  EXPECT_EQ(convert(ann, mode::shared), "g");
  EXPECT_FALSE(exists(key));
  acquire(ann);
  EXPECT_EQ(convert(bob, mode::shared), "g");
  EXPECT_EQ(convert(ann, mode::shared, server_time() - 1us)[0], 'l');
  EXPECT_EQ(share(bob, {.place = 0ms})[0], 'b') << "too late does nothing";
  release(ann);
  permits(ann, 1, 2);
  EXPECT_EQ(convert(ann, mode::shared), "u");
}

}  // namespace tyer::test
