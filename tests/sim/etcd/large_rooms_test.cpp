// Names at which more hold or wait than a transaction may have operations: 128 with etcd's default settings.
#include "sim/etcd/handover.hpp"

#include <vector>

namespace tyer::sim::etcd {
namespace {

struct etcd_large_rooms : etcd_hand_over {
  static constexpr int many = 300;

  void SetUp() override {
    data.on_write = nullptr;  // it would look at all of them each time
    for (int i = 0; i < many; ++i) {
      readers.push_back(a.next_id());
      ASSERT_NE(granted_in(a.acquire(readers.back(), true, mode::shared)), nullptr);
    }
  }
  // The process stands still for longer than that, while others keep the lease, as it were.
  void oversleep() {
    fake.decide = [](const exchange& e) { return journey{500us, 500us, e.client == 0 && e.method == "Txn"}; };
    for (const auto end = time.now() + ttl + 10ms; time.now() < end; a.run_for(100ms)) data.renew_leases();
    ASSERT_EQ(judge.left(data.all()), static_cast<std::size_t>(many));
    // What takes them away is slow; whatever else it says is not.
    fake.decide = [](const exchange& e) {
      pb::TxnRequest t;
      const bool sweeps = e.client == 0 && e.method == "Txn" && t.ParseFromString(e.request) && t.success_size() > 0 &&
                          t.success(0).has_request_txn();
      return journey{.there = sweeps ? duration{200ms} : duration{500us}, .back = 500us};
    };
  }
  std::vector<id> readers;
};

// It was: refused, "too many operations in txn request", and nobody was asked.
TEST_F(etcd_large_rooms, of_readers_could_not_be_asked) {
  const auto o = b.call<std::uint32_t>([&](auto reply) { b.raw().ask("order", "please", std::move(reply)); });
  ASSERT_TRUE(std::holds_alternative<std::uint32_t>(o.result));
  EXPECT_EQ(std::get<std::uint32_t>(o.result), static_cast<std::uint32_t>(many));
  int asked = 0;
  for (const auto& [key, kv] : data.all()) {
    const auto record = tyer::etcd::read_value(kv.value());
    asked += record && record->asked_count() == 1 ? 1 : 0;
  }
  EXPECT_EQ(asked, many) << "each once";
}

// It was: whoever wanted the lock first was refused for good, with the words of etcd.
TEST_F(etcd_large_rooms, of_holds_that_were_overdue_kept_their_client_from_the_lock) {
  oversleep();
  const auto who = a.next_id();
  const auto o = a.acquire(who, true);
  EXPECT_EQ(failure_in(o), nullptr) << failure_in(o)->words;
  EXPECT_NE(granted_in(o), nullptr);
}

TEST_F(etcd_large_rooms, of_holds_that_were_overdue_could_not_be_given_back) {
  oversleep();
  const auto o = a.release(readers.front());
  ASSERT_TRUE(std::holds_alternative<fate>(o.result));
  EXPECT_EQ(std::get<fate>(o.result), fate::gone);
}

}  // namespace
}  // namespace tyer::sim::etcd
