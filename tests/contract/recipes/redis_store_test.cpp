// The store of <tyer/recipes/redis_store.hpp> on a real server, with a client of the test's own.
#include "contract/recipes/store_cases.hpp"
#include "unit/redis/raw_redis.hpp"

#include <tyer/recipes/redis_store.hpp>
#include <tyer/tyer.hpp>

#include <mutex>
#include <stdexcept>

namespace contract {
namespace {

using tyer::test::raw_redis;
using tyer::test::raw_value;

// Your client library, whichever it is.
class connection {
 public:
  explicit connection(const std::string& uri) : server_(uri) {}

  std::vector<std::string> eval(const std::string& script, const std::vector<std::string>& keys,
                                const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"EVAL", script, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::lock_guard guard{mutex_};
    const raw_value answer = server_.ask(words);
    if (answer.type != '*') throw std::runtime_error(answer.text);
    std::vector<std::string> texts;
    for (const auto& item : answer.items) texts.push_back(item.text);
    return texts;
  }

 private:
  std::mutex mutex_;
  raw_redis server_;
};

std::shared_ptr<tyer::recipes::store> make_store(connection& redis) {
  // [redis_store]
  return std::make_shared<tyer::recipes::redis_store>(
      [&redis](const auto& script, const auto& keys, const auto& arguments) {
        return redis.eval(script, keys, arguments);  // an array of strings
      },
      "shop:");
  // [redis_store]
}

struct in_redis {
  connection redis{tyer::test::server_uri()};
  std::shared_ptr<tyer::recipes::store> made = make_store(redis);
};
INSTANTIATE_TYPED_TEST_SUITE_P(redis, store_contract, in_redis);

TEST(redis_store, an_answer_that_is_none_is_refused) {
  tyer::recipes::redis_store s{[](auto&&...) { return std::vector<std::string>{"OK"}; }};
  EXPECT_THROW(s.find("k"), tyer::error);
  EXPECT_THROW(s.enter("k", pass(1)), tyer::error);
  EXPECT_THROW(s.put("k", pass(1), {"v", 1min}), tyer::error);
  EXPECT_THROW(tyer::recipes::redis_store{nullptr}, tyer::error);
}

TEST(redis_store, what_the_connection_throws_is_passed_on) {
  tyer::recipes::redis_store s{[](auto&&...) -> std::vector<std::string> { throw std::runtime_error("away"); }};
  EXPECT_THROW(s.find("k"), std::runtime_error);
}

TEST(redis_store, a_fence_may_be_kept_for_ever) {
  connection redis{tyer::test::server_uri()};
  tyer::recipes::redis_store s{[&redis](auto&... words) { return redis.eval(words...); },
                               "kept:", std::chrono::milliseconds::max()};
  const auto key = fresh_key();
  EXPECT_TRUE(s.put(key, pass(5), {"v", 1min}));
  EXPECT_FALSE(s.put(key, pass(4), {"older", 1min}));
}

TEST(redis_store, fences_and_values_have_an_end) {
  connection redis{tyer::test::server_uri()};
  const auto store = make_store(redis);
  const auto key = fresh_key();
  ASSERT_TRUE(store->put(key, pass(5), {"v", 1min}));
  raw_redis server{tyer::test::server_uri()};
  const auto names = server.ask({"KEYS", "shop:*" + key});
  ASSERT_EQ(names.items.size(), 2U);
  for (const auto& n : names.items) EXPECT_GT(server.ask({"PTTL", n.text}).number, 0) << n.text;
}

TEST(redis_store, a_prefix_with_half_a_tag_put_value_and_fence_on_two_servers_of_a_cluster) {
  const auto none = [](auto&&...) { return std::vector<std::string>{}; };
  for (const auto* prefix : {"a{b", "{", "a{}b", "}{"}) {
    EXPECT_THROW((tyer::recipes::redis_store{none, prefix}), tyer::error) << prefix;
  }
  for (const auto* prefix : {"", "a", "a}b", "{a}:", "x{a}{"}) {
    EXPECT_NO_THROW((tyer::recipes::redis_store{none, prefix})) << prefix;
  }
}

// A server that loses a lock (FLUSHALL, a failover) lets readers in beside a writer, which is not told before its next renewal.
TEST(cached_on_redis, a_lock_that_the_server_forgot_during_a_change_left_the_old_value_in_the_cache) {
  const tyer::client one{tyer::test::server_uri()}, two{tyer::test::server_uri()};
  const auto cache = std::make_shared<tyer::recipes::memory_store>();
  const tyer::recipes::cached a{one, "forgotten", cache}, b{two, "forgotten", cache};
  std::string database = "old";
  const auto read = [&] { return b.read("k", [&](const tyer::hold&) { return tyer::recipes::fresh{database, 1h}; }); };
  a.write("k", [&](const tyer::hold&) {
    raw_redis{tyer::test::server_uri()}.ask({"FLUSHALL"});
    EXPECT_EQ(read(), "old");
    database = "new";
  });
  EXPECT_EQ(read(), "new");
}

}  // namespace
}  // namespace contract
