// A connection that only listens.
#include "engines/redis/connection/subscriber.hpp"

#include "core/uri.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;

class redis_subscriber : public testing::Test, tyer::redis::subscriber::listener {
 protected:
  redis_subscriber() { subscriber.open(*this); }
  ~redis_subscriber() override {
    bool closed = false;
    subscriber.close([&] { closed = true; });
    until([&] { return closed; });
  }

  tyer::redis::connection::settings settings() {
    auto parsed = tyer::core::parse_uri(server_uri());
    return {tyer::redis::read(parsed.value).value, "", 2000ms, 1, &clock, {}};
  }
  template <class Condition>
  bool until(Condition so) {
    const auto end = clock.now() + 10s;
    while (!so()) {
      if (clock.now() >= end) return false;
      loop.run(std::min(end, clock.now() + 10ms));
    }
    return true;
  }

  void on_heard(std::string_view, std::string_view message) override { heard.emplace_back(message); }
  void on_listening(std::string_view) override { ++began; }
  void on_deaf(std::string_view) override { ++deaf; }

  tyer::core::boot_clock clock;
  tyer::redis::loop loop{clock};
  tyer::redis::subscriber subscriber{loop, settings(), false};
  raw_redis raw{server_uri()};
  std::vector<std::string> heard;
  int began = 0, deaf = 0;
};

TEST_F(redis_subscriber, hears_what_is_said_once_it_listens) {
  subscriber.listen("x");
  ASSERT_TRUE(until([&] { return subscriber.listens("x"); }));
  EXPECT_EQ(began, 1);
  raw.ask({"PUBLISH", "x", "hello"});
  ASSERT_TRUE(until([&] { return !heard.empty(); }));
  EXPECT_EQ(heard.front(), "hello");
}

TEST_F(redis_subscriber, listens_to_what_was_wanted_given_up_and_wanted_again_before_the_server_answered) {
  subscriber.listen("first");
  ASSERT_TRUE(until([&] { return subscriber.listens("first"); }));
  began = 0;
  subscriber.listen("x");
  subscriber.unlisten("x");
  subscriber.listen("x");
  ASSERT_TRUE(until([&] { return subscriber.listens("x"); }));
  EXPECT_EQ(began, 1) << "only the last answer counts";
  raw.ask({"PUBLISH", "x", "hello"});
  ASSERT_TRUE(until([&] { return !heard.empty(); }));
  EXPECT_EQ(deaf, 0);
}

TEST_F(redis_subscriber, what_was_given_up_before_the_server_answered_is_not_listened_to) {
  subscriber.listen("first");
  ASSERT_TRUE(until([&] { return subscriber.listens("first"); }));
  began = 0;
  subscriber.listen("x");
  subscriber.unlisten("x");
  subscriber.listen("last");
  ASSERT_TRUE(until([&] { return subscriber.listens("last"); }));
  EXPECT_EQ(began, 1);
  EXPECT_FALSE(subscriber.listens("x"));
  EXPECT_EQ(raw.ask({"PUBSUB", "NUMSUB", "x"}).items[1].number, 0);
}

}  // namespace
