// A bell that comes together with an answer.
#include "core/uri.hpp"
#include "engines/postgres/config.hpp"
#include "engines/postgres/wire.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace tyer::postgres {

using namespace std::chrono_literals;

namespace {

struct listener final : sql::wire::user {
  void on_open() override { is_open = true; }
  void on_answers(std::uint64_t number, answers) override { answered_last = number; }
  void on_notice(std::string payload) override { heard.push_back(std::move(payload)); }
  void on_broken(sql::failure f) override { broken = f.words; }

  bool is_open = false;
  std::uint64_t answered_last = 0;
  std::vector<std::string> heard;
  std::string broken;
};

}  // namespace

// It was found with the answer, and told when the next thing came: who waited asked for its turn only when it kept its place.
TEST(postgres_bells, one_that_came_behind_an_answer_was_not_heard_until_something_else_came) {
  const auto box = std::make_shared<poll_box>();
  auto address = core::parse_uri(std::getenv("TYER_URI")).value;
  const auto c = read(address);
  ASSERT_FALSE(c.error);
  listener one;
  wire w{c.connect, box};
  const auto until = [&](auto holds) {
    for (const auto end = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < end;) {
      if (holds()) return true;
      for (auto& d : box->take(std::chrono::steady_clock::now() + 10ms)) d(nullptr);
    }
    return holds();
  };
  w.open(one);
  ASSERT_TRUE(until([&] { return one.is_open; })) << one.broken;
  w.send(1, {{"LISTEN tyer_bells_test"}});
  w.send(2,
         {{"SELECT pg_notify('tyer_bells_test', '6869')"}});  // to itself: behind its result, and before the end of it
  ASSERT_TRUE(until([&] { return one.answered_last == 2; })) << one.broken;
  EXPECT_TRUE(until([&] { return !one.heard.empty(); }));
  EXPECT_EQ(one.heard, std::vector<std::string>{"hi"});
}

}  // namespace tyer::postgres
