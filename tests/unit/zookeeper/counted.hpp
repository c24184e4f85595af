// Three clients of a server that counts what it is asked, and a clock that stands still: whatever is sent belongs to the operation.
#pragma once

#include "core/clock.hpp"
#include "core/id.hpp"
#include "core/uri.hpp"
#include "engine/table.hpp"
#include "engines/zookeeper/lease.hpp"
#include "unit/zookeeper/small_zookeeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tyer::zookeeper::test {

using namespace std::chrono_literals;
using engine::answer;
using engine::fate;
using engine::id;
using engine::milliseconds;
using engine::mode;
template <class T>
using outcome = engine::outcome<T>;

struct still_clock final : core::clock {
  lease_clock::time_point t = lease_clock::now();
  lease_clock::time_point now() const noexcept override { return t; }
  bool flows() const noexcept override { return false; }
};

struct client final : engine::events {
  void wake(const id& who) override { woken.push_back(who); }
  void suspect(const id&) override {}
  void gone(const id& who) override { lost.push_back(who); }
  void asked(const id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const engine::server_facts&) override { is_up = true; }
  void down(const engine::failure&) override {}

  bool is_woken(const id& who) const { return std::ranges::find(woken, who) != woken.end(); }

  bool is_up = false;
  std::vector<id> woken, lost;
  std::unique_ptr<engine::engine> value;
};

struct counted : ::testing::Test {
  void SetUp() override {
    for (client& c : all) start(c);
    ASSERT_TRUE(until([&] { return std::ranges::all_of(all, &client::is_up); }));
    for (client& c : all) {  // the sessions for holds and for places
      const auto holder = ids.next(), place = ids.next();
      acquire(c, holder, mode::exclusive, "warm");
      acquire(c, place, mode::exclusive, "warm");
      release(c, place, "warm");
      release(c, holder, "warm");
    }
    quiet();
  }

  void start(client& c, const std::string& query = {}) {
    auto uri = core::parse_uri("zk://" + server.host() + query);
    ASSERT_FALSE(uri.error) << uri.error.words;
    auto made = ::tyer_engine_zookeeper(uri.value, {"tyer:", &ids, &clock, request_timeout, {}});
    ASSERT_FALSE(made.error) << made.error.words;
    c.value = std::move(made.value);
    c.value->open(c);
  }

  template <class Condition>
  bool until(Condition so) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!so() && std::chrono::steady_clock::now() < end) step();
    return so();
  }
  void step() {
    server.work();
    for (client& c : all) {
      if (c.value) c.value->run(clock.now());
    }
  }
  // Nothing has been asked for a while.
  void quiet() {
    for (int rounds = 0; rounds < 20; ++rounds) {
      const auto before = zoo.asked;
      step();
      if (zoo.asked != before) rounds = 0;
    }
  }
  // What was asked, as soon as it is what is expected.
  template <class F>
  void expect(const requests& expected, F&& f) {
    quiet();
    zoo.asked.clear();
    f();
    until([&] { return zoo.asked == expected; });
    quiet();
    EXPECT_EQ(zoo.asked, expected);
  }

  template <class T, class F>
  std::optional<outcome<T>> call(F&& f) {
    std::optional<outcome<T>> got;
    f([&](outcome<T>&& o) { got.emplace(std::move(o)); });
    EXPECT_TRUE(until([&] { return got.has_value(); }));
    return got;
  }
  static engine::request request(const id& who, mode how = mode::exclusive, std::string_view name = "name") {
    engine::request r;
    r.what = {who, name, how};
    r.ttl = 4s;
    r.waiter_ttl = 1s;
    r.not_after = 5s;
    r.enqueue = true;
    return r;
  }
  std::optional<outcome<answer>> acquire(client& c, const engine::request& r) {
    return call<answer>([&](auto reply) { c.value->acquire(r, std::move(reply)); });
  }
  std::optional<outcome<answer>> acquire(client& c, const id& who, mode how = mode::exclusive,
                                         std::string_view name = "name") {
    return acquire(c, request(who, how, name));
  }
  static std::uint64_t part_in(const std::optional<outcome<answer>>& o) {
    const auto* a = o ? std::get_if<answer>(&o->result) : nullptr;
    const auto* g = a != nullptr ? std::get_if<engine::granted>(a) : nullptr;
    return g != nullptr ? g->part : 0;
  }
  std::optional<outcome<answer>> convert(client& c, const id& who, mode to) {
    return call<answer>([&](auto reply) { c.value->convert({who, "name"}, to, 5s, std::move(reply)); });
  }
  static std::string failure_in(const std::optional<outcome<answer>>& o) {
    const auto* f = o ? std::get_if<engine::failure>(&o->result) : nullptr;
    return f != nullptr ? f->code.message() + ": " + f->words : "";
  }
  // A transaction that is not carried out for a reason that has nothing to do with its nodes.
  void refuse_transactions(std::size_t of) {
    server.says = [of](wire::op what, const wire::reader&) -> std::optional<own_server::words> {
      if (what != wire::op::multi) return std::nullopt;
      wire::writer w;
      for (std::size_t i = 0; i < of; ++i) {
        const std::int32_t error = i == 0 ? wire::quota_exceeded : wire::runtime_inconsistency;
        w.number(-1).flag(false).number(error).number(error);
      }
      return own_server::words{wire::ok, w.number(-1).flag(true).number(-1).take()};
    };
  }
  void steps(int n = 2000) {
    for (; n > 0; --n) step();
  }
  std::optional<outcome<fate>> release(client& c, const id& who, std::string_view name = "name") {
    return call<fate>([&](auto reply) { c.value->release({who, name}, true, std::move(reply)); });
  }
  bool granted(const std::optional<outcome<answer>>& o) {
    const auto* a = o ? std::get_if<answer>(&o->result) : nullptr;
    return a != nullptr && std::holds_alternative<engine::granted>(*a);
  }
  bool queued(const std::optional<outcome<answer>>& o) {
    const auto* a = o ? std::get_if<answer>(&o->result) : nullptr;
    return a != nullptr && std::holds_alternative<engine::queued>(*a);
  }
  // The next has it when the one before lets go.
  void hand_over(client& from, const id& before, client& to, const id& next) {
    release(from, before);
    ASSERT_TRUE(until([&] { return to.is_woken(next); }));
    EXPECT_TRUE(granted(acquire(to, next)));
  }
  void wait(client& one, const id& who) { EXPECT_TRUE(queued(acquire(one, who))); }
  void lock(client& one, const id& who) { EXPECT_TRUE(granted(acquire(one, who))); }
  // Of one that has a place and a hold, the place.
  std::string first_in_line() const {
    auto all = zoo.children(line);
    const auto number = [](const std::string& node) { return node.substr(node.rfind('-')); };
    return line + '/' + *std::ranges::min_element(all, {}, number);
  }
  std::string hold_of(const std::string& place) const { return line + "/x" + place.substr(line.size() + 2) + 'h'; }
  bool is_there(const std::string& path) const {
    const auto all = zoo.children(line);
    return std::ranges::find(all, path.substr(line.size() + 1)) != all.end();
  }
  // One has it, who has waited in line, and the last waits behind it.
  void hand_over_in_line(const id& holder, const id& next, const id& last) {
    lock(a, holder);
    wait(b, next);
    wait(c, last);
    hand_over(a, holder, b, next);
    c.woken.clear();
  }
  // Once, just before a node is read.
  void before_the_reading_of(const std::string& node, std::function<void()> f) {
    zoo.before_reading = [node, f = std::move(f), done = false](wire::op what, const std::string& path) mutable {
      if (what == wire::op::get_data && path == node && !std::exchange(done, true)) f();
    };
  }

  const std::string line = "/tyer/q/tyer%3Aname";
  own_server server;
  small_zookeeper zoo{server};
  still_clock clock;
  milliseconds request_timeout{5s};  // of clients that start from now on
  core::random_ids ids;
  std::deque<client> all = std::deque<client>(3);
  client &a = all[0], &b = all[1], &c = all[2];
};

}  // namespace tyer::zookeeper::test
