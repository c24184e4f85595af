// Keys that are used again: what an old request writes or deletes late is never taken for what lies there now.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

bool writes(const exchange& e) {
  pb::TxnRequest t;
  if (e.method != "Txn" || !t.ParseFromString(e.request)) return false;
  return std::ranges::any_of(t.success(), [](const auto& o) { return o.has_request_put(); });
}
bool takes_place(const exchange& e) {
  pb::TxnRequest t;
  return writes(e) && t.ParseFromString(e.request) && t.compare(0).range_end().empty();
}
bool deletes(const exchange& e) {
  pb::TxnRequest t;
  if (e.method != "Txn" || !t.ParseFromString(e.request) || t.success_size() == 0) return false;
  return t.success(0).has_request_delete_range() || t.success(0).has_request_txn();
}
struct etcd_numbers : etcd_scripted {
  // The first such request of the first client arrives so much later than its caller waits for it.
  void delay_first(bool (*such)(const exchange&), duration by) {
    fake.decide = [such, by, struck = false](const exchange& e) mutable {
      const bool late = e.client == 0 && such(e) && !std::exchange(struck, true);
      return journey{.there = late ? timeout + by : duration{500us}, .back = 500us};
    };
  }
  // Others keep the leases, as it were: no key goes by itself.
  void pass(duration d) {
    for (const auto end = time.now() + d; time.now() < end; a.run_for(250ms)) data.renew_leases();
  }
  bool acquire_at_last(const id& who) {
    for (int tries = 0; tries < 50; ++tries, pass(250ms)) {
      if (granted_in(a.acquire(who)) != nullptr) return true;
    }
    return false;
  }
  bool enqueue_at_last(const id& who) {
    for (int tries = 0; tries < 50; ++tries, a.run_for(10ms)) {
      if (queued_in(a.acquire(who, true)) != nullptr) return true;
    }
    return false;
  }
  std::string acquired_at(const id& who) {
    EXPECT_TRUE(acquire_at_last(who));
    return where_is(who).value_or("nowhere");
  }
  std::string acquired_and_released_at(const id& who) {
    const auto key = acquired_at(who);
    EXPECT_TRUE(std::holds_alternative<fate>(a.release(who).result));
    EXPECT_FALSE(is_written(who));
    return key;
  }
  void put(const std::string& key, const pb::Record& record, std::int64_t lease = 0) {
    pb::TxnRequest t;
    auto& p = *t.add_success()->mutable_request_put();
    p.set_key(key);
    p.set_value(tyer::etcd::write_value(record));
    p.set_lease(lease);
    pb::TxnResponse answer;
    ASSERT_TRUE(data.transact(t, answer).ok());
  }
  void remove(const std::string& key) {
    pb::TxnRequest t;
    t.add_success()->mutable_request_delete_range()->set_key(key);
    pb::TxnResponse answer;
    ASSERT_TRUE(data.transact(t, answer).ok());
  }
  pb::Record record_at(const std::string& key) const { return *tyer::etcd::read_value(data.all().at(key).value()); }

  const id first = a.next_id(), second = a.next_id(), third = a.next_id();
};

TEST_F(etcd_numbers, a_hold_gets_the_key_of_the_one_before_it_and_a_create_revision_of_its_own) {
  const auto o = a.acquire(first);
  const auto was = granted_in(o)->key;
  EXPECT_EQ(where_is(first), was.key);
  a.release(first);
  const auto next = a.acquire(second);
  EXPECT_EQ(granted_in(next)->key.key, was.key);
  EXPECT_GT(granted_in(next)->key.created, was.created);
  EXPECT_EQ(data.all().size(), 1u);
}

TEST_F(etcd_numbers, of_two_at_once_each_has_its_own) {
  EXPECT_NE(granted_in(a.acquire(first, false, mode::shared)), nullptr);
  EXPECT_NE(granted_in(a.acquire(second, false, mode::shared)), nullptr);
  EXPECT_NE(where_is(first), where_is(second));
}

// --- what comes late ---

TEST_F(etcd_numbers, one_whose_write_comes_late_rests_until_that_was_taken_back) {
  const auto usual = acquired_and_released_at(third);
  delay_first(writes, 3s);
  EXPECT_NE(failure_in(a.acquire(first)), nullptr);  // and nobody asks for it again
  EXPECT_NE(acquired_and_released_at(second), usual);
  ASSERT_TRUE(a.run_until([&] { return is_written(first); }, 4s)) << "the old request did not come late";
  EXPECT_EQ(where_is(first), usual);
  EXPECT_NE(acquired_and_released_at(second), usual) << "what lay there was not its own";
  EXPECT_FALSE(is_written(first));
  pass(20s);
  EXPECT_EQ(acquired_and_released_at(third), usual);
}

TEST_F(etcd_numbers, one_whose_place_in_the_queue_comes_late_rests_too) {
  ASSERT_NE(granted_in(b.acquire(b.next_id())), nullptr);
  delay_first(takes_place, 2s);
  EXPECT_NE(failure_in(a.acquire(first, true)), nullptr);
  ASSERT_TRUE(enqueue_at_last(second));
  const auto at = where_is(second);
  ASSERT_TRUE(a.run_until([&] { return is_written(first); }, 4s)) << "the old request did not come late";
  EXPECT_EQ(where_is(second), at);
  EXPECT_NE(where_is(first), at);
  pass(ttl + 2s);
  EXPECT_FALSE(is_written(first));
}

TEST_F(etcd_numbers, a_release_that_comes_late_deletes_nothing_of_the_next) {
  const auto key = acquired_at(first);
  delay_first(deletes, 2s);
  EXPECT_TRUE(std::holds_alternative<seam::failure>(a.release(first).result));
  EXPECT_TRUE(a.run_until([&] { return std::holds_alternative<fate>(a.release(first).result); }, 2s));
  EXPECT_EQ(acquired_at(second), key);
  pass(4s);
  EXPECT_EQ(where_is(second), key);
  EXPECT_EQ(std::get<seam::kept>(a.keep(second).result).fates.front(), fate::holding);
}

TEST_F(etcd_numbers, a_deletion_of_what_was_overdue_that_comes_late_deletes_nothing_of_the_next) {
  const auto key = acquired_at(first);
  delay_first(deletes, 2s);
  for (const auto end = time.now() + ttl + timeout + 1s; time.now() < end && is_written(first);) pass(100ms);
  ASSERT_FALSE(is_written(first));
  EXPECT_EQ(acquired_at(second), key);
  pass(3s);
  EXPECT_EQ(where_is(second), key);
}

// --- what is done twice ---

TEST_F(etcd_numbers, a_request_that_is_done_twice_is_one_hold_and_leaves_the_number_free) {
  fake.decide = [wrote = false, deleted = false](const exchange& e) mutable {
    const bool twice = (writes(e) && !std::exchange(wrote, true)) || (deletes(e) && !std::exchange(deleted, true));
    return journey{.there = 500us, .back = 500us, .repeated = twice};
  };
  const auto key = acquired_at(first);
  EXPECT_EQ(data.all().size(), 1u);
  a.release(first);
  EXPECT_EQ(data.all().size(), 0u);
  EXPECT_EQ(acquired_and_released_at(second), key);
}

TEST_F(etcd_numbers, a_repetition_of_what_was_not_answered_has_the_same_key) {
  fake.decide = [struck = false](const exchange& e) mutable {
    return journey{
        .there = 500us, .back = 500us, .answer_lost = e.client == 0 && writes(e) && !std::exchange(struck, true)};
  };
  EXPECT_NE(failure_in(a.acquire(first)), nullptr);
  const auto key = where_is(first);
  EXPECT_EQ(acquired_at(first), key);
  EXPECT_EQ(data.all().size(), 1u);
}

// It was: what a late request had written again, after the hold was gone, was kept as that hold, with a token that was too old.
TEST_F(etcd_numbers, a_hold_that_was_lost_and_written_again_by_a_late_request_is_not_kept) {
  delay_first(writes, 100ms);
  EXPECT_NE(failure_in(a.acquire(first)), nullptr);
  a.run_until([&] { return a.ups() > 0; }, 1s);
  std::optional<outcome<answer>> again;
  a.run_until([&] { return granted_in(again.emplace(a.acquire(first))) != nullptr; }, 50ms);
  ASSERT_NE(granted_in(*again), nullptr);
  b.call<fate>([&](auto reply) { b.raw().evict({first, "order"}, "", std::move(reply)); });
  ASSERT_FALSE(is_written(first));
  ASSERT_TRUE(a.run_until([&] { return is_written(first); }, 1s, 100us)) << "the old request did not come late";
  const auto kept = a.confirm(first);
  EXPECT_EQ(std::get<seam::kept>(kept.result).fates.front(), fate::gone);
}

// It was: whoever was refused when its place was already written gave its number up at once; so nobody knew the place for its own
// when it was looked for, and it stayed in the queue, was handed the lock, and kept all others out.
TEST_F(etcd_numbers, a_place_that_was_written_before_its_refusal_is_taken_away_in_the_end) {
  const auto permits = [](one_client& of, const id& who, std::uint32_t capacity) {
    auto r = of.wants(who, true, mode::permit);
    r.take = 1;
    r.capacity = capacity;
    return of.call<answer>([&](auto reply) { of.raw().acquire(r, std::move(reply)); });
  };
  const auto holder = b.next_id(), next = b.next_id();
  ASSERT_NE(granted_in(b.acquire(holder)), nullptr);
  ASSERT_NE(queued_in(permits(b, next, 3)), nullptr);
  bool under_way = false;
  fake.decide = [&](const exchange& e) {
    const bool place = e.client == 0 && takes_place(e);
    under_way = under_way || place;
    return journey{.there = place ? duration{100ms} : duration{500us}, .back = 500us};
  };
  std::optional<outcome<answer>> told;
  auto r = a.wants(first, true, mode::permit);
  r.take = 1;
  r.capacity = 5;
  a.raw().acquire(r, [&](outcome<answer>&& o) { told = std::move(o); });
  ASSERT_TRUE(a.run_until([&] { return under_way; }, 1s));
  b.release(holder);  // and hands over to the next, whose permits are others
  ASSERT_TRUE(a.run_until([&] { return told.has_value(); }, 1s));
  ASSERT_NE(failure_in(*told), nullptr);
  ASSERT_TRUE(is_written(first));
  pass(ttl + 20s);
  EXPECT_FALSE(is_written(first));
  b.release(next);
  EXPECT_TRUE(acquire_at_last(second));
}

// It was: what was found was given up if it changed while it was being deleted; and what had changed was that it was its turn.
TEST_F(etcd_numbers, a_place_that_is_handed_the_lock_while_it_is_taken_back_is_taken_back_too) {
  const auto holder = b.next_id();
  ASSERT_NE(granted_in(b.acquire(holder)), nullptr);
  bool under_way = false;
  fake.decide = [&, struck = false](const exchange& e) mutable {
    pb::TxnRequest t;
    const bool sweeps_away = e.client == 0 && e.method == "Txn" && t.ParseFromString(e.request) &&
                             t.success_size() > 0 && t.success(0).has_request_txn() &&
                             t.success(0).request_txn().compare(0).mod_revision() > 0;
    under_way = under_way || sweeps_away;
    return journey{.there = sweeps_away ? duration{100ms} : duration{500us},
                   .back = 500us,
                   .answer_lost = e.client == 0 && takes_place(e) && !std::exchange(struck, true)};
  };
  auto r = a.wants(first, true);
  r.ttl = 30s;  // so that it is looked for when nothing can be written late any more
  const auto o = a.call<answer>([&](auto reply) { a.raw().acquire(r, std::move(reply)); });
  ASSERT_NE(failure_in(o), nullptr);
  ASSERT_TRUE(is_written(first));
  for (const auto end = time.now() + 40s; !under_way && time.now() < end;) {
    data.renew_leases();
    b.keep(holder);
    a.run_until([&] { return under_way; }, 500ms);
  }
  ASSERT_TRUE(under_way) << "it was not taken back";
  b.release(holder);  // and hands over
  ASSERT_TRUE(is_written(first));
  pass(5s);
  EXPECT_FALSE(is_written(first));
  EXPECT_TRUE(acquire_at_last(second));
}

// --- what else lies there ---

TEST_F(etcd_numbers, what_somebody_else_has_written_there_is_left_alone_and_another_number_is_taken) {
  const auto key = acquired_and_released_at(first);
  pb::Record stranger;
  stranger.set_state(pb::Record::HOLDING);
  stranger.set_ttl_ms(1000);
  stranger.set_id("0123456789abcdef");
  put(key, stranger);
  EXPECT_NE(queued_in(a.acquire(second, true)), nullptr);
  EXPECT_NE(where_is(second), key);
  pass(20s);
  EXPECT_TRUE(data.all().contains(key));
  EXPECT_NE(queued_in(a.acquire(third, true)), nullptr);
  remove(key);
  ASSERT_TRUE(a.run_until([&] { return std::ranges::find(a.woken, third) != a.woken.end(); }, 2s));
  EXPECT_NE(granted_in(a.acquire(third, true)), nullptr);
}

// It was: an event was taken for one of the own key whatever its key. A proxy that puts watches together tells of others too.
TEST_F(etcd_numbers, the_end_of_another_key_is_not_the_own_end) {
  fake.bend = [](const exchange& e, std::string& request) {
    pb::WatchRequest r;
    if (e.method != "Watch" || !r.ParseFromString(request) || !r.has_create_request()) return;
    const auto room = tyer::etcd::keys{prefix}.room("order");
    r.mutable_create_request()->set_key(room.from);
    r.mutable_create_request()->set_range_end(room.to);
    request = r.SerializeAsString();
  };
  EXPECT_NE(granted_in(a.acquire(first, false, mode::shared)), nullptr);
  a.run_for(500ms);  // it is watched
  const auto other = b.next_id();
  EXPECT_NE(granted_in(b.acquire(other, false, mode::shared)), nullptr);
  b.release(other);
  a.run_for(50ms);
  EXPECT_TRUE(a.lost.empty());
  EXPECT_EQ(std::get<seam::kept>(a.keep(first).result).fates.front(), fate::holding);
}

// --- a Tyer whose keys end with the id ---

struct etcd_without_numbers : etcd_numbers {
  const id old = id::from("of an old client");
  const std::string key = tyer::etcd::keys{prefix}.seat("order", old);
  pb::Record record(pb::Record::State s) const {
    pb::Record r;
    r.set_state(s);
    r.set_take(1);
    r.set_capacity(1);
    r.set_ttl_ms(6000);
    r.set_waiter_ttl_ms(3000);
    r.set_lease_ms(6000);
    return r;
  }
};

TEST_F(etcd_without_numbers, its_hold_keeps_others_out_until_it_ends) {
  put(key, record(pb::Record::HOLDING), data.grant(6).id());
  EXPECT_NE(queued_in(a.acquire(first, true)), nullptr);
  remove(key);
  ASSERT_TRUE(a.run_until([&] { return !a.woken.empty(); }, 2s));
  EXPECT_NE(granted_in(a.acquire(first, true)), nullptr);
}

TEST_F(etcd_without_numbers, it_is_handed_the_lock_at_its_own_key) {
  ASSERT_NE(granted_in(a.acquire(first)), nullptr);
  put(key, record(pb::Record::WAITING), data.grant(6).id());
  a.release(first);
  ASSERT_TRUE(data.all().contains(key));
  EXPECT_EQ(record_at(key).state(), pb::Record::HANDED_OVER);
  EXPECT_EQ(record_at(key).id(), "");
}

TEST_F(etcd_without_numbers, it_can_be_broken_by_its_id) {
  put(key, record(pb::Record::HOLDING), data.grant(6).id());
  const auto was = a.call<fate>([&](auto reply) { a.raw().evict({old, "order"}, "", std::move(reply)); });
  EXPECT_EQ(std::get<fate>(was.result), fate::holding);
  EXPECT_FALSE(data.all().contains(key));
}

// Whoever takes the end of a key for an id finds one there, and what it writes back is still of the same hold.
TEST_F(etcd_without_numbers, to_it_a_key_with_a_number_is_one_with_an_id) {
  ASSERT_NE(granted_in(a.acquire(first)), nullptr);
  const auto at = *where_is(first);
  const auto last = at.substr(at.rfind('/') + 1);
  EXPECT_EQ(last.size(), 2 * id{}.bytes.size());
  EXPECT_EQ(last.find_first_not_of("0123456789abcdef"), last.npos);
  auto asked = record_at(at);
  asked.set_asked("please");
  asked.set_asked_count(1);
  asked.set_part(asked.part() != 0 ? asked.part() : static_cast<std::uint64_t>(data.all().at(at).mod_revision()) * 128);
  put(at, asked, data.all().at(at).lease());
  EXPECT_EQ(std::get<seam::kept>(a.confirm(first).result).fates.front(), fate::holding);
  EXPECT_EQ(std::get<fate>(a.release(first).result), fate::holding);
  EXPECT_TRUE(data.all().empty());
}

}  // namespace
}  // namespace tyer::sim::etcd
