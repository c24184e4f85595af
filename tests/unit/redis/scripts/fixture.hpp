// Every branch of every script, on a real server, through a client that knows nothing of the engine.
#pragma once

#include "engines/redis/locks/answers.hpp"
#include "engines/redis/locks/commands.hpp"
#include "engines/redis/locks/keys.hpp"
#include "engines/redis/scripts/scripts.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace tyer::test {

using namespace std::chrono_literals;
using namespace std::string_literals;
using redis::script;
namespace scripts = redis::scripts;
using std::chrono::microseconds;
using std::chrono::milliseconds;

inline const std::string key = redis::keys{"tyer:"}.state("n"), queue = key + "q", waiters = key + "w",
                         holders = key + "h";
inline const std::string other = redis::keys{"tyer:"}.state("other");
inline constexpr microseconds never{static_cast<std::int64_t>(redis::exact_max)};

inline std::string make_id(char client, int serial) {
  std::string i(16, client);
  i[15] = static_cast<char>(serial);
  return i;
}
inline const std::string ann = make_id('A', 1), bob = make_id('B', 1), cid = make_id('C', 1), dee = make_id('D', 1);

// Short, but a machine that is busy with other things does not take that long from one call to the next.
constexpr milliseconds brief{1000};

struct how {
  milliseconds ttl = 10s, place = 3s;
  microseconds not_after = never;
  std::uint64_t seen = 0;
  milliseconds live = 24h;
  std::uint32_t most = 100;
  std::string owner = "somebody";
  engine::mode as = engine::mode::exclusive;
  milliseconds delay = 0ms;
  std::uint32_t take = 1, capacity = 1;
};

inline bool is_part(const std::string& answer) { return !answer.empty() && answer[0] >= '0' && answer[0] <= '9'; }
inline std::uint64_t part_of(const std::string& answer) {
  EXPECT_TRUE(is_part(answer)) << answer;
  return is_part(answer) ? std::stoull(answer) : 0;
}

class redis_scripts : public testing::Test {
 protected:
  explicit redis_scripts(const std::string& uri = server_uri()) : server(uri) {
    server.ask({"FLUSHALL"});
    for (const script* s : scripts::all)
      EXPECT_EQ(server.ask({"SCRIPT", "LOAD", std::string{s->text}}).text, s->sha1) << s->name;
  }

  raw_value call(const script& s, std::vector<std::string> words) {
    words.insert(words.begin(), {"EVALSHA", std::string{s.sha1}});
    return server.ask(words);
  }
  std::string acquire(const std::string& who, const how& h = {}) {
    const auto v = call(scripts::acquire, {"1", key, who + h.owner, packed(h)});
    EXPECT_FALSE(v.is_error()) << v.text;
    return v.text;
  }
  static std::string packed(const how& h) {
    return redis::pack({h.ttl, h.place, h.not_after, h.seen, h.live, h.most, h.as, h.delay, h.take, h.capacity});
  }
  std::string share(const std::string& who, how h = {}) {
    h.as = engine::mode::shared;
    return acquire(who, h);
  }
  // The slots, or another answer than a grant.
  std::string permits(const std::string& who, std::uint32_t take, std::uint32_t capacity, how h = {}) {
    h.as = engine::mode::permit;
    h.take = take;
    h.capacity = capacity;
    const auto answer = acquire(who, h);
    return answer[0] == 's' ? answer.substr(answer.find(' ') + 1) : answer;
  }
  std::string attempt(const std::string& who) { return acquire(who, {.place = 0ms}); }
  std::string release(const std::string& who) { return call(scripts::release, {"1", key, who}).text; }
  std::string release_unclean(const std::string& who) { return call(scripts::release, {"1", key, who, "u"}).text; }
  std::string convert(const std::string& who, engine::mode to, microseconds not_after = never) {
    redis::commands c{redis::keys{"tyer:"}, 24h, 100};
    const engine::target t{core::id::from(who), "n"};
    std::vector<std::string> words;
    for (const auto word : c.convert(t, to, not_after)) words.emplace_back(word);
    return call(scripts::convert, words).text;
  }
  std::string lift(const std::string& who, std::uint64_t part) {
    redis::commands c{redis::keys{"tyer:"}, 24h, 100};
    const engine::target t{core::id::from(who), "n"};
    std::vector<std::string> words;
    for (const auto word : c.lift(t, part)) words.emplace_back(word);
    return call(scripts::lift, words).text;
  }
  std::vector<std::string> shown() {
    std::vector<std::string> words;
    for (const auto& item : call(scripts::show, {"1", key, "10"}).items) words.push_back(item.text);
    return words;
  }
  std::string evict(const std::string& who) { return call(scripts::evict, {"1", key, who}).text; }
  std::string keep_hold(const std::string& who, milliseconds ttl = 10s) {
    return call(scripts::keep_holds, {"1", key, std::to_string(ttl.count()), "86400000", who}).text;
  }
  std::string keep_waiter(const std::string& who, milliseconds place = 3s) {
    return call(scripts::keep_waiters, {"1", key, std::to_string(place.count()), "86400000", who}).text;
  }
  // Everything there is of the name, as the server would write it to its disk.
  std::map<std::string, std::string> kept() {
    std::map<std::string, std::string> all;
    for (const auto& k : {key, queue, waiters, holders}) all[k] = server.ask({"DUMP", k}).text;
    return all;
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
  void acquire_other() { call(scripts::acquire, {"1", other, bob, packed({})}); }
  void set_expired_holder() { EXPECT_PRED1(is_part, acquire(ann, {.ttl = 1ms})); }

  raw_redis server;
};

}  // namespace tyer::test
