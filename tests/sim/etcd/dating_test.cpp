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

// A thousand holds, and what it costs to keep them.
struct etcd_many_holds : etcd_scripted {
  std::vector<id> ids;
  std::vector<std::string> names_of;
  std::vector<seam::target> targets;

  void SetUp() override {
    for (int i = 0; i < 1000; ++i) {
      ids.push_back(a.next_id());
      names_of.push_back("order/" + std::to_string(i));
    }
    for (std::size_t i = 0; i < ids.size(); ++i) targets.push_back({ids[i], names_of[i]});
    data.on_write = nullptr;  // a thousand names would be looked at a thousand times
    std::size_t granted = 0;
    for (const auto& t : targets) {
      auto r = a.wants(t.who);
      r.what = t;
      a.raw().acquire(r, [&](outcome<answer>&& o) { granted += granted_in(o) != nullptr ? 1 : 0; });
    }
    ASSERT_TRUE(a.run_until([&] { return granted == ids.size(); }));
    a.run_for(ttl / 3);                                                                    // by now they are watched
    EXPECT_EQ(cost([&] { keep_all(); }), (messages{{"LeaseKeepAlive", 1}, {"Txn", 10}}));  // read once, under the watch
  }
  void keep_all() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < targets.size(); i += 100) {
      a.raw().keep(std::span{targets}.subspan(i, 100), fate::holding, ttl, [&](outcome<seam::kept>&& o) {
        for (const auto is : std::get<seam::kept>(o.result).fates) kept += is == fate::holding ? 1 : 0;
      });
    }
    ASSERT_TRUE(a.run_until([&] { return kept == ids.size(); }));
  }
  messages cost_of_keeping(int times) {
    return cost([&] {
      for (int i = 0; i < times; ++i) {
        a.run_for(ttl / 3);
        keep_all();
      }
    });
  }
};

// It was: each hold was read once in five sixths of its ttl.
TEST_F(etcd_many_holds, are_kept_by_as_many_requests_as_one) {
  EXPECT_EQ(cost_of_keeping(1), (messages{{"LeaseKeepAlive", 1}}));
  EXPECT_EQ(cost_of_keeping(6), (messages{{"LeaseKeepAlive", 6}, {"Range", 3}, {"Watch", 3}}));
}

// It was: etcd does not say how far the watches are while one of them catches up, and was not asked again for as long as a request
// may take. Until then all holds were read together, and on a slow server lost.
TEST_F(etcd_many_holds, were_all_read_when_etcd_once_did_not_say_how_far_the_watches_are) {
  int asked = 0;
  fake.catches_up = [&](std::size_t) { return ++asked % 2 == 1; };
  EXPECT_EQ(cost_of_keeping(7), (messages{{"LeaseKeepAlive", 7}, {"Range", 3}, {"Watch", 6}}));
}

TEST_F(etcd_many_holds, are_read_when_etcd_never_says_how_far_the_watches_are) {
  fake.catches_up = [](std::size_t) { return true; };
  const auto spent = cost_of_keeping(9);
  EXPECT_EQ(spent.at("Txn"), 3 * 10) << "at every third renewal";
  EXPECT_LE(spent.at("Watch"), 3 * 5);
}

// It was: etcd keeps a watch whose beginning was forgotten among those that catch up until it is cancelled, and so never said again how
// far that stream is.
TEST_F(etcd_many_holds, were_all_read_for_ever_after_a_compaction_and_a_broken_connection) {
  b.acquire(b.next_id());
  data.compact();
  const auto before = a.ups();
  fake.cut(0);
  ASSERT_TRUE(a.run_until([&] { return a.ups() > before; }));
  a.run_for(500ms);
  cost_of_keeping(3);  // read once under the new watches
  const auto spent = cost_of_keeping(6);
  EXPECT_FALSE(spent.contains("Txn")) << spent.at("Txn");
}

struct etcd_many_holds_of_an_old_server : etcd_many_holds {
  void SetUp() override {
    fake.versions[0] = "3.5.7";
    fake.cut(0);
    ASSERT_TRUE(a.run_until([&] { return a.version == "3.5.7"; }));
    etcd_many_holds::SetUp();
  }
};

TEST_F(etcd_many_holds_of_an_old_server, are_read_and_it_is_not_asked_how_far_its_watches_are) {
  EXPECT_EQ(cost_of_keeping(6), (messages{{"LeaseKeepAlive", 6}, {"Txn", 2 * 10}})) << "at every third renewal";
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
