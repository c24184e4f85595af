// ?replicas=K: only what K replicas have counts.
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::engine::fate;
using tyer::engine::why;

std::string words_of(const tyer::engine::outcome<tyer::engine::answer>& o) {
  const auto* f = std::get_if<tyer::engine::failure>(&o.result);
  return f != nullptr ? f->words : "granted";
}

TEST(replicas, a_grant_that_too_few_have_is_not_known_and_can_be_asked_for_again) {
  own_server servers{patient_sentinels};
  engine_client a{servers.uri() + "?replicas=2", patient};
  ASSERT_TRUE(a.ready());
  const auto sleeper = servers.pause("replica-0");
  const auto who = a.ids.next();
  const auto o = a.acquire(who, "n");
  EXPECT_EQ(why_not(o), why::unknown);
  EXPECT_NE(words_of(o).find("1 of 2 replicas"), std::string::npos) << words_of(o);
  servers.resume(sleeper);
  ASSERT_TRUE(a.until([&] { return granted(a.acquire(who, "n")) != nullptr; }));
}

TEST(replicas, as_many_as_were_asked_for_are_enough) {
  own_server servers{patient_sentinels};
  engine_client a{servers.uri() + "?replicas=1", patient};
  ASSERT_TRUE(a.ready());
  const auto sleeper = servers.pause("replica-0");
  EXPECT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
  servers.resume(sleeper);
}

TEST(replicas, a_renewal_that_too_few_have_neither_extends_nor_ends) {
  own_server servers{patient_sentinels};
  engine_client a{servers.uri() + "?replicas=2", patient};
  ASSERT_TRUE(a.ready());
  const auto who = a.ids.next();
  ASSERT_NE(granted(a.acquire(who, "n")), nullptr);
  const auto sleeper = servers.pause("replica-0");
  EXPECT_EQ(why_not(a.keep(who, "n", fate::holding)), why::unknown);
  servers.resume(sleeper);
  ASSERT_TRUE(a.until([&] { return !why_not(a.keep(who, "n", fate::holding)); }));
  EXPECT_EQ(std::get<0>(a.keep(who, "n", fate::holding).result).fates, std::vector{fate::holding});
}

TEST(replicas, a_place_in_the_queue_needs_none) {
  own_server servers{patient_sentinels};
  engine_client a{servers.uri()}, b{servers.uri() + "?replicas=2", patient};
  ASSERT_TRUE(a.ready() && b.ready());
  ASSERT_NE(granted(a.acquire(a.ids.next(), "n")), nullptr);
  const auto sleepers = servers.pause("replica-0 replica-1");
  EXPECT_NE(queued(b.acquire(b.ids.next(), "n")), nullptr);
  servers.resume(sleepers);
}

TEST(replicas, many_grants_go_with_one_question) {
  own_server servers{patient_sentinels};
  raw_redis master{"redis://127.0.0.1:" + std::to_string(servers.port_of("master"))};
  engine_client a{servers.uri() + "?replicas=1", patient};
  ASSERT_TRUE(a.ready());
  constexpr int many = 500;
  std::vector<std::shared_ptr<engine_client::box<tyer::engine::answer>>> boxes;
  for (int i = 0; i < many; ++i) {
    boxes.push_back(std::make_shared<engine_client::box<tyer::engine::answer>>());
    a.value->acquire(engine_client::request(a.ids.next(), "n" + std::to_string(i)), a.into(boxes.back()));
  }
  for (const auto& b : boxes) {
    ASSERT_TRUE(a.until([&] { return b->got.has_value(); }));
    EXPECT_NE(granted(*b->got), nullptr);
  }
  const auto stats = master.ask({"INFO", "commandstats"}).text;
  const auto at = stats.find("cmdstat_wait:calls=");
  ASSERT_NE(at, stats.npos);
  EXPECT_LT(std::stoi(stats.substr(at + 19)), many / 4);
}

TEST(replicas, every_reply_comes_before_the_end) {
  own_server servers{patient_sentinels};
  engine_client a{servers.uri() + "?replicas=2", 800ms};
  ASSERT_TRUE(a.ready());
  const auto sleeper = servers.pause("replica-0");
  auto b = std::make_shared<engine_client::box<tyer::engine::answer>>();
  a.value->acquire(engine_client::request(a.ids.next(), "n"), a.into(b));
  bool closed = false, in_time = false;
  a.value->close([&](tyer::engine::outcome<tyer::engine::done>&&) {
    closed = true;
    in_time = b->got.has_value();
  });
  ASSERT_TRUE(a.until([&] { return closed; }));
  EXPECT_TRUE(in_time);
  EXPECT_EQ(b->times, 1);
  servers.resume(sleeper);
}

TEST(replicas, none_there_is_said_in_words) {
  own_server servers{patient_sentinels};
  servers.kill("replica-0 replica-1");
  engine_client a{servers.uri() + "?replicas=1", 800ms};
  ASSERT_TRUE(a.ready());
  const auto o = a.acquire(a.ids.next(), "n");
  EXPECT_NE(words_of(o).find("0 of 1 replicas"), std::string::npos) << words_of(o);
}

}  // namespace
