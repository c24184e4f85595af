// What must not stay at the server, nor be told to anybody: overdue keys, lost writes, the calls of an engine that is gone.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

// --- what is over, and what was perhaps written ---

struct etcd_leftovers : etcd_scripted {
  void keep_for(const seam::target& t, duration d) {
    const auto end = time.now() + d;
    while (time.now() < end) {
      const auto o =
          a.call<seam::kept>([&](auto reply) { a.raw().keep({&t, 1}, fate::holding, ttl, std::move(reply)); });
      const auto* kept = std::get_if<seam::kept>(&o.result);
      EXPECT_TRUE(kept == nullptr || kept->fates.front() == fate::holding);
      a.run_for(kept != nullptr ? 500ms : 50ms);
    }
  }
  // Another name, by the same lease, which so lives on.
  seam::target hold_another() {
    auto r = a.wants(a.next_id());
    r.what.name = "another";
    EXPECT_NE(granted_in(a.call<answer>([&](auto reply) { a.raw().acquire(r, std::move(reply)); })), nullptr);
    return r.what;
  }
};

// It was: whoever saw that a key of its own was overdue forgot it as soon as it had asked for its deletion. If that request came
// to nothing, the key stayed for as long as the lease was kept for others.
TEST_F(etcd_leftovers, an_overdue_key_whose_deletion_was_refused_is_deleted_all_the_same) {
  const auto other = hold_another();
  const auto who = a.next_id();
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  bool refuses = true;
  fake.decide = [&](const exchange& e) {
    pb::TxnRequest t;
    t.ParseFromString(e.request);
    const bool sweeps = e.method == "Txn" && t.success_size() > 0 && t.success(0).has_request_txn();
    const bool deletes =
        sweeps || (e.method == "Txn" && t.success_size() > 0 && t.success(0).has_request_delete_range());
    return journey{.there = 500us, .back = 500us, .refused = refuses && deletes};
  };
  keep_for(other, ttl + 100ms);  // nobody keeps the first
  ASSERT_TRUE(is_written(who));
  EXPECT_NE(failure_in(a.acquire(a.next_id())), nullptr);  // it sees the key that is overdue
  refuses = false;
  keep_for(other, 3s);
  EXPECT_FALSE(is_written(who));
}

TEST_F(etcd_leftovers, a_write_whose_answer_was_lost_is_taken_back_when_it_would_be_over) {
  const auto other = hold_another();
  const auto who = a.next_id();
  bool strikes = true;
  fake.decide = [&](const exchange& e) {
    const bool lost = strikes && e.client == 0 && e.method == "Txn";
    return journey{.there = 500us, .back = 500us, .answer_lost = lost};
  };
  EXPECT_NE(failure_in(a.acquire(who)), nullptr);  // and whoever asked has forgotten it
  strikes = false;
  ASSERT_TRUE(is_written(who));
  keep_for(other, ttl + 1s);
  EXPECT_FALSE(is_written(who));
}

// It was: that a request for it had an answer at last made the engine forget that an earlier one had none.
TEST_F(etcd_leftovers, a_late_write_of_a_request_that_was_repeated_is_taken_back_after_the_release) {
  const auto other = hold_another();
  const auto who = a.next_id();
  bool strikes = true;
  fake.decide = [&](const exchange& e) {
    const bool late = e.client == 0 && e.method == "Txn" && std::exchange(strikes, false);
    return journey{.there = late ? duration{timeout + 500ms} : duration{500us}, .back = 500us};
  };
  EXPECT_NE(failure_in(a.acquire(who)), nullptr);
  std::optional<outcome<answer>> again;
  for (int tries = 0; tries < 10 && !(again && granted_in(*again)); ++tries) {
    again = a.acquire(who);
    a.run_for(10ms);
  }
  ASSERT_NE(granted_in(*again), nullptr);
  EXPECT_TRUE(std::holds_alternative<fate>(a.release(who).result));
  ASSERT_TRUE(a.run_until([&] { return is_written(who); }, 1s)) << "the old request did not come too late";
  keep_for(other, 2 * timeout + 1s);
  EXPECT_FALSE(is_written(who));
}

// The bug that these are there for, planted: it looks at another key.
TEST_F(etcd_leftovers, a_lost_write_that_is_overlooked_stays) {
  const auto other = hold_another();
  const auto who = a.next_id();
  bool strikes = true;
  fake.decide = [&](const exchange& e) {
    const bool lost = strikes && e.client == 0 && e.method == "Txn";
    return journey{.there = 500us, .back = 500us, .answer_lost = lost};
  };
  fake.bend = [](const exchange& e, std::string& request) {
    pb::TxnRequest t;
    if (e.method != "Txn" || !t.ParseFromString(request) || t.success_size() == 0 || !t.success(0).has_request_txn())
      return;
    for (auto& one : *t.mutable_success()) {
      auto& range = *one.mutable_request_txn()->mutable_failure(0)->mutable_request_range();
      range.set_key(range.key() + "nowhere");
    }
    request = t.SerializeAsString();
  };
  EXPECT_NE(failure_in(a.acquire(who)), nullptr);
  strikes = false;
  keep_for(other, ttl + 1s);
  EXPECT_TRUE(is_written(who));
}

// --- leases ---

// It was: with four leases at hand a lock lived by any that was long enough, for hours after its client had died.
TEST_F(etcd_leftovers, a_short_hold_of_one_that_died_stayed_for_the_ttl_of_its_other_locks) {
  one_client c{time, fake, all};
  const auto hold = [&](const std::string& name, milliseconds length) {
    auto r = c.wants(c.next_id());
    r.what.name = name;
    r.ttl = length;
    EXPECT_NE(granted_in(c.call<answer>([&](auto reply) { c.raw().acquire(r, std::move(reply)); })), nullptr);
    return r.what.who;
  };
  for (int i = 1; i <= 20; ++i) hold("long/" + std::to_string(i), i * 100s);
  const auto who = hold("order", 2s);
  c.destroy();
  ASSERT_TRUE(is_written(who));
  a.run_for(4s);
  EXPECT_FALSE(is_written(who));
}

// It was: a lease that is longer than it was asked for, as where an election takes long, was not known again.
TEST_F(etcd_leftovers, a_server_that_grants_longer_leases_was_asked_for_one_with_each_lock) {
  fake.bend = [](const exchange& e, std::string& request) {
    pb::LeaseGrantRequest r;
    if (e.method != "LeaseGrant" || !r.ParseFromString(request)) return;
    r.set_ttl(std::max<std::int64_t>(r.ttl(), 30));
    request = r.SerializeAsString();
  };
  const auto all_of_them = cost([&] {
    for (int i = 0; i < 4; ++i) {
      const auto who = a.next_id();
      ASSERT_NE(granted_in(a.acquire(who)), nullptr);
      a.release(who);
    }
  });
  EXPECT_EQ(all_of_them.at("LeaseGrant"), 1);
}

// --- the end of an engine ---

// It was: the lease's end of the engine told those who waited for it, whose replies had been dropped already.
TEST_F(etcd_scripted, an_engine_that_is_destroyed_while_a_lease_is_being_kept_answers_nobody) {
  const auto who = a.next_id();
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  a.run_for(2s);
  bool told = false;
  const seam::target t{who, "order"};
  a.raw().keep({&t, 1}, fate::holding, ttl, [&](outcome<seam::kept>&&) { told = true; });
  a.destroy();
  b.run_for(2s);
  EXPECT_FALSE(told);
}

}  // namespace
}  // namespace tyer::sim::etcd
