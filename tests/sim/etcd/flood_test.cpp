// Thousands of keys that fall due in the same moment: what the server is asked then, and what is left for others.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

struct etcd_flood : etcd_scripted {
  static constexpr int many = 1000;

  void hold_many() {
    data.on_write = nullptr;  // it compares all there is, each time
    int granted = 0;
    std::vector<std::string> names;
    for (int i = 0; i < many; ++i) names.push_back("many/" + std::to_string(i));
    for (const auto& name : names) {
      auto r = a.wants(a.next_id());
      r.what.name = name;
      a.raw().acquire(r, [&](outcome<answer>&& o) { granted += granted_in(o) != nullptr ? 1 : 0; });
    }
    ASSERT_TRUE(a.run_until([&] { return granted == many; })) << granted;
  }
  // As if others kept the leases: no key goes by itself.
  void pass(duration d) {
    for (const auto end = time.now() + d; time.now() < end; a.run_for(std::min<duration>(1s, end - time.now()))) {
      data.renew_leases();
    }
  }
  // Each call takes 20 ms, and how many are under way at once is counted.
  void count_calls() {
    fake.decide = [this](const exchange& e) {
      if (e.client == 0 && e.method == "Txn") {
        ++calls;
        most = std::max(most, ++under_way);
        time.in(20ms, [this] { --under_way; });
      }
      return journey{10ms, 10ms};
    };
  }
  int calls = 0, under_way = 0, most = 0;
};

// It was: every key in a call of its own, all at the same moment, before anything else that the client had to say.
TEST_F(etcd_flood, of_keys_that_fall_due_together_asked_the_server_for_all_of_them_at_once) {
  hold_many();
  count_calls();
  pass(ttl + 500ms);
  EXPECT_EQ(judge.left(data.all()), 0u);
  EXPECT_LE(most, static_cast<int>(tyer::etcd::overdue::sweeps_max));
  EXPECT_LE(calls, many / static_cast<int>(tyer::etcd::overdue::keys_at_once) + 2);
}

// It was: they were asked for all the same, twice a second, and stood before the one probe that would have found the server.
TEST_F(etcd_flood, of_keys_that_fall_due_in_an_outage_stood_before_the_one_request_that_finds_the_server) {
  hold_many();
  fake.set_up(0, false);
  a.run_for(100ms);
  count_calls();
  pass(ttl + 3s);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(judge.left(data.all()), static_cast<std::size_t>(many));
  fake.set_up(0, true);
  pass(2s);
  EXPECT_EQ(judge.left(data.all()), 0u);
  EXPECT_LE(most, static_cast<int>(tyer::etcd::overdue::sweeps_max));
}

// While nobody answers, nothing more is asked than those few, and not again for half a second.
TEST_F(etcd_flood, of_keys_that_fall_due_before_a_server_that_is_silent_stays_small) {
  hold_many();
  int asked = 0;
  fake.decide = [&](const exchange& e) {
    const bool sweeps = e.client == 0 && e.method == "Txn";
    asked += sweeps ? 1 : 0;
    return journey{.there = 500us, .back = 500us, .refused = sweeps};
  };
  pass(ttl + 100ms);
  asked = 0;
  pass(5s);
  EXPECT_GT(asked, 0);
  EXPECT_LE(asked, 11 * static_cast<int>(tyer::etcd::overdue::sweeps_max));
}

}  // namespace
}  // namespace tyer::sim::etcd
