// What an answer is dated with, and what an operation costs in messages to the server.
#include "sim/etcd/one_client.hpp"

#include <span>

namespace tyer::sim::etcd {
namespace {

// --- dating ---

TEST_F(etcd_scripted, a_grant_counts_from_when_its_request_left_however_late_the_answer) {
  const auto warm = a.next_id();
  ASSERT_NE(granted_in(a.acquire(warm)), nullptr);  // there is a lease now
  a.release(warm);
  a.run_for(1500ms);  // and it is not young any more
  fake.decide = [](const exchange&) { return journey{300ms, 400ms}; };
  const auto before = time.now();
  const auto o = a.acquire(a.next_id());
  ASSERT_NE(granted_in(o), nullptr);
  EXPECT_GE(time.now() - before, 700ms);
  EXPECT_LE(o.sent - before, 1ms);
  EXPECT_LE(granted_in(o)->ttl, ttl);
}

TEST_F(etcd_scripted, a_renewal_counts_from_when_its_request_left_however_late_the_answer) {
  const auto who = a.next_id();
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  a.run_for(2s);
  fake.decide = [](const exchange&) { return journey{200ms, 200ms}; };
  fake.latency = [](std::size_t) { return duration{150ms}; };
  const auto before = time.now();
  const auto o = a.keep(who);
  ASSERT_TRUE(std::holds_alternative<seam::kept>(o.result));
  EXPECT_EQ(std::get<seam::kept>(o.result).ttl, ttl);
  EXPECT_GE(time.now() - before, 300ms);
  EXPECT_LE(o.sent - before, 1ms);
  EXPECT_GE(o.sent, before - ttl / 6);
}

TEST_F(etcd_scripted, a_grant_under_a_lease_that_was_kept_a_while_ago_lasts_no_longer_than_that_proves) {
  ASSERT_NE(granted_in(a.acquire(a.next_id(), false, mode::shared)), nullptr);
  a.run_for(ttl / 6 - 100ms);  // young enough to be counted on
  const auto o = a.acquire(a.next_id(), false, mode::shared);
  ASSERT_NE(granted_in(o), nullptr);
  EXPECT_LE(granted_in(o)->ttl, ttl - (ttl / 6 - 110ms));
}

TEST_F(etcd_scripted, a_call_that_waited_in_line_counts_from_when_it_left_and_not_from_when_it_was_made) {
  fake.decide = [](const exchange&) { return journey{100ms, 100ms}; };
  const auto made = time.now();
  a.raw().acquire(a.wants(a.next_id()), [](outcome<answer>&&) {});
  const auto o = a.release(a.next_id());  // of the same name, so behind it
  EXPECT_TRUE(std::holds_alternative<fate>(o.result));
  EXPECT_GE(o.sent - made, 200ms);
}

TEST_F(etcd_scripted, a_call_that_waited_in_line_for_its_whole_time_fails_at_its_deadline) {
  fake.decide = [](const exchange&) { return journey{.request_lost = true}; };
  const auto made = time.now();
  a.raw().acquire(a.wants(a.next_id()), [](outcome<answer>&&) {});
  const auto o = a.release(a.next_id());
  ASSERT_TRUE(std::holds_alternative<seam::failure>(o.result));
  EXPECT_LE(time.now() - made, timeout + 1ms);
}

// --- what an operation costs ---

using messages = std::map<std::string, int>;

TEST_F(etcd_scripted, requests_of_each_operation) {
  const auto warm = a.next_id();
  a.acquire(warm);
  a.release(warm);
  const auto first = a.next_id(), next = b.next_id();
  EXPECT_EQ(cost([&] { a.acquire(first); }), (messages{{"Txn", 1}}));
  EXPECT_EQ(cost([&] { a.release(first); }), (messages{{"Txn", 1}}));
  a.acquire(first);
  b.acquire(b.next_id());  // its leases: busy
  EXPECT_EQ(cost([&] { b.acquire(next, true); }), (messages{{"Txn", 2}, {"LeaseGrant", 1}, {"Watch", 1}}));
  b.run_for(50ms);
  const auto hand_over = cost([&] {
    a.release(first);
    b.run_until([&] { return !b.woken.empty(); });
    b.acquire(next, true);
    b.run_for(50ms);
  });
  EXPECT_EQ(hand_over, (messages{{"Txn", 3}}));
  EXPECT_EQ(cost([&] { b.release(next); }), (messages{{"Txn", 1}}));
}

TEST_F(etcd_scripted, requests_that_keep_any_number_of_holds) {
  std::vector<id> all;
  std::vector<std::string> names_of;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(a.next_id());
    names_of.push_back("order/" + std::to_string(i));
  }
  std::vector<seam::target> targets;
  for (std::size_t i = 0; i < all.size(); ++i) targets.push_back({all[i], names_of[i]});
  data.on_write = nullptr;  // a thousand names would be looked at a thousand times
  std::size_t granted = 0;
  for (const auto& t : targets) {
    auto r = a.wants(t.who);
    r.what = t;
    a.raw().acquire(r, [&](outcome<answer>&& o) { granted += granted_in(o) != nullptr ? 1 : 0; });
  }
  ASSERT_TRUE(a.run_until([&] { return granted == all.size(); }));
  const auto keep_all = [&] {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < targets.size(); i += 100) {
      a.raw().keep(std::span{targets}.subspan(i, 100), fate::holding, ttl,
                   [&](outcome<seam::kept>&& o) { kept += std::get<seam::kept>(o.result).fates.size(); });
    }
    ASSERT_TRUE(a.run_until([&] { return kept == all.size(); }));
  };
  a.run_for(ttl / 3);                                                         // by now they are watched
  EXPECT_EQ(cost(keep_all), (messages{{"LeaseKeepAlive", 1}, {"Txn", 10}}));  // read once, under the watch
  a.run_for(ttl / 3);
  EXPECT_EQ(cost(keep_all), (messages{{"LeaseKeepAlive", 1}}));
  // It was: each hold was read once in five sixths of its ttl.
  const auto of_two_ttls = cost([&] {
    for (int i = 0; i < 6; ++i) {
      a.run_for(ttl / 3);
      keep_all();
    }
  });
  EXPECT_EQ(of_two_ttls, (messages{{"LeaseKeepAlive", 6}, {"Range", 3}, {"Watch", 3}}));
}

TEST_F(etcd_scripted, requests_of_a_conversion_and_a_question) {
  const auto who = a.next_id();
  a.acquire(who);
  const auto convert = [&](mode to) {
    a.call<answer>([&](auto reply) { a.raw().convert({who, "order"}, to, timeout, std::move(reply)); });
  };
  EXPECT_EQ(cost([&] { convert(mode::shared); }), (messages{{"Range", 1}, {"Txn", 1}}));
  EXPECT_EQ(cost([&] { convert(mode::exclusive); }), (messages{{"Range", 1}, {"Txn", 1}}));
  const auto ask = [&] {
    a.call<std::uint32_t>([&](auto reply) { a.raw().ask("order", "please", std::move(reply)); });
  };
  EXPECT_EQ(cost(ask), (messages{{"Range", 1}, {"Txn", 1}}));
}

}  // namespace
}  // namespace tyer::sim::etcd
