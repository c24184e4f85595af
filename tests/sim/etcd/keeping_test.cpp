// What it costs to keep what a client does not know: the ids of another, as after a restart.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

struct etcd_keeping : etcd_scripted {
  void count_reads_of(std::size_t client) {
    fake.on_call = [this, client](const exchange& e) {
      pb::TxnRequest t;
      if (e.client != client || e.method != "Txn" || !t.ParseFromString(e.request)) return;
      ++transactions;
      for (const auto& o : t.success()) reads += o.has_request_range() ? 1 : 0;
    };
  }
  void expect_few_reads(one_client& by, std::size_t client, int per_own) {
    std::vector<seam::target> all;
    const auto hold = [&](one_client& c, const char* name) {
      auto r = c.wants(c.next_id(), true);
      r.what.name = name;
      c.call<answer>([&](auto reply) { c.raw().acquire(r, std::move(reply)); });
      all.push_back(r.what);
    };
    one_client other{time, fake, all_clients(),
                     {},   20s,  per_own == 1 ? one_client::layout::tyers : one_client::layout::gos};
    for (const char* name : {"one", "two"}) {
      for (int n = 0; n < 20; ++n) hold(other, name);
    }
    hold(by, "own");
    all.push_back({by.next_id(), "one"});  // of nobody
    count_reads_of(client);
    const auto o =
        by.call<seam::kept>([&](auto reply) { by.raw().keep(all, fate::waiting, waiter_ttl, std::move(reply)); });
    const auto* kept = std::get_if<seam::kept>(&o.result);
    ASSERT_NE(kept, nullptr);
    ASSERT_EQ(kept->fates.size(), all.size());
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(kept->fates[i], i % 20 == 0 ? fate::holding : fate::waiting) << i;
    }
    EXPECT_EQ(kept->fates[40], fate::holding);
    EXPECT_EQ(kept->fates[41], fate::gone);
    EXPECT_EQ(transactions, 1);
    EXPECT_EQ(reads, 2 + per_own);
  }
  std::vector<one_client*>& all_clients() { return etcd_scripted::all; }
  int transactions = 0, reads = 0;
};

// It was: all keys of a name were read once for each id.
TEST_F(etcd_keeping, many_of_a_name_that_are_not_known_read_it_for_each_of_them) { expect_few_reads(a, 0, 1); }

TEST_F(etcd_keeping, many_of_a_name_that_are_not_known_read_it_for_each_of_them_with_gos_layout) {
  one_client go{time, fake, all_clients(), {}, 20s, one_client::layout::gos};
  expect_few_reads(go, 2, 2);
}

}  // namespace
}  // namespace tyer::sim::etcd
