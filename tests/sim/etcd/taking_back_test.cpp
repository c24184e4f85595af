// What a lost request may have written is taken back, and what is overdue is taken away, while the same id asks again, keeps it
// or is handed it in that very moment.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

constexpr journey quick{.there = 500us, .back = 500us};

bool sweeps(const exchange& e) {
  pb::TxnRequest t;
  return e.method == "Txn" && t.ParseFromString(e.request) && t.success_size() > 0 && t.success(0).has_request_txn();
}
// A deletion, where the others only look.
bool sweeps_away(const exchange& e) {
  pb::TxnRequest t;
  return sweeps(e) && t.ParseFromString(e.request) && t.success(0).request_txn().compare(0).mod_revision() > 0;
}
bool writes(const exchange& e) {
  pb::TxnRequest t;
  if (e.method != "Txn" || !t.ParseFromString(e.request)) return false;
  return std::ranges::any_of(t.success(), [](const auto& o) { return o.has_request_put(); });
}
template <class Which>
const Which* in(const outcome<answer>& o) {
  const auto* a = std::get_if<answer>(&o.result);
  return a != nullptr ? std::get_if<Which>(a) : nullptr;
}

struct etcd_taking_back : etcd_scripted {
  using etcd_scripted::etcd_scripted;

  // As if others kept the leases: no key goes by itself.
  bool pass_until(const std::function<bool()>& ready, duration patience) {
    for (const auto end = time.now() + patience; !ready() && time.now() < end;) {
      data.renew_leases();
      a.run_until(ready, 500ms);
    }
    return ready();
  }
  void pass(duration d) {
    pass_until([end = time.now() + d, this] { return time.now() >= end; }, d);
  }

  // The n-th write of the client is done, and its answer is lost.
  void lose_an_answer(int n, const std::function<void()>& act) {
    fake.decide = [n](const exchange& e) mutable {
      return journey{.there = 500us, .back = 500us, .answer_lost = e.client == 0 && writes(e) && --n == 0};
    };
    act();
    fake.decide = [](const exchange&) { return quick; };
  }
  const seam::granted* acquire_at_last(const id& who) {
    for (int tries = 0; tries < 10; ++tries, a.run_for(10ms)) {
      last = a.acquire(who, true);
      if (const auto* g = granted_in(last)) return g;
    }
    return nullptr;
  }
  outcome<answer> last;
  // Until what a lost request wrote has been found, and its deletion is under way: it takes 400 ms to get there.
  void take_back_slowly() {
    bool under_way = false;
    fake.decide = [&](const exchange& e) {
      const bool slow = e.client == 0 && sweeps_away(e);
      under_way = under_way || slow;
      return journey{.there = slow ? duration{400ms} : duration{500us}, .back = 500us};
    };
    EXPECT_TRUE(pass_until([&] { return under_way; }, ttl + 5s)) << "it was not taken back";
    fake.decide = [](const exchange&) { return quick; };
  }
};

TEST_F(etcd_taking_back, of_a_hold_is_under_way_when_it_is_asked_for_again) {
  const auto who = a.next_id();
  lose_an_answer(1, [&] { EXPECT_NE(failure_in(a.acquire(who)), nullptr); });
  ASSERT_TRUE(is_written(who));
  take_back_slowly();
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  pass(1s);
  EXPECT_TRUE(is_written(who)) << "it was granted, and then deleted";
  EXPECT_NE(in<seam::busy>(b.acquire(b.next_id())), nullptr);
}

// It was: whoever found its place was told so, while the place was being deleted as it was; and nobody told it of that.
TEST_F(etcd_taking_back, of_a_place_that_was_asked_for_again_took_the_place_away) {
  const auto holder = b.next_id(), who = a.next_id();
  ASSERT_NE(granted_in(b.acquire(holder)), nullptr);
  lose_an_answer(2, [&] { EXPECT_NE(failure_in(a.acquire(who, true)), nullptr); });  // of the place, as it is not free
  ASSERT_TRUE(is_written(who));
  b.keep(holder);
  take_back_slowly();
  ASSERT_NE(in<seam::queued>(a.acquire(who, true)), nullptr);
  pass(1s);
  EXPECT_TRUE(is_written(who)) << "it was told that it waits, and then its place was deleted";
}

// It was: a key whose client had stood still was looked for while that client claimed it, and what was found, which the claim had
// just written, was deleted as found. Then the next was granted the lock, beside the one whose claim was answered.
struct etcd_taking_back_unheard : etcd_taking_back {
  etcd_taking_back_unheard() : etcd_taking_back(lie::tells_no_watcher) {}
};
TEST_F(etcd_taking_back_unheard, deleted_what_a_claim_under_way_had_just_written) {
  const auto holder = b.next_id(), who = a.next_id();
  ASSERT_NE(granted_in(b.acquire(holder)), nullptr);
  ASSERT_NE(in<seam::queued>(a.acquire(who, true)), nullptr);
  a.stands_still = true;
  pass(waiter_ttl - 100ms);
  b.release(holder);  // and hands over
  pass(200ms);        // its place is overdue, and is not as it was written
  a.stands_still = false;
  a.run_for(10ms);
  fake.decide = [](const exchange& e) {
    return journey{.there = 500us, .back = e.client == 0 && writes(e) ? duration{900ms} : duration{500us}};
  };
  const auto o = a.acquire(who, true);
  ASSERT_NE(granted_in(o), nullptr);
  pass(1s);
  EXPECT_TRUE(is_written(who)) << "it was granted, and then deleted";
}

// It was: the same if it was the watch that told of the claim, before its answer, as a key of its own that was overdue.
TEST_F(etcd_taking_back, of_an_overdue_key_deleted_what_a_claim_under_way_had_just_written) {
  const auto holder = b.next_id(), who = a.next_id();
  ASSERT_NE(granted_in(b.acquire(holder)), nullptr);
  ASSERT_NE(in<seam::queued>(a.acquire(who, true)), nullptr);
  a.stands_still = true;
  pass(waiter_ttl - 100ms);
  fake.cut(0);
  b.release(holder);  // and hands over
  data.compact();     // so that the client is not told
  pass(200ms);
  const auto ups = a.ups();
  a.stands_still = false;
  ASSERT_TRUE(a.run_until([&] { return a.ups() > ups; }, 5s));
  fake.latency = [](std::size_t) { return 20ms; };  // of the watches
  fake.decide = [](const exchange& e) {
    return journey{.there = 500us, .back = e.client == 0 && writes(e) ? duration{500ms} : duration{500us}};
  };
  ASSERT_NE(acquire_at_last(who), nullptr);
  pass(1s);
  EXPECT_TRUE(is_written(who)) << "it was granted, and then deleted";
}

// It was: what came back after its end was not looked for, should the answer get lost.
TEST_F(etcd_taking_back, of_what_came_back_after_its_end_was_forgotten) {
  const auto who = a.next_id();
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  fake.decide = [](const exchange& e) { return journey{.there = 500us, .back = 500us, .refused = sweeps(e)}; };
  pass(ttl + 100ms);
  ASSERT_TRUE(is_written(who));
  lose_an_answer(1, [&] { EXPECT_NE(failure_in(a.acquire(who)), nullptr); });
  ASSERT_TRUE(is_written(who));
  pass(ttl + 2s);
  EXPECT_FALSE(is_written(who));
}

// It was: that a repetition of what it had been told was answered made the engine forget an older request without an answer.
TEST_F(etcd_taking_back, of_a_late_write_was_forgotten_when_a_grant_was_repeated) {
  const auto who = a.next_id();
  fake.decide = [late = false](const exchange& e) mutable {
    const bool now = e.client == 0 && writes(e) && !std::exchange(late, true);
    return journey{.there = now ? duration{timeout + 500ms} : duration{500us}, .back = 500us};
  };
  EXPECT_NE(failure_in(a.acquire(who)), nullptr);
  ASSERT_NE(acquire_at_last(who), nullptr);
  ASSERT_NE(acquire_at_last(who), nullptr);
  EXPECT_TRUE(std::holds_alternative<fate>(a.release(who).result));
  ASSERT_TRUE(pass_until([&] { return is_written(who); }, 1s)) << "the old request did not come too late";
  pass(2s);
  EXPECT_FALSE(is_written(who));
}

// It was: a hold that was over, and that was being deleted, was kept all the same if the answer came after its end.
TEST_F(etcd_taking_back, of_an_overdue_hold_was_under_way_when_it_was_told_as_kept) {
  const auto who = a.next_id();
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  pass(ttl - 200ms);
  fake.decide = [](const exchange& e) {
    if (sweeps(e)) return journey{.there = 900ms, .back = 500us};
    return journey{.there = 500us, .back = e.method == "Txn" ? duration{500ms} : duration{500us}};
  };
  const auto o = a.keep(who);
  ASSERT_TRUE(is_written(who));
  const auto* told = std::get_if<seam::kept>(&o.result);
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->fates.front(), fate::gone);
  pass(1s);
  EXPECT_FALSE(is_written(who));
}

// It was: what had been read before a grant, and came after it, made the engine forget the grant. Then nobody took it away
// when it was over; or it was taken back at once, as the late write of an old request.
TEST_F(etcd_taking_back, of_an_overdue_hold_was_forgotten_for_a_look_that_was_older_than_its_grant) {
  const auto who = a.next_id();
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  b.call<fate>([&](auto reply) { b.raw().evict({who, "order"}, "", std::move(reply)); });
  fake.decide = [](const exchange& e) {
    const bool reads = e.client == 0 && e.method == "Txn" && !writes(e) && !sweeps(e);
    return journey{.there = 500us, .back = reads ? duration{300ms} : duration{500us}};
  };
  std::optional<outcome<seam::kept>> kept;
  const seam::target t{who, "order"};
  a.raw().keep({&t, 1}, fate::holding, ttl, [&](outcome<seam::kept>&& k) { kept = std::move(k); });
  a.run_for(10ms);
  ASSERT_NE(granted_in(a.acquire(who)), nullptr);
  ASSERT_TRUE(a.run_until([&] { return kept.has_value(); }, 2s));
  ASSERT_TRUE(is_written(who));
  fake.decide = [](const exchange&) { return quick; };
  pass(ttl + 1s);
  EXPECT_FALSE(is_written(who));
}

// --- ?protocol=go ---

struct etcd_taking_back_in_go : etcd_taking_back {
  one_client go{time, fake, all, {}, 20s, one_client::layout::gos};
  std::size_t keys() const { return data.all().size(); }
};

// It was: an answer to a later request made the engine forget that an earlier one had none; and what was not there a
// time-out after the release was looked for no more.
TEST_F(etcd_taking_back_in_go, of_a_late_write_was_forgotten_when_its_repetition_was_answered) {
  const auto who = go.next_id();
  fake.decide = [late = false](const exchange& e) mutable {
    const bool now = e.client == 2 && writes(e) && !std::exchange(late, true);
    return journey{.there = now ? duration{timeout + 3s} : duration{500us}, .back = 500us};
  };
  EXPECT_NE(failure_in(go.acquire(who)), nullptr);
  const seam::granted* g = nullptr;
  outcome<answer> o;
  for (int tries = 0; tries < 10 && g == nullptr; ++tries, go.run_for(10ms)) {
    o = go.acquire(who);
    g = granted_in(o);
  }
  ASSERT_NE(g, nullptr);
  EXPECT_TRUE(std::holds_alternative<fate>(go.release(who).result));
  ASSERT_EQ(keys(), 0u);
  ASSERT_TRUE(pass_until([&] { return keys() == 1; }, 4s)) << "the old request did not come too late";
  pass(2s);
  EXPECT_EQ(keys(), 0u);
}

// It was: the place that a late request asks for was put over the hold that its repetition had been granted, and so under the shorter
// lease of a place: it went long before its time, and others had the lock meanwhile.
TEST_F(etcd_taking_back_in_go, of_a_late_place_put_it_over_the_hold_and_under_its_shorter_lease) {
  const auto who = go.next_id();
  fake.decide = [late = false](const exchange& e) mutable {
    const bool now = e.client == 2 && writes(e) && !std::exchange(late, true);
    return journey{.there = now ? duration{timeout + 500ms} : duration{500us}, .back = 500us};
  };
  EXPECT_NE(failure_in(go.acquire(who, true)), nullptr);
  auto o = go.acquire(who, true);
  for (int tries = 0; tries < 10 && granted_in(o) == nullptr; ++tries, go.run_for(10ms)) o = go.acquire(who, true);
  ASSERT_NE(granted_in(o), nullptr);
  go.run_for(waiter_ttl + 1s);
  ASSERT_LT(time.now(), o.sent + granted_in(o)->ttl) << "nobody has to keep it before that";
  EXPECT_TRUE(is_written(who));
}

TEST_F(etcd_taking_back_in_go, of_a_late_place_that_another_finds_under_its_name_is_taken_away_first) {
  const auto first = go.next_id(), second = go.next_id();
  fake.decide = [late = false](const exchange& e) mutable {
    const bool now = e.client == 2 && writes(e) && !std::exchange(late, true);
    return journey{.there = now ? duration{timeout + 500ms} : duration{500us}, .back = 500us};
  };
  EXPECT_NE(failure_in(go.acquire(first, true)), nullptr);
  go.release(first);
  ASSERT_TRUE(go.run_until([&] { return is_written(first); }, 1s)) << "the old request did not come late";
  const auto o = go.acquire(second, true);
  if (granted_in(o) != nullptr) {
    EXPECT_TRUE(is_written(second));
    EXPECT_FALSE(is_written(first));
  }
}

// It was: whoever looked whether its turn had come while its place was being deleted was granted that place as it was.
TEST_F(etcd_taking_back_in_go, of_an_overdue_place_is_under_way_when_its_turn_comes) {
  const auto holder = go.next_id(), who = go.next_id();
  const auto wants = [&](const id& each) {
    auto r = go.wants(each, true);
    r.ttl = 2s;  // by the lease that a place has too, so that the claim writes nothing
    r.waiter_ttl = 300ms;
    return go.call<answer>([&](auto reply) { go.raw().acquire(r, std::move(reply)); });
  };
  ASSERT_NE(granted_in(wants(holder)), nullptr);
  ASSERT_NE(in<seam::queued>(wants(who)), nullptr);
  EXPECT_TRUE(std::holds_alternative<fate>(go.release(holder).result));
  pass(200ms);  // nobody keeps the place
  fake.decide = [](const exchange& e) {
    if (sweeps(e)) return journey{.there = 900ms, .back = 500us};
    return journey{.there = 500us, .back = e.method == "Range" ? duration{800ms} : duration{500us}};
  };
  const auto o = wants(who);
  fake.decide = [](const exchange&) { return quick; };
  ASSERT_NE(granted_in(o), nullptr);
  pass(o.sent + 1900ms - time.now());
  EXPECT_EQ(keys(), 1u) << "it was granted, and then deleted";
}

// It was: what was overdue was deleted by its name alone, while the same id asked again and had the same name.
TEST_F(etcd_taking_back_in_go, of_an_overdue_place_deleted_what_had_just_been_written_under_its_name) {
  const auto who = go.next_id(), other = go.next_id();
  ASSERT_NE(granted_in(go.acquire(who)), nullptr);
  auto r = go.wants(other);
  r.what.name = "another";  // by the same lease, after which keys are named
  ASSERT_NE(granted_in(go.call<answer>([&](auto reply) { go.raw().acquire(r, std::move(reply)); })), nullptr);
  fake.decide = [](const exchange& e) { return journey{.there = 500us, .back = 500us, .refused = sweeps(e)}; };
  for (const auto end = time.now() + ttl + 100ms; time.now() < end; pass(500ms)) {
    go.call<seam::kept>([&](auto reply) { go.raw().keep({&r.what, 1}, fate::holding, ttl, std::move(reply)); });
  }
  ASSERT_EQ(keys(), 2u);
  fake.decide = [slow = false](const exchange& e) mutable {
    const bool now = e.client == 2 && e.method == "Txn" && !std::exchange(slow, true);
    return journey{.there = now ? duration{300ms} : duration{500us}, .back = 500us};
  };
  std::optional<outcome<seam::kept>> kept;
  const seam::target t{who, "order"};
  go.raw().keep({&t, 1}, fate::holding, ttl, [&](outcome<seam::kept>&& k) { kept = std::move(k); });
  go.run_for(1ms);
  ASSERT_NE(granted_in(go.acquire(who)), nullptr);
  ASSERT_TRUE(go.run_until([&] { return kept.has_value(); }, 2s));
  EXPECT_EQ(keys(), 2u) << "it was granted, and then deleted";
}

}  // namespace
}  // namespace tyer::sim::etcd
