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
    by.call<fate>([&](auto reply) { by.raw().evict({who, "order"}, "test", std::move(reply)); });
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
