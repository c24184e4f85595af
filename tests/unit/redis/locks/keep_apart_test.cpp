#include "engines/redis/locks/keep_apart.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>

namespace {

using namespace tyer;
using namespace tyer::redis;
using engine::failure;
using engine::fate;
using engine::why;
using namespace std::chrono_literals;

struct keep_apart_test : testing::Test {
  void keep(const std::vector<std::string_view>& names) {
    std::vector<engine::target> targets;
    for (const auto n : names) targets.push_back({{}, n});
    keep_apart(
        targets, [this](engine::outcome<engine::kept>&& o) { got.emplace(std::move(o)); },
        [this](std::span<const engine::target> part, keep_reply back) {
          for (const auto& t : part) EXPECT_EQ(t.name, part.front().name);
          calls.emplace_back(std::string{part.front().name}, part.size());
          backs[std::string{part.front().name}] = std::move(back);
        });
  }
  void answer(const std::string& name, std::vector<fate> fates, int sent = 1, std::chrono::milliseconds ttl = 9s) {
    backs[name]({at(sent), engine::kept{std::move(fates), ttl}});
  }
  void fail(const std::string& name, why kind) { backs[name]({at(1), failure{kind, {}, name}}); }
  static engine::time_point at(int s) { return engine::time_point{std::chrono::seconds{s}}; }

  std::vector<std::pair<std::string, std::size_t>> calls;
  std::map<std::string, keep_reply> backs;
  std::optional<engine::outcome<engine::kept>> got;
};

TEST_F(keep_apart_test, one_name_is_one_call) {
  keep({"a", "a"});
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].second, 2U);
  answer("a", {fate::holding, fate::gone});
  EXPECT_EQ(std::get<0>(got->result).fates, (std::vector{fate::holding, fate::gone}));
}

TEST_F(keep_apart_test, the_fates_come_in_the_order_of_the_targets) {
  keep({"b", "a", "b", "c"});
  EXPECT_EQ(calls.size(), 3U);
  answer("c", {fate::waiting}, 5);
  answer("a", {fate::gone}, 4);
  EXPECT_FALSE(got);
  answer("b", {fate::holding, fate::waiting}, 6);
  ASSERT_TRUE(got);
  EXPECT_EQ(std::get<0>(got->result).fates, (std::vector{fate::holding, fate::gone, fate::waiting, fate::waiting}));
  EXPECT_EQ(got->sent, at(4)) << "nothing was confirmed later than the first of them was sent";
}

TEST_F(keep_apart_test, proves_as_much_as_the_least_of_its_parts) {
  keep({"a", "b", "c"});
  answer("a", {fate::holding}, 1, 7s);
  answer("b", {fate::holding}, 1, 5s);
  answer("c", {fate::holding}, 1, 6s);
  ASSERT_TRUE(got);
  EXPECT_EQ(std::get<0>(got->result).ttl, 5s);
}

TEST_F(keep_apart_test, what_failed_is_unknown_and_the_rest_is_known) {
  keep({"a", "b", "c"});
  fail("a", why::not_sent);
  answer("b", {fate::holding});
  fail("c", why::unknown);
  EXPECT_EQ(std::get<0>(got->result).fates, (std::vector{fate::unknown, fate::holding, fate::unknown}));
}

TEST_F(keep_apart_test, all_failed) {
  keep({"a", "b"});
  fail("a", why::unknown);
  fail("b", why::not_sent);
  EXPECT_EQ(std::get<failure>(got->result).kind, why::unknown);
}

}  // namespace
