// What people do to locks, and what else may lie under their keys.
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

TEST_F(redis_scripts, evict_breaks_exactly_that_hold) {
  acquire(ann);
  acquire(bob);
  EXPECT_EQ(evict(cid), "g");
  EXPECT_EQ(keep_hold(ann), "h");
  raw_redis inbox{server_uri()};
  inbox.ask({"SUBSCRIBE", "tyer:inbox:4141414141414141"});
  EXPECT_EQ(evict(ann), "h");
  EXPECT_EQ(inbox.read().items.at(2).text, "g" + ann);
  EXPECT_EQ(keep_hold(ann), "g");
  EXPECT_EQ(evict(ann), "g") << "never the next one";
  EXPECT_PRED1(is_part, acquire(bob));
  acquire(cid);
  EXPECT_EQ(evict(cid), "w");
  EXPECT_EQ(keep_waiter(cid), "g");
}

TEST_F(redis_scripts, ask_tells_the_holder) {
  EXPECT_EQ(call(scripts::ask, {"1", key, "please"}).text, "0");
  acquire(ann);
  raw_redis inbox{server_uri()};
  inbox.ask({"SUBSCRIBE", "tyer:inbox:4141414141414141"});
  EXPECT_EQ(call(scripts::ask, {"1", key, "please"}).text, "1");
  EXPECT_EQ(inbox.read().items.at(2).text, "a" + ann + "please");
  release(ann);
  EXPECT_EQ(call(scripts::ask, {"1", key, "please"}).text, "0");
}

TEST_F(redis_scripts, ask_tells_every_holder_but_no_ghost) {
  for (const auto& who : {ann, bob, cid}) share(who, {.delay = 1h});
  release_unclean(cid);
  EXPECT_EQ(call(scripts::ask, {"1", key, "please"}).text, "2");
}

TEST_F(redis_scripts, show) {
  EXPECT_TRUE(shown().empty());
  const auto part = part_of(acquire(ann, {.owner = "A"}));
  acquire(bob, {.owner = "B"});
  share(cid, {.owner = ""});
  const auto words = shown();
  ASSERT_EQ(words.size(), 21u);
  EXPECT_EQ(words[0] + words[1] + words[2], "h" + ann + "x");
  EXPECT_GT(std::stoi(words[3]), 9000);
  EXPECT_EQ(words[4], std::to_string(part));
  EXPECT_EQ(words[5], "");
  EXPECT_EQ(words[6], "A");
  EXPECT_EQ(words[7] + words[8] + words[9], "w" + bob + "x");
  EXPECT_EQ(words[13], "B");
  EXPECT_EQ(words[14] + words[15] + words[16], "w" + cid + "s");
  EXPECT_EQ(call(scripts::show, {"1", key, "1"}).items.size(), 14u);
}

TEST_F(redis_scripts, show_of_permits) {
  permits(ann, 2, 5, {.owner = "A"});
  permits(bob, 1, 5, {.owner = "B"});
  release(ann);
  permits(cid, 3, 5, {.owner = "C"});
  const auto words = shown();
  ASSERT_EQ(words.size(), 14u);
  EXPECT_EQ(words[1] + words[2] + words[5] + words[6], bob + "p" + "2-2" + "B");
  EXPECT_EQ(words[8] + words[9] + words[12] + words[13], cid + "p" + "0-1 3-3" + "C");
}

TEST_F(redis_scripts, something_else_lies_there) {
  const std::vector<std::vector<std::string>> others{{"SET", key, "locked-by-somebody"},
                                                     {"SET", key, ""},
                                                     {"SET", key, std::string(60, 'x')},
                                                     {"SET", key, "T2" + std::string(36, '\0')}};
  for (const auto& other : others) {
    server.ask({"DEL", key});
    server.ask(other);
    EXPECT_EQ(acquire(ann), "c");
    EXPECT_EQ(release(ann), "c");
    EXPECT_EQ(evict(ann), "c");
    EXPECT_EQ(lift(ann, 1), "c");
    EXPECT_EQ(keep_hold(ann), "g");
    EXPECT_EQ(keep_waiter(ann), "g");
    EXPECT_EQ(call(scripts::ask, {"1", key, "x"}).text, "c");
    EXPECT_EQ(convert(ann, engine::mode::shared), "c");
    EXPECT_TRUE(shown().empty());
    EXPECT_EQ(server.ask({"GET", key}).text, other[2]) << "and it stays as it was";
  }
}

TEST_F(redis_scripts, a_key_of_another_type_is_a_conflict) {
  server.ask({"RPUSH", key, "x"});
  for (const auto& v : {call(scripts::acquire, {"1", key, ann, packed({})}), call(scripts::release, {"1", key, ann}),
                        call(scripts::evict, {"1", key, ann}), call(scripts::ask, {"1", key, "x"})}) {
    ASSERT_TRUE(v.is_error());
    EXPECT_EQ(redis::refusal(v.text).kind, engine::why::name_conflict) << v.text;
  }
  EXPECT_EQ(server.ask({"LLEN", key}).number, 1);
}

TEST_F(redis_scripts, something_else_where_the_holders_should_be) {
  server.ask({"RPUSH", holders, "x"});
  const auto v = call(scripts::acquire, {"1", key, ann, packed({.as = engine::mode::shared})});
  ASSERT_TRUE(v.is_error());
  EXPECT_EQ(redis::refusal(v.text).kind, engine::why::name_conflict) << v.text;
  EXPECT_EQ(server.ask({"LLEN", holders}).number, 1);
  EXPECT_PRED1(is_part, acquire(ann)) << "an exclusive lock does not need it";
}

TEST_F(redis_scripts, holders_that_were_replaced_by_something_else) {
  share(ann);
  server.ask({"DEL", holders});
  server.ask({"RPUSH", holders, "x"});
  for (const auto& v : {call(scripts::acquire, {"1", key, bob, packed({.as = engine::mode::shared})}),
                        call(scripts::release, {"1", key, ann}), call(scripts::evict, {"1", key, ann})}) {
    ASSERT_TRUE(v.is_error());
    EXPECT_EQ(redis::refusal(v.text).kind, engine::why::name_conflict) << v.text;
  }
  acquire_other();
  const auto kept = call(scripts::keep_holds, {"2", key, other, "10000", "86400000", ann + bob});
  EXPECT_EQ(kept.text, "uh") << "what lies under one name is not in the way of another";
}

TEST_F(redis_scripts, holders_of_another_format_are_no_holders) {
  share(ann, {.ttl = brief});
  server.ask({"HSET", holders, bob, "short"});
  EXPECT_EQ(keep_hold(bob), "g");
  EXPECT_EQ(release(bob), "g");
  outlast(brief);
  EXPECT_PRED1(is_part, attempt(cid));
  EXPECT_FALSE(exists(holders));
}

}  // namespace tyer::test
