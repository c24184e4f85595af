#include "contract/fence/cases.hpp"
#include "unit/redis/raw_redis.hpp"

#include <thread>
#include <vector>

namespace fence_contract {
namespace {

using tyer::test::raw_redis;
using tyer::test::raw_value;
using tyer::test::server_uri;

constexpr auto key = "{guarded}:fence";

raw_value show(raw_redis& server, const std::string& token, const std::string& mode) {
  return server.ask({"EVAL", std::string{tyer::redis_fence_script}, "1", key, token, mode});
}

raw_value show(raw_redis& server, const std::string& token, const std::string& mode, const std::string& id) {
  return server.ask({"EVAL", std::string{tyer::redis_fence_script}, "1", key, token, mode, id});
}

bool let_in(const raw_value& answer) {
  EXPECT_EQ(answer.type, ':') << answer.text;
  return answer.number == 1;
}

class by_script {
 public:
  static constexpr bool readers = true;
  static bool in_memory(tyer::fence_marks& m, std::uint64_t token, tyer::lock_mode mode) {
    return m.enter_by_token(token, mode);
  }

  void fresh() { server.ask({"DEL", key}); }
  bool enter_by_token(std::uint64_t token, tyer::lock_mode mode) {
    return let_in(show(server, std::to_string(token), mode == tyer::lock_mode::shared ? "shared" : "exclusive"));
  }

 private:
  raw_redis server{server_uri()};
};

using stores = ::testing::Types<by_script>;
INSTANTIATE_TYPED_TEST_SUITE_P(redis, fence_contract, stores);

class by_script_with_id {
 public:
  static constexpr bool readers = true;

  void fresh() { server.ask({"DEL", key}); }
  bool enter(const tyer::fence_pass& shown) {
    const auto [token, mode, id] = tyer::redis_fence_arguments(shown);
    return let_in(show(server, token, mode, id));
  }

 private:
  raw_redis server{server_uri()};
};

using stores_with_ids = ::testing::Types<by_script_with_id>;
INSTANTIATE_TYPED_TEST_SUITE_P(redis, fence_with_ids, stores_with_ids);

struct redis_fence : ::testing::Test {
  redis_fence() { server.ask({"DEL", key, "{guarded}:value"}); }
  raw_redis server{server_uri()};
};

// Adds to a number if the token passes; one script, so nothing comes between the check and the write.
const std::string add = std::string{tyer::redis_fence_function} +
                        "if not tyer_fence(KEYS[1], ARGV[1], 'exclusive') then return false end\n"
                        "return redis.call('INCRBY', KEYS[2], ARGV[2])\n";

TEST_F(redis_fence, works_inside_another_script) {
  const auto deposit = [&](const char* token) {
    return server.ask({"EVAL", add, "2", key, "{guarded}:value", token, "100"});
  };
  EXPECT_EQ(deposit("512").number, 100);
  EXPECT_TRUE(deposit("511").is_null());
  EXPECT_EQ(deposit("512").number, 200);
  EXPECT_EQ(server.ask({"GET", "{guarded}:value"}).text, "200");
}

TEST_F(redis_fence, takes_decimal_strings_above_zero_only) {
  for (const auto* bad : {"", "0", "-1", "+1", "01", "1.0", "1e3", " 1", "1 ", "x", "123456789012345678901"}) {
    EXPECT_TRUE(show(server, bad, "exclusive").is_error()) << bad;
  }
  EXPECT_TRUE(show(server, "1", "").is_error());
  EXPECT_TRUE(show(server, "1", "write").is_error());
  EXPECT_EQ(server.ask({"EXISTS", key}).number, 0);
}

TEST_F(redis_fence, takes_whole_ids_only) {
  const std::string id(34, 'a');
  for (const auto& bad : {std::string{}, std::string(33, 'a'), std::string(35, 'a'), std::string(34, 'A')}) {
    EXPECT_TRUE(show(server, "1", "exclusive", bad).is_error()) << bad;
  }
  EXPECT_EQ(server.ask({"EXISTS", key}).number, 0);
  EXPECT_EQ(show(server, "1", "exclusive", id).number, 1);
}

// Both forms at one fence: as fence_marks has it.
TEST_F(redis_fence, an_equal_token_whose_id_was_not_kept_is_refused) {
  const std::string a(34, 'a'), b(34, 'b');
  EXPECT_EQ(show(server, "5", "exclusive").number, 1);
  EXPECT_EQ(show(server, "5", "exclusive", a).number, 0);
  EXPECT_EQ(show(server, "6", "exclusive", a).number, 1);
  EXPECT_EQ(show(server, "6", "exclusive").number, 1);
  EXPECT_EQ(show(server, "6", "exclusive", b).number, 0);
  EXPECT_EQ(show(server, "7", "exclusive").number, 1);
  EXPECT_EQ(show(server, "7", "exclusive", a).number, 0);
}

TEST_F(redis_fence, a_key_of_another_type_is_an_error_and_stays) {
  server.ask({"SET", key, "something"});
  EXPECT_TRUE(show(server, "1", "exclusive").is_error());
  EXPECT_EQ(server.ask({"GET", key}).text, "something");
}

TEST_F(redis_fence, does_not_expire) {
  show(server, "1", "exclusive");
  EXPECT_EQ(server.ask({"PTTL", key}).number, -1);
}

// Two clients that show tokens in turn, each larger than its own last one: whoever is overtaken is told so, and the
// largest one stays.
TEST_F(redis_fence, two_clients_at_the_same_time) {
  constexpr std::uint64_t rounds = 2000;
  std::vector<std::vector<std::uint64_t>> let_in(2);
  std::vector<std::thread> clients;
  for (std::uint64_t c = 0; c < 2; ++c) {
    clients.emplace_back([&, c] {
      raw_redis own{server_uri()};
      for (std::uint64_t i = 1; i <= rounds; ++i) {
        const auto token = doubles_end + 2 * i + c;
        if (show(own, std::to_string(token), "exclusive").number == 1) let_in[c].push_back(token);
      }
    });
  }
  for (auto& c : clients) c.join();
  const auto last = doubles_end + 2 * rounds + 1;
  EXPECT_EQ(let_in[1].back(), last);
  EXPECT_EQ(server.ask({"HGET", key, "any"}).text, std::to_string(last));
  EXPECT_FALSE(show(server, std::to_string(last - 1), "exclusive").number);
}

}  // namespace
}  // namespace fence_contract
