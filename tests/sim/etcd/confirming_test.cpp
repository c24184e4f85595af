// Whether a hold stands now, while the server that a client is with lags behind the others. It forwards what renews a lease to
// the leader, and has nothing to tell to those who watch.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

using layout = one_client::layout;
struct etcd_confirming : etcd_scripted {
  fate said(const outcome<seam::kept>& o) {
    const auto* k = std::get_if<seam::kept>(&o.result);
    return k != nullptr && k->fates.size() == 1 ? k->fates[0] : fate::unknown;
  }
  // Held, renewed, and watched.
  id held(one_client& by) {
    const auto who = by.next_id();
    EXPECT_NE(granted_in(by.acquire(who)), nullptr);
    by.run_for(ttl / 3);
    EXPECT_EQ(said(by.keep(who)), fate::holding);
    by.run_for(50ms);
    return who;
  }
  void break_it(one_client& by, const id& who) {
    const auto o = by.call<fate>([&](auto reply) { by.raw().evict({who, "order"}, "test", std::move(reply)); });
    const auto* was = std::get_if<fate>(&o.result);
    ASSERT_NE(was, nullptr) << std::get<seam::failure>(o.result).words;
    EXPECT_EQ(*was, fate::holding);
  }
};

TEST_F(etcd_confirming, a_hold_that_was_broken_behind_a_server_that_lags_does_not_stand) {
  const auto who = held(a);
  fake.lags = [](std::size_t client) { return client == 0; };
  break_it(b, who);
  ASSERT_NE(granted_in(b.acquire(b.next_id())), nullptr) << "another has it";
  EXPECT_EQ(said(a.confirm(who)), fate::gone);
}

TEST_F(etcd_confirming, a_hold_that_was_broken_behind_a_server_that_lags_is_lost_soon_after_its_ttl) {
  const auto who = held(a);
  fake.lags = [](std::size_t client) { return client == 0; };
  break_it(b, who);
  const auto broken = time.now();
  while (said(a.keep(who)) == fate::holding && time.now() - broken < 3 * ttl) a.run_for(ttl / 3);
  EXPECT_LE(time.now() - broken, ttl * 4 / 3 + 100ms);
}

// --- a server that says how far its watches are before it has told all until there ---

struct etcd_ahead : etcd_confirming {
  // It is told that its hold is lost, after this long.
  duration lost_after(one_client& by, std::size_t client, one_client& breaker) {
    const auto who = held(by);
    fake.answers_ahead = [](std::size_t) { return true; };
    fake.lags = [client](std::size_t c) { return c == client; };  // the event is still to be sent
    break_it(breaker, who);
    const auto broken = time.now();
    while (said(by.keep(who)) == fate::holding && time.now() - broken < 5 * ttl) by.run_for(ttl / 3);
    return time.now() - broken;
  }
  static constexpr auto soon = ttl * 4 / 3 + 100ms;
};

TEST_F(etcd_ahead, an_old_server_is_not_believed) {
  fake.versions[0] = "3.5.7";
  one_client c{time, fake, all};
  EXPECT_LE(lost_after(c, 2, b), soon);
}

TEST_F(etcd_ahead, a_server_that_does_not_say_its_version_is_not_believed) {
  fake.versions[0].clear();
  one_client c{time, fake, all};
  EXPECT_LE(lost_after(c, 2, b), soon);
}

// The other one keeps the order, and it is that one's version that was known until then.
TEST_F(etcd_ahead, an_old_server_of_a_mixed_cluster_is_not_believed_after_a_newer_one) {
  fake.versions = {"3.5.16", "3.4.24", "3.5.16"};
  const auto two = [](auto& of) { of.servers.push_back({of.servers.front().host, 1}); };
  one_client c{time, fake, all, two}, d{time, fake, all, two};
  ASSERT_EQ(c.version, "3.5.16");
  c.release(held(c));
  fake.set_up(0, false);
  ASSERT_TRUE(c.run_until([&] { return c.version == "3.4.24" && d.version == "3.4.24"; }, 5s));
  EXPECT_LE(lost_after(c, 2, d), soon);
}

// An address behind which there are several: who answered the question for the version is not who watches.
TEST_F(etcd_ahead, a_member_other_than_the_one_that_said_its_version_is_not_believed) {
  one_client c{time, fake, all};
  fake.watched_by = 2;
  EXPECT_LE(lost_after(c, 2, b), soon);
}

// Else what is tested here would be nothing.
TEST_F(etcd_ahead, a_server_that_says_it_keeps_the_order_and_does_not_is_believed) {
  one_client c{time, fake, all};
  EXPECT_GT(lost_after(c, 2, b), 2 * ttl);
}

TEST_F(etcd_confirming, is_one_round_trip_however_many_wait) {
  const auto who = held(a);
  for (int i = 0; i < 5; ++i) b.acquire(b.next_id(), true);
  a.run_for(800ms);  // those who wait look out for each other now
  fake.decide = [](const exchange&) { return journey{50ms, 50ms}; };
  fake.latency = [](std::size_t) { return duration{50ms}; };
  a.run_for(200ms);
  const auto before = time.now();
  outcome<seam::kept> o;
  EXPECT_EQ(cost([&] { o = a.confirm(who); }), (messages{{"Txn", 1}, {"LeaseKeepAlive", 1}}));
  EXPECT_EQ(said(o), fate::holding);
  EXPECT_GE(o.sent, before) << "dated with the question";
  EXPECT_LE(time.now() - before, 110ms);
}

TEST_F(etcd_confirming, of_a_lock_of_gos_is_one_round_trip_too) {
  one_client go{time, fake, all, {}, 20s, layout::gos};
  const auto who = held(go);
  fake.decide = [](const exchange&) { return journey{50ms, 50ms}; };
  fake.latency = [](std::size_t) { return duration{50ms}; };
  go.run_for(200ms);
  const auto before = time.now();
  EXPECT_EQ(said(go.confirm(who)), fate::holding);
  EXPECT_LE(time.now() - before, 110ms);
  fake.lags = [](std::size_t) { return true; };
  one_client other{time, fake, all, {}, 20s, layout::gos};
  break_it(other, who);
  EXPECT_EQ(said(go.confirm(who)), fate::gone);
}

}  // namespace
}  // namespace tyer::sim::etcd
