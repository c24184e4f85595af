// Every branch of every script, on a real server, through a client that knows nothing of the engine.
#include "engines/redis/scripts.hpp"

#include "engines/redis/answers.hpp"
#include "engines/redis/commands.hpp"
#include "engines/redis/keys.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using tyer::redis::script;
using tyer::test::raw_redis;
using tyer::test::raw_value;
namespace scripts = tyer::redis::scripts;
using std::chrono::microseconds;
using std::chrono::milliseconds;

const std::string key = tyer::redis::keys{"tyer:"}.state("n"), queue = key + "q", waiters = key + "w";
const microseconds never{static_cast<std::int64_t>(tyer::redis::exact_max)};

std::string make_id(char client, int serial) {
  std::string i(16, client);
  i[15] = static_cast<char>(serial);
  return i;
}
const std::string ann = make_id('A', 1), bob = make_id('B', 1), cid = make_id('C', 1), dee = make_id('D', 1);

struct how {
  milliseconds ttl = 10s, place = 3s;
  microseconds not_after = never;
  std::uint64_t seen = 0;
  milliseconds live = 24h;
  std::uint32_t most = 100;
  std::string owner = "somebody";
};

bool is_part(const std::string& answer) { return !answer.empty() && answer[0] >= '0' && answer[0] <= '9'; }
std::uint64_t part_of(const std::string& answer) {
  EXPECT_TRUE(is_part(answer)) << answer;
  return is_part(answer) ? std::stoull(answer) : 0;
}

class redis_scripts : public testing::Test {
 protected:
  redis_scripts() {
    server.ask({"FLUSHALL"});
    for (const script* s : scripts::all)
      EXPECT_EQ(server.ask({"SCRIPT", "LOAD", std::string{s->text}}).text, s->sha1) << s->name;
  }

  raw_value call(const script& s, std::vector<std::string> words) {
    words.insert(words.begin(), {"EVALSHA", std::string{s.sha1}});
    return server.ask(words);
  }
  std::string acquire(const std::string& who, const how& h = {}) {
    const auto terms = tyer::redis::pack({h.ttl, h.place, h.not_after, h.seen, h.live, h.most});
    const auto v = call(scripts::acquire, {"1", key, who + h.owner, terms});
    EXPECT_FALSE(v.is_error()) << v.text;
    return v.text;
  }
  std::string attempt(const std::string& who) { return acquire(who, {.place = 0ms}); }
  std::string release(const std::string& who) { return call(scripts::release, {"1", key, who}).text; }
  std::string evict(const std::string& who) { return call(scripts::evict, {"1", key, who}).text; }
  std::string keep_hold(const std::string& who, milliseconds ttl = 10s) {
    return call(scripts::keep_holds, {"1", key, std::to_string(ttl.count()), "86400000", who}).text;
  }
  std::string keep_waiter(const std::string& who, milliseconds place = 3s) {
    return call(scripts::keep_waiters, {"1", key, std::to_string(place.count()), "86400000", who}).text;
  }
  bool exists(const std::string& k) { return server.ask({"EXISTS", k}).number == 1; }
  std::int64_t pttl(const std::string& k) { return server.ask({"PTTL", k}).number; }
  microseconds server_time() {
    const auto t = server.ask({"TIME"});
    return std::chrono::seconds{std::stoll(t.items[0].text)} + microseconds{std::stoll(t.items[1].text)};
  }
  // Until the server's clock shows that a lease of this length, given before now, is over.
  void outlast(milliseconds lease) {
    const auto end = server_time() + lease + 1ms;
    while (server_time() < end) std::this_thread::sleep_for(1ms);
  }
  void set_expired_holder() { EXPECT_PRED1(is_part, acquire(ann, {.ttl = 1ms})); }

  raw_redis server{tyer::test::server_uri()};
};

TEST_F(redis_scripts, a_free_lock_is_granted) {
  const auto before = server_time();
  const auto part = part_of(acquire(ann));
  EXPECT_GE(part, static_cast<std::uint64_t>(before.count()));
  EXPECT_LE(part, static_cast<std::uint64_t>(server_time().count()));
  EXPECT_GT(pttl(key), 86'000'000);
}

TEST_F(redis_scripts, the_state_is_small) {
  acquire(ann, {.owner = "shop-7"});
  EXPECT_EQ(server.ask({"STRLEN", key}).number, 44);
  EXPECT_EQ(server.ask({"OBJECT", "ENCODING", key}).text, "embstr");
  release(ann);
  EXPECT_EQ(server.ask({"STRLEN", key}).number, 38);
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

TEST_F(redis_scripts, release_hands_over_to_the_head) {
  const auto part = part_of(acquire(ann));
  acquire(bob, {.place = 2s});
  acquire(cid);
  raw_redis inbox{tyer::test::server_uri()};
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
  const std::uint64_t seen = tyer::redis::exact_max / 2;
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
    acquire(ann, {.ttl = 50ms});
    ASSERT_EQ(acquire(bob)[0], 'q') << name;
    ASSERT_EQ(acquire(cid)[0], 'q') << name;
    outlast(50ms);
    touch();
    EXPECT_EQ(keep_waiter(bob), "h") << name;
    EXPECT_EQ(keep_waiter(cid), "w") << name;
  }
}

TEST_F(redis_scripts, the_head_that_asks_after_expiry_is_granted_at_once) {
  acquire(ann, {.ttl = 50ms});
  acquire(bob);
  acquire(cid);
  outlast(50ms);
  EXPECT_PRED1(is_part, acquire(bob));
  EXPECT_EQ(keep_hold(bob), "h") << "no claim needed";
  EXPECT_TRUE(acquire(cid).starts_with("q0 "));
}

TEST_F(redis_scripts, the_head_that_keeps_its_place_after_expiry_is_handed_the_lock) {
  acquire(ann, {.ttl = 50ms});
  acquire(bob);
  outlast(50ms);
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

TEST_F(redis_scripts, a_crowd_of_dead_waiters_is_reaped_in_bounded_steps) {
  acquire(ann);
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
  acquire(bob, {.place = 20ms});
  acquire(cid);
  release(ann);
  EXPECT_TRUE(acquire(cid).starts_with("q0 "));
  outlast(20ms);
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
  const std::uint64_t last = tyer::redis::exact_max;
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
  const auto shown = call(scripts::show, {"1", key, "10"});
  EXPECT_EQ(shown.items.at(4).text, "somebody") << "the claim names the owner anew";
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
  acquire(bob, {.place = 20ms});
  EXPECT_EQ(keep_waiter(bob, 60s), "w");
  outlast(20ms);
  release(ann);
  EXPECT_PRED1(is_part, acquire(bob));
  EXPECT_EQ(keep_waiter(cid), "g");
  EXPECT_EQ(call(scripts::keep_waiters, {"1", "tyer:{none}", "1000", "1000", cid}).text, "g");
}

TEST_F(redis_scripts, evict_breaks_exactly_that_hold) {
  acquire(ann);
  acquire(bob);
  EXPECT_EQ(evict(cid), "g");
  EXPECT_EQ(keep_hold(ann), "h");
  raw_redis inbox{tyer::test::server_uri()};
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
  raw_redis inbox{tyer::test::server_uri()};
  inbox.ask({"SUBSCRIBE", "tyer:inbox:4141414141414141"});
  EXPECT_EQ(call(scripts::ask, {"1", key, "please"}).text, "1");
  EXPECT_EQ(inbox.read().items.at(2).text, "a" + ann + "please");
  release(ann);
  EXPECT_EQ(call(scripts::ask, {"1", key, "please"}).text, "0");
}

TEST_F(redis_scripts, show) {
  EXPECT_TRUE(call(scripts::show, {"1", key, "10"}).items.empty());
  const auto part = part_of(acquire(ann, {.owner = "A"}));
  acquire(bob, {.owner = "B"});
  acquire(cid, {.owner = ""});
  const auto v = call(scripts::show, {"1", key, "10"});
  ASSERT_EQ(v.items.size(), 15u);
  EXPECT_EQ(v.items[0].text, "h");
  EXPECT_EQ(v.items[1].text, ann);
  EXPECT_EQ(v.items[3].text, std::to_string(part));
  EXPECT_EQ(v.items[4].text, "A");
  EXPECT_EQ(v.items[5].text, "w");
  EXPECT_EQ(v.items[6].text, bob);
  EXPECT_EQ(v.items[9].text, "B");
  EXPECT_EQ(v.items[11].text, cid);
  EXPECT_EQ(call(scripts::show, {"1", key, "1"}).items.size(), 10u);
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
    EXPECT_EQ(keep_hold(ann), "g");
    EXPECT_EQ(keep_waiter(ann), "g");
    EXPECT_EQ(call(scripts::ask, {"1", key, "x"}).text, "c");
    EXPECT_TRUE(call(scripts::show, {"1", key, "10"}).items.empty());
    EXPECT_EQ(server.ask({"GET", key}).text, other[2]) << "and it stays as it was";
  }
}

TEST_F(redis_scripts, a_key_of_another_type_is_a_conflict) {
  server.ask({"RPUSH", key, "x"});
  const auto terms = tyer::redis::pack({10s, 3s, never, 0, 24h, 100});
  for (const auto& v : {call(scripts::acquire, {"1", key, ann, terms}), call(scripts::release, {"1", key, ann}),
                        call(scripts::evict, {"1", key, ann}), call(scripts::ask, {"1", key, "x"})}) {
    ASSERT_TRUE(v.is_error());
    EXPECT_EQ(tyer::redis::refusal(v.text).kind, tyer::engine::why::name_conflict) << v.text;
  }
  EXPECT_EQ(server.ask({"LLEN", key}).number, 1);
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

// Each redis.call costs the server about a microsecond.
TEST_F(redis_scripts, cost_in_calls) {
  using counts = std::map<std::string, std::int64_t>;
  const auto cost = [&](const std::function<void()>& act) {
    server.ask({"CONFIG", "RESETSTAT"});
    act();
    auto c = server.calls();
    for (const char* own : {"evalsha", "config|resetstat", "info"}) c.erase(own);
    c.erase("pexpire");  // one newcomer in 31 renews a queue
    return c;
  };
  acquire(ann);
  release(ann);
  EXPECT_EQ(cost([&] { acquire(ann); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}));
  EXPECT_EQ(cost([&] { attempt(bob); }), (counts{{"time", 1}, {"get", 1}}));
  EXPECT_EQ(cost([&] { keep_hold(ann); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}));
  EXPECT_EQ(cost([&] { release(ann); }), (counts{{"get", 1}, {"set", 1}}));

  acquire(ann);
  EXPECT_EQ(cost([&] { acquire(bob); }),
            (counts{{"time", 1}, {"get", 1}, {"hset", 1}, {"zrange", 1}, {"zadd", 1}, {"setrange", 1}}));
  EXPECT_EQ(cost([&] { acquire(cid); }),
            (counts{{"time", 1}, {"get", 1}, {"hset", 1}, {"zrange", 1}, {"zcard", 1}, {"zadd", 1}}));
  EXPECT_EQ(
      cost([&] { release(ann); }),
      (counts{
          {"get", 1}, {"time", 1}, {"zrange", 1}, {"hmget", 1}, {"zrem", 1}, {"hdel", 1}, {"set", 1}, {"publish", 1}}));
  EXPECT_EQ(cost([&] { acquire(bob); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}))
      << "a claim costs what a lock costs";
}

}  // namespace
