// The engine on a server that behaves.
#include "unit/redis/engine_client.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using namespace tyer::test;
using tyer::engine::fate;
using tyer::engine::why;

class redis_engine : public testing::Test {
 protected:
  redis_engine() {
    raw.ask({"FLUSHALL"});
    EXPECT_TRUE(a.ready());
    EXPECT_TRUE(b.ready());
  }

  raw_redis raw{server_uri()};
  engine_client a{server_uri()}, b{server_uri()};
};

TEST_F(redis_engine, tells_who_the_server_is) {
  EXPECT_EQ(a.facts.id.size(), 40u);
  EXPECT_TRUE(a.facts.version.starts_with("redis ") || a.facts.version.starts_with("valkey ")) << a.facts.version;
  EXPECT_EQ(a.downs, 0);
}

TEST_F(redis_engine, grants_and_releases) {
  const auto who = a.ids.next();
  const auto before = a.clock.now();
  const auto got = a.acquire(who, "n");
  ASSERT_NE(granted(got), nullptr);
  EXPECT_GE(got.sent, before);
  EXPECT_LE(got.sent, a.clock.now());
  EXPECT_EQ(granted(got)->ttl, 10s);
  EXPECT_EQ(granted(a.acquire(who, "n"))->part, granted(got)->part);
  EXPECT_EQ(std::get<0>(a.release(who, "n").result), fate::holding);
  EXPECT_EQ(std::get<0>(a.release(who, "n").result), fate::gone);
}

TEST_F(redis_engine, hands_over_and_wakes) {
  const auto first = a.ids.next(), second = b.ids.next();
  const auto got = a.acquire(first, "n");
  const auto place = b.acquire(second, "n");
  ASSERT_NE(queued(place), nullptr);
  EXPECT_EQ(queued(place)->ahead, 0u);
  EXPECT_GT(queued(place)->look_again, 9s);
  const auto released = a.clock.now();
  a.release(first, "n");
  ASSERT_TRUE(b.until([&] { return !b.wakes.empty(); }));
  RecordProperty("wake_us", static_cast<int>((a.clock.now() - released) / 1us));
  EXPECT_EQ(b.wakes.front(), second);
  const auto claimed = b.acquire(second, "n");
  ASSERT_NE(granted(claimed), nullptr);
  EXPECT_GT(granted(claimed)->part, granted(got)->part);
  EXPECT_TRUE(a.wakes.empty()) << "only the head is woken";
}

TEST_F(redis_engine, a_try_does_not_queue) {
  a.acquire(a.ids.next(), "n");
  const auto got = b.acquire(b.ids.next(), "n", false);
  const auto* answer = std::get_if<tyer::engine::answer>(&got.result);
  ASSERT_NE(answer, nullptr);
  EXPECT_GT(std::get<tyer::engine::busy>(*answer).hint, 9s);
}

TEST_F(redis_engine, keeps) {
  const auto holder = a.ids.next(), waiter = b.ids.next();
  a.acquire(holder, "n");
  b.acquire(waiter, "n");
  EXPECT_EQ(std::get<0>(a.keep(holder, "n", fate::holding).result).fates, std::vector{fate::holding});
  EXPECT_EQ(std::get<0>(b.keep(waiter, "n", fate::waiting).result).fates, std::vector{fate::waiting});
  EXPECT_EQ(std::get<0>(b.keep(waiter, "n", fate::holding).result).fates, std::vector{fate::gone});
  a.release(holder, "n");
  EXPECT_EQ(std::get<0>(b.keep(waiter, "n", fate::waiting).result).fates, std::vector{fate::holding});
}

TEST_F(redis_engine, keeps_a_full_batch) {
  std::vector<std::string> names;
  std::vector<tyer::engine::target> targets;
  for (std::size_t i = 0; i < a.value->can().keep_batch; ++i) names.push_back("batch/" + std::to_string(i));
  for (const auto& n : names) {
    targets.push_back({a.ids.next(), n});
    ASSERT_NE(granted(a.acquire(targets.back().who, n)), nullptr);
  }
  const auto got =
      a.wait<tyer::engine::kept>([&](auto back) { a.value->keep(targets, fate::holding, 10s, std::move(back)); });
  EXPECT_EQ(std::get<0>(got.result).fates, std::vector(targets.size(), fate::holding));
}

TEST_F(redis_engine, many_calls_in_one_turn_are_all_answered) {
  int answered = 0;
  std::vector<std::string> names;
  for (int i = 0; i < 5000; ++i) names.push_back("many/" + std::to_string(i));
  for (const auto& n : names) {
    a.value->acquire(engine_client::request(a.ids.next(), n), [&](auto&& o) { answered += granted(o) != nullptr; });
  }
  EXPECT_TRUE(a.until([&] { return answered == 5000; }));
}

TEST_F(redis_engine, evict_makes_the_holder_suspicious) {
  const auto who = a.ids.next();
  a.acquire(who, "n");
  const auto was = b.wait<fate>([&](auto back) { b.value->evict({who, "n"}, "test", std::move(back)); });
  EXPECT_EQ(std::get<0>(was.result), fate::holding);
  ASSERT_TRUE(a.until([&] { return !a.suspects.empty(); }));
  EXPECT_EQ(a.suspects.front(), who);
  EXPECT_EQ(std::get<0>(a.keep(who, "n", fate::holding).result).fates, std::vector{fate::gone});
}

TEST_F(redis_engine, ask_reaches_the_holder) {
  const auto who = a.ids.next();
  a.acquire(who, "n");
  const auto count = b.wait<std::uint32_t>([&](auto back) { b.value->ask("n", "a\0reason"s, std::move(back)); });
  EXPECT_EQ(std::get<0>(count.result), 1u);
  ASSERT_TRUE(a.until([&] { return !a.asks.empty(); }));
  EXPECT_EQ(a.asks.front().first, who);
  EXPECT_EQ(a.asks.front().second, "a\0reason"s);
}

TEST_F(redis_engine, lists_in_pages) {
  std::set<std::string> expected, found;
  for (int i = 0; i < 300; ++i) {
    expected.insert("list/*" + std::to_string(i));
    a.acquire(a.ids.next(), "list/*" + std::to_string(i));
  }
  a.acquire(a.ids.next(), "list/x");
  b.acquire(b.ids.next(), "list/*7");
  std::string cursor;
  int waiting = 0, pages = 0;
  do {
    auto got = a.wait<tyer::engine::page>([&](auto back) { a.value->list("list/*", cursor, 50, std::move(back)); });
    auto& page = std::get<0>(got.result);
    for (const auto& e : page.entries) {
      found.insert(e.name);
      waiting += e.what == fate::waiting;
      EXPECT_EQ(e.owner, "test");
      EXPECT_GT(e.left, 0s);
    }
    cursor = page.cursor;
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(found, expected);
  EXPECT_GE(waiting, 1);
  EXPECT_GT(pages, 1);
}

TEST_F(redis_engine, hostile_names) {
  const std::vector<std::string> names{"\0"s,
                                       "a\0b"s,
                                       "\r\n*1\r\n$4\r\nPING\r\n",
                                       "{",
                                       "}",
                                       "a}b{c",
                                       "%",
                                       "%7D",
                                       "\xff\xfe\x80",
                                       std::string(1024, 'x'),
                                       std::string(1024, '{'),
                                       "*",
                                       "tyer:inbox:",
                                       "' .. 1"};
  std::vector<tyer::core::id> holders;
  for (const auto& n : names) {
    holders.push_back(a.ids.next());
    ASSERT_NE(granted(a.acquire(holders.back(), n)), nullptr) << n;
    EXPECT_EQ(queued(a.acquire(holders.back(), n)), nullptr);
    EXPECT_NE(queued(b.acquire(b.ids.next(), n)), nullptr) << n;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(std::get<0>(a.release(holders[i], names[i]).result), fate::holding);
}

TEST_F(redis_engine, something_else_under_the_name) {
  raw.ask({"SET", "tyer:{n}", "locked"});
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), "n")), why::name_conflict);
  raw.ask({"DEL", "tyer:{n}"});
  raw.ask({"LPUSH", "tyer:{n}", "x"});
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), "n")), why::name_conflict);
  EXPECT_EQ(why_not(a.release(a.ids.next(), "n")), why::name_conflict);
}

TEST_F(redis_engine, too_late_is_not_sent) {
  auto r = engine_client::request(a.ids.next(), "n");
  r.not_after = -10s;
  EXPECT_EQ(why_not(a.acquire(r)), why::not_sent);
  EXPECT_EQ(raw.ask({"EXISTS", "tyer:{n}"}).number, 0);
}

TEST_F(redis_engine, a_late_conversion_is_not_sent) {
  const auto who = a.ids.next();
  a.acquire(who, "n");
  const auto got = a.wait<tyer::engine::answer>(
      [&](auto back) { a.value->convert({who, "n"}, tyer::engine::mode::shared, -10s, std::move(back)); });
  EXPECT_EQ(why_not(got), why::not_sent);
}

TEST_F(redis_engine, what_can_never_be_is_refused_without_asking_the_server) {
  raw.ask({"CONFIG", "RESETSTAT"});
  auto r = engine_client::request(a.ids.next(), "n");
  r.lock_delay = -1ms;
  EXPECT_EQ(why_not(a.acquire(r)), why::refused);
  r.lock_delay = 0ms;
  r.what.how = tyer::engine::mode::permit;
  r.capacity = 65'537;
  EXPECT_EQ(why_not(a.acquire(r)), why::over_limit);
  r.capacity = 1;
  r.take = 2;
  EXPECT_EQ(why_not(a.acquire(r)), why::refused);
  EXPECT_EQ(raw.calls().count("evalsha"), 0u);
}

TEST_F(redis_engine, a_flushed_script_is_sent_as_text) {
  const auto who = a.ids.next();
  raw.ask({"SCRIPT", "FLUSH"});
  ASSERT_NE(granted(a.acquire(who, "n")), nullptr);
  EXPECT_EQ(a.downs, 0);
  raw.ask({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(std::get<0>(a.release(who, "n").result), fate::holding);
  EXPECT_EQ(raw.calls().count("eval"), 0u) << "loaded again meanwhile";
}

TEST_F(redis_engine, order_counts_for_more_than_a_flushed_script) {
  const auto who = a.ids.next();
  raw.ask({"SCRIPT", "FLUSH"});
  auto taken = std::make_shared<engine_client::box<tyer::engine::answer>>();
  auto freed = std::make_shared<engine_client::box<fate>>();
  a.value->acquire(engine_client::request(who, "n"), a.into(taken));
  a.value->release({who, "n"}, true, a.into(freed));
  ASSERT_TRUE(a.until([&] { return taken->got && freed->got; }));
  EXPECT_EQ(why_not(*taken->got), why::not_sent);
  EXPECT_EQ(std::get<0>(freed->got->result), fate::gone);
  EXPECT_EQ(taken->times + freed->times, 2);
}

TEST_F(redis_engine, limit_of_requests_in_flight) {
  engine_client small{server_uri() + "?in_flight_max=10"};
  ASSERT_TRUE(small.ready());
  int good = 0, refused = 0;
  for (int i = 0; i < 15; ++i) {
    small.value->ask("n", "please", [&](auto&& o) { why_not(o) == why::over_limit ? ++refused : ++good; });
  }
  ASSERT_TRUE(small.until([&] { return good + refused == 15; }));
  EXPECT_EQ(good, 10);
}

// Went wrong: they were refused like anything else, so that holds were lost, and what was given back stayed taken.
TEST_F(redis_engine, the_limit_of_requests_in_flight_refused_renewals_and_releases) {
  engine_client small{server_uri() + "?in_flight_max=1"};
  ASSERT_TRUE(small.ready());
  const auto mine = small.ids.next();
  ASSERT_NE(granted(small.acquire(mine, "n")), nullptr);
  int asked = 0;
  small.value->ask("n", "please", [&](auto&&) { ++asked; });
  EXPECT_EQ(why_not(small.keep(mine, "n", fate::holding)), std::nullopt);
  small.value->ask("n", "please", [&](auto&&) { ++asked; });
  EXPECT_EQ(why_not(small.release(mine, "n")), std::nullopt);
  EXPECT_TRUE(small.until([&] { return asked == 2; }));
  EXPECT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
}

TEST_F(redis_engine, limit_of_waiters) {
  engine_client small{server_uri() + "?waiters_max=1"};
  ASSERT_TRUE(small.ready());
  a.acquire(a.ids.next(), "n");
  EXPECT_NE(queued(small.acquire(small.ids.next(), "n")), nullptr);
  EXPECT_EQ(why_not(small.acquire(small.ids.next(), "n")), why::over_limit);
}

TEST_F(redis_engine, another_database_is_another_world) {
  engine_client other{server_uri() + "/3"};
  ASSERT_TRUE(other.ready());
  ASSERT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
  ASSERT_NE(granted(other.acquire(other.ids.next(), "n")), nullptr);
  raw.ask({"SELECT", "3"});
  EXPECT_EQ(raw.ask({"EXISTS", "tyer:{n}"}).number, 1);
}

TEST_F(redis_engine, diagnose_finds_what_is_missing) {
  const auto got = a.wait<std::vector<tyer::engine::finding>>([&](auto back) { a.value->diagnose(std::move(back)); });
  const auto& findings = std::get<0>(got.result);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].what.find("append-only"), std::string::npos);
}

TEST_F(redis_engine, wake_ends_a_wait) {
  std::atomic<bool> inside{false};
  std::thread other{[&] {
    while (!inside) std::this_thread::yield();
    a.value->wake();
  }};
  const auto start = a.clock.now();
  inside = true;
  a.value->run(start + 60s);
  EXPECT_LT(a.clock.now() - start, 30s);
  other.join();
}

TEST_F(redis_engine, run_may_move_between_threads) {
  const auto who = a.ids.next();
  std::thread{[&] { EXPECT_NE(granted(a.acquire(who, "n")), nullptr); }}.join();
  std::thread{[&] { EXPECT_EQ(std::get<0>(a.release(who, "n").result), fate::holding); }}.join();
}

TEST_F(redis_engine, close_answers_everything_first) {
  std::string order;
  a.value->acquire(engine_client::request(a.ids.next(), "n"),
                   [&](auto&& o) { order += granted(o) != nullptr ? "granted " : "failed "; });
  a.value->close([&](auto&&) { order += "closed"; });
  ASSERT_TRUE(a.until([&] { return order.ends_with("closed"); }));
  EXPECT_EQ(order, "granted closed");
  EXPECT_EQ(a.downs, 0);
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), "n")), why::not_sent);
}

TEST_F(redis_engine, strange_messages_are_ignored) {
  const auto who = a.ids.next();
  const auto nonce = std::string{who.view().substr(0, 8)};
  const auto inbox = "tyer:inbox:" + tyer::core::to_hex(nonce);
  for (const auto& text : {""s, "w"s, "w123"s, "?"s + std::string{who.view()}, std::string(100000, 'w')})
    raw.ask({"PUBLISH", inbox, text});
  raw.ask({"PUBLISH", inbox, "w" + std::string{who.view()}});
  ASSERT_TRUE(a.until([&] { return !a.wakes.empty() && a.wakes.back() == who; }));
}

TEST_F(redis_engine, a_flood_of_messages_does_not_stop_the_answers) {
  const auto who = a.ids.next();
  const auto inbox = "tyer:inbox:" + tyer::core::to_hex(who.view().substr(0, 8));
  for (int i = 0; i < 2000; ++i) raw.ask({"PUBLISH", inbox, "w" + std::string{who.view()}});
  EXPECT_NE(granted(a.acquire(who, "n")), nullptr);
  EXPECT_TRUE(a.until([&] { return a.wakes.size() == 2000; }));
}

TEST(redis_engine_options, a_prefix_with_braces_is_refused) {
  tyer::core::random_ids ids;
  tyer::core::boot_clock clock;
  auto uri = tyer::core::parse_uri("redis://127.0.0.1").value;
  EXPECT_TRUE(::tyer_engine_redis(uri, {"{x}", &ids, &clock, 1s, {}}).error);
}

}  // namespace
