// An upgrade, and what happens between its look at the others and its write.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

// etcd compares the keys that are there: one that was deleted since is not missed. So the write goes through, as if the other
// reader were still to be waited for.
TEST_F(etcd_scripted, an_upgrade_did_not_hear_of_a_reader_that_left_before_it_was_written) {
  const auto mine = a.next_id(), other = b.next_id();
  ASSERT_NE(granted_in(a.acquire(mine, false, mode::shared)), nullptr);
  ASSERT_NE(granted_in(b.acquire(other, false, mode::shared)), nullptr);
  bool writes = false;
  fake.decide = [&](const exchange& e) {
    if (e.client != 0 || e.method != "Txn") return journey{500us, 500us};
    writes = true;
    return journey{20ms, 500us};
  };
  std::optional<outcome<answer>> said;
  fake.acting = 0;
  a.raw().convert({mine, "order", mode::shared}, mode::exclusive, timeout,
                  [&](outcome<answer>&& o) { said = std::move(o); });
  ASSERT_TRUE(a.run_until([&] { return writes; }));
  EXPECT_EQ(std::get<fate>(b.release(other).result), fate::holding);
  ASSERT_FALSE(said) << "it was quicker";
  ASSERT_TRUE(a.run_until([&] { return said.has_value(); }));
  ASSERT_TRUE(std::holds_alternative<seam::queued>(std::get<answer>(said->result)));
  EXPECT_TRUE(a.run_until([&] { return std::ranges::find(a.woken, mine) != a.woken.end(); }, 1s)) << "nobody told it";
  const auto again = a.call<answer>(
      [&](auto reply) { a.raw().convert({mine, "order", mode::shared}, mode::exclusive, timeout, std::move(reply)); });
  EXPECT_NE(granted_in(again), nullptr);
}

}  // namespace
}  // namespace tyer::sim::etcd
