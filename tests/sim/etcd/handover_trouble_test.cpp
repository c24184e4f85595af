// A lock that goes from one to the next while something is lost, late, repeated, refused, forgotten or set back: never two holders, nobody
// who waits for ever, no token that runs back.
#include "sim/etcd/handover.hpp"

namespace tyer::sim::etcd {
namespace {

using etcd_hand_over_in_trouble = etcd_hand_over;

// --- what is lost, late, repeated ---

// It was not known yet that it waits, so nobody would have been told.
TEST_F(etcd_hand_over_in_trouble, that_is_told_before_the_answer_to_who_waits_is_heard) {
  warm_up();
  const auto h = holds(a);
  fake.decide = [&](const exchange& e) {
    return journey{.there = 500us, .back = e.client == 1 ? duration{200ms} : duration{500us}};
  };
  const auto who = b.next_id();
  std::optional<outcome<answer>> told;
  b.raw().acquire(b.wants(who, true), [&](outcome<answer>&& o) { told = std::move(o); });
  ASSERT_TRUE(a.run_until([&] { return is_written(who); }, 1s));
  EXPECT_EQ(let_go(h), fate::holding);
  ASSERT_TRUE(a.run_until([&] { return told.has_value(); }, 1s));
  EXPECT_NE(queued_in(*told), nullptr);
  EXPECT_TRUE(a.run_until([&] { return was_told(b, who); }, 20ms)) << "not before it looked out by itself";
}

TEST_F(etcd_hand_over_in_trouble, whose_answer_was_lost_is_done_once) {
  for (const auto& how :
       {journey{.there = 500us, .answer_lost = true}, journey{.there = 500us, .broken_off = true},
        journey{.there = 500us, .back = 500us, .repeated = true}, journey{.there = 500us, .refused = true}}) {
    const auto h = holds(a), first = waits(b), second = waits(a);
    let_go(h);
    ASSERT_TRUE(has_turn(first));
    strike_first(passes_on, how);
    auto was = let_go(first);
    ASSERT_TRUE(struck);
    for (int i = 0; was == fate::unknown && i < 20; ++i, b.run_for(50ms)) was = let_go(first);
    EXPECT_NE(was, fate::unknown);
    ASSERT_TRUE(has_turn(second, 5s));
    EXPECT_EQ(let_go(second), fate::holding);
    EXPECT_FALSE(is_written(first.who));
  }
  expect_nothing_left();
}

TEST_F(etcd_hand_over_in_trouble, that_arrives_late_gives_nothing_to_whoever_waits_then) {
  const auto h = holds(a), first = waits(b), second = waits(a);
  let_go(h);
  ASSERT_TRUE(has_turn(first));
  strike_first(passes_on, {.there = timeout + 2s, .back = 500us});
  auto was = let_go(first);
  ASSERT_TRUE(struck);
  for (int i = 0; was == fate::unknown && i < 20; ++i, b.run_for(50ms)) was = let_go(first);
  ASSERT_TRUE(has_turn(second, 5s));
  EXPECT_EQ(let_go(second), fate::holding);
  const auto again = holds(b), third = waits(a);
  for (int i = 0; i < 15; ++i) {  // the old request comes meanwhile
    a.run_for(250ms);
    EXPECT_EQ(std::get<seam::kept>(b.keep(again.who).result).fates.front(), fate::holding);
    a.keep(third.who, fate::waiting);
  }
  EXPECT_FALSE(was_told(a, third.who));
}

TEST_F(etcd_hand_over_in_trouble, a_place_that_was_taken_with_the_try_and_not_answered_is_taken_back) {
  warm_up();
  const auto h = holds(a);
  fake.decide = [&](const exchange& e) {
    return journey{.there = 500us,
                   .back = 500us,
                   .answer_lost = e.client == 1 && e.method == "Txn" && !std::exchange(struck, true)};
  };
  const auto who = b.next_id();
  EXPECT_NE(failure_in(b.acquire(who, true)), nullptr);
  ASSERT_TRUE(is_written(who));
  for (int i = 0; i < 30; ++i) {
    data.renew_leases();
    a.keep(h.who);
    a.run_for(1s);
  }
  EXPECT_FALSE(is_written(who));
  EXPECT_EQ(let_go(h), fate::holding);
  expect_nothing_left();
}

// --- who lets go, or is next, is not there any more ---

TEST_F(etcd_hand_over_in_trouble, from_one_that_died_between_looking_and_handing_over_comes_with_its_lease) {
  one_client c{time, fake, all};
  const auto h = holds(c), next = waits(b);
  strike_first(passes_on, {.request_lost = true});
  c.raw().release({h.who, "order"}, true, [](outcome<fate>&&) {});
  ASSERT_TRUE(a.run_until([&] { return struck; }, 1s));
  c.destroy();
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(next, 20s));
}

// It was: whoever came behind many looked out after a third of its own ttl, however short that of the others was.
TEST_F(etcd_hand_over_in_trouble, from_one_that_died_was_found_late_by_one_of_a_long_ttl_that_had_come_behind_many) {
  one_client c{time, fake, all}, d{time, fake, all};
  const auto h = holds(a);
  std::vector<one> crowd;
  for (int i = 0; i < 17; ++i) crowd.push_back(waits(b));
  const auto dies = waits(c);
  auto patient = d.wants(d.next_id(), true);
  patient.ttl = 10min;
  ASSERT_NE(queued_in(d.call<answer>([&](auto reply) { d.raw().acquire(patient, std::move(reply)); })), nullptr);
  for (const auto& w : crowd) EXPECT_EQ(let_go(w), fate::waiting);
  let_go(h);
  ASSERT_TRUE(has_turn(dies));
  c.destroy();
  EXPECT_TRUE(has_turn_while_it_keeps_its_place({&d, patient.what.who}, ttl + 2s));
}

// What it was told of those behind it is of no use to one that does not hold any more.
TEST_F(etcd_hand_over_in_trouble, by_one_that_was_evicted_and_does_not_know_it_gives_nothing_away) {
  const auto h = holds(a), first = waits(b), second = waits(a), third = waits(b);
  let_go(h);
  ASSERT_TRUE(has_turn(first));
  fake.lags = [](std::size_t client) { return client == 1; };
  a.call<fate>([&](auto reply) { a.raw().evict({first.who, "order"}, "by hand", std::move(reply)); });
  ASSERT_TRUE(has_turn(second));
  EXPECT_EQ(let_go(first), fate::gone);
  fake.lags = [](std::size_t) { return false; };
  EXPECT_FALSE(a.run_until([&] { return was_told(b, third.who); }, 1s));
  EXPECT_EQ(let_go(second), fate::holding);
  ASSERT_TRUE(has_turn(third));
}

// The next is as it was, and would take it: but whoever lets go had lost it before, and must be told so.
TEST_F(etcd_hand_over_in_trouble, by_one_whose_hold_was_deleted_by_hand_says_that_it_was_gone) {
  const auto h = holds(a), first = waits(b), second = waits(a);
  let_go(h);
  ASSERT_TRUE(has_turn(first));  // and is told of the other
  fake.lags = [](std::size_t) { return true; };
  delete_by_hand(first);
  EXPECT_EQ(let_go(first), fate::gone);
  fake.lags = [](std::size_t) { return false; };
  ASSERT_TRUE(has_turn_while_it_keeps_its_place(second, 5s));
  EXPECT_EQ(let_go(second), fate::holding);
}

TEST_F(etcd_hand_over_in_trouble,
       by_one_whose_hold_was_deleted_between_looking_and_handing_over_says_that_it_was_gone) {
  const auto h = holds(a), next = waits(b);
  fake.lags = [](std::size_t) { return true; };
  strike_first(passes_on, {.there = 20ms, .back = 500us});
  std::optional<outcome<fate>> was;
  a.raw().release({h.who, "order"}, true, [&](outcome<fate>&& o) { was = std::move(o); });
  ASSERT_TRUE(a.run_until([&] { return struck; }, 1s));
  delete_by_hand(h);
  ASSERT_TRUE(a.run_until([&] { return was.has_value(); }, 2s));
  EXPECT_EQ(std::get<fate>(was->result), fate::gone);
  fake.lags = [](std::size_t) { return false; };
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(next, 5s));
}

// --- whose time is over, though the server still has it ---

struct etcd_overdue : etcd_hand_over {
  // Nobody but the others keeps what it has, and what would take it away is lost.
  void let_time_pass(duration d, const one& of, const std::vector<one>& others) {
    const auto client = of.by == &a ? 0u : 1u;
    fake.decide = [client](const exchange& e) {
      return journey{.there = 500us, .back = 500us, .request_lost = e.client == client && e.method == "Txn"};
    };
    for (const auto end = time.now() + d; time.now() < end; a.run_for(100ms)) {
      data.renew_leases();
      for (const auto& w : others) w.by->keep(w.who, fate::waiting);
    }
    fake.decide = [](const exchange&) { return journey{500us, 500us}; };
    ASSERT_TRUE(is_written(of.who));
  }
};

TEST_F(etcd_overdue, a_hold_that_is_given_back_was_gone) {
  const auto h = holds(a);
  let_time_pass(ttl + 10ms, h, {});
  EXPECT_EQ(let_go(h), fate::gone);
}

TEST_F(etcd_overdue, a_hold_that_is_handed_over_was_gone) {
  const auto h = holds(a), next = waits(b);
  let_time_pass(ttl + 10ms, h, {next});
  EXPECT_EQ(let_go(h), fate::gone);
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(next, 5s));
}

TEST_F(etcd_overdue, a_place_is_not_handed_the_lock) {
  const auto h = holds(a), late = waits(a), next = waits(b);
  let_time_pass(waiter_ttl + 10ms, late, {next});
  EXPECT_EQ(let_go(h), fate::holding);
  EXPECT_TRUE(has_turn(next, 20ms));
  EXPECT_FALSE(was_told(a, late.who));
}

// Its lease was kept when it took its place, and would end before it has had the time to claim.
TEST_F(etcd_hand_over_in_trouble, shortly_before_the_lease_of_the_place_ends_leaves_time_to_claim) {
  const auto h = holds(a), next = waits(b), other = waits(a);
  const auto pass = [&](duration d) {
    for (const auto end = time.now() + d; time.now() < end; a.run_for(200ms)) a.keep(other.who, fate::waiting);
  };
  pass(waiter_ttl - 600ms);
  EXPECT_EQ(let_go(h), fate::holding);
  ASSERT_TRUE(a.run_until([&] { return was_told(b, next.who); }, 100ms));
  pass(waiter_ttl - 600ms);
  EXPECT_NE(granted_in(b.acquire(next.who, true)), nullptr);
}

// It kept its place meanwhile. Nothing of the turn was lost, but the place was read once more before it was claimed.
TEST_F(etcd_hand_over_in_trouble, was_taken_back_by_an_older_answer) {
  const auto h = holds(a), next = waits(b);
  fake.decide = [](const exchange& e) {
    return journey{500us, e.client == 1 && e.method == "Txn" ? duration{50ms} : 500us};
  };
  bool kept = false;
  const seam::target t{next.who, "order"};
  fake.acting = 1;
  b.raw().keep({&t, 1}, fate::waiting, waiter_ttl, [&](auto&&) { kept = true; });
  a.run_for(5ms);
  EXPECT_EQ(let_go(h), fate::holding);
  ASSERT_TRUE(a.run_until([&] { return was_told(b, next.who); }, 20ms));
  ASSERT_FALSE(kept);
  ASSERT_TRUE(a.run_until([&] { return kept; }));
  EXPECT_FALSE(cost([&] { EXPECT_NE(granted_in(b.acquire(next.who, true)), nullptr); }).contains("Range"));
}

TEST_F(etcd_hand_over_in_trouble, to_one_that_left_and_came_back_under_the_same_key_does_not_come_out_of_turn) {
  one_client c{time, fake, all};
  const auto h = holds(a), first = waits(b), second = waits(c), third = waits(b);
  let_go(h);
  ASSERT_TRUE(has_turn(first));  // and is told of the others
  const auto key = where_is(second.who);
  EXPECT_EQ(let_go(second), fate::waiting);
  const auto back = waits(c);
  ASSERT_EQ(where_is(back.who), key);
  EXPECT_EQ(let_go(first), fate::holding);
  ASSERT_TRUE(has_turn(third));
  EXPECT_FALSE(was_told(c, back.who));
  EXPECT_EQ(let_go(third), fate::holding);
  ASSERT_TRUE(has_turn(back));
}

// --- its watch did not tell it ---

TEST_F(etcd_hand_over_in_trouble, is_found_when_the_server_has_forgotten_it) {
  const auto h = holds(a), next = waits(b);
  b.stands_still = true;
  fake.cut(1);
  EXPECT_EQ(let_go(h), fate::holding);
  auto other = a.wants(a.next_id());
  other.what.name = "another";
  a.call<answer>([&](auto reply) { a.raw().acquire(other, std::move(reply)); });
  data.compact();
  b.stands_still = false;
  EXPECT_TRUE(has_turn(next, 1s));
}

TEST_F(etcd_hand_over_in_trouble, behind_a_server_that_lags_is_found_by_looking_out) {
  const auto h = holds(a), next = waits(b);
  fake.lags = [](std::size_t client) { return client == 1; };
  EXPECT_EQ(let_go(h), fate::holding);
  EXPECT_TRUE(has_turn(next, 1s));
  EXPECT_EQ(let_go(next), fate::holding);
}

TEST_F(etcd_hand_over_in_trouble, that_was_found_by_looking_out_is_not_claimed_when_its_time_is_over) {
  const auto h = holds(a), next = waits(b), other = waits(a);
  fake.lags = [](std::size_t client) { return client == 1; };
  EXPECT_EQ(let_go(h), fate::holding);
  ASSERT_TRUE(a.run_until([&] { return was_told(b, next.who); }, 1s));
  fake.decide = [](const exchange& e) { return journey{500us, 500us, e.client == 1}; };  // it cannot be taken away
  for (const auto end = time.now() + waiter_ttl + 5ms; time.now() < end; a.run_for(100ms)) {
    data.renew_leases();
    a.keep(other.who, fate::waiting);
  }
  fake.decide = [](const exchange&) { return journey{500us, 500us}; };
  EXPECT_EQ(granted_in(b.acquire(next.who, true)), nullptr);
  EXPECT_TRUE(has_turn(other));
}

TEST_F(etcd_hand_over_in_trouble, behind_a_server_that_lags_is_found_by_asking) {
  const auto h = holds(a), next = waits(b);
  a.run_for(500ms);  // it has looked out
  fake.lags = [](std::size_t client) { return client == 1; };
  EXPECT_EQ(let_go(h), fate::holding);
  EXPECT_FALSE(a.run_until([&] { return was_told(b, next.who); }, 1s));
  EXPECT_NE(granted_in(b.acquire(next.who, true)), nullptr);
  EXPECT_EQ(let_go(next), fate::holding);
}

// Its watch is kept for the next of this client: what it told of the one before is not taken for news of this one.
TEST_F(etcd_hand_over_in_trouble, is_not_mistaken_for_that_of_the_one_who_had_the_key_before) {
  warm_up();
  const auto h = holds(a);
  auto w = waits(b);
  b.lost.clear();
  fake.stall(1, time.now() + 300ms);  // that its key was deleted is told only then
  EXPECT_EQ(let_go(w), fate::waiting);
  w = waits(b);
  a.run_for(400ms);
  EXPECT_TRUE(b.lost.empty());
  EXPECT_TRUE(is_written(w.who));
  EXPECT_EQ(let_go(h), fate::holding);
  EXPECT_TRUE(has_turn(w));
}

// --- those who look out ---

TEST_F(etcd_hand_over_in_trouble, is_looked_out_for_by_the_first_of_each_client_alone) {
  warm_up();
  const auto h = holds(a);
  std::vector<one> line;
  for (int i = 0; i < 10; ++i) line.push_back(waits(b));
  a.run_for(10ms);
  const auto spent = cost([&] { a.run_for(1s); });
  EXPECT_EQ(spent, (messages{{"Txn", 1}, {"Watch", 1}}));
  EXPECT_EQ(let_go(h), fate::holding);
  ASSERT_TRUE(has_turn(line[0]));
  EXPECT_EQ(cost([&] { a.run_for(1s); }).at("Txn"), 1) << "the next of them looks out now";
}

TEST_F(etcd_hand_over_in_trouble, from_one_that_died_is_found_by_the_next_that_looks_out_when_the_first_has_left) {
  one_client c{time, fake, all};
  holds(c);
  const auto first = waits(b), second = waits(b);
  a.run_for(500ms);
  EXPECT_EQ(let_go(first), fate::waiting);
  c.destroy();
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(second, 20s));
}

TEST_F(etcd_hand_over_in_trouble, from_one_that_died_is_found_although_the_look_that_was_to_find_it_failed) {
  one_client c{time, fake, all};
  holds(c);
  const auto next = waits(b);
  int failed = 0;
  fake.decide = [&](const exchange& e) {
    const bool look = e.client == 1 && e.method == "Txn" && failed < 3;
    failed += look ? 1 : 0;
    return journey{.there = 500us, .back = 500us, .request_lost = look};
  };
  a.run_for(300ms);
  ASSERT_EQ(failed, 1);
  c.destroy();
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(next, 20s));
}

// The server is not left for that, so nothing else makes it look again.
TEST_F(etcd_hand_over_in_trouble, from_one_that_died_is_found_although_the_server_was_too_busy_for_the_look) {
  one_client c{time, fake, all};
  holds(c);
  const auto next = waits(b);
  int refused = 0;
  fake.decide = [&](const exchange& e) {
    const bool look = e.client == 1 && e.method == "Txn" && refused < 2;
    refused += look ? 1 : 0;
    return journey{.there = 500us, .back = 500us, .busy = look};
  };
  a.run_for(300ms);
  ASSERT_EQ(refused, 1);
  EXPECT_EQ(b.ups(), 1);
  c.destroy();
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(next, 20s));
}

// It was not: it had the watch of the one before it, which has told all there was to tell.
TEST_F(etcd_hand_over_in_trouble, from_one_that_died_was_not_found_if_the_look_after_its_watch_was_refused) {
  one_client c{time, fake, all};
  holds(c);
  const auto next = waits(b);
  a.run_for(600ms);  // it watches the one before it
  int refused = 0;
  fake.decide = [&](const exchange& e) {
    pb::TxnRequest t;
    const bool look = e.client == 1 && e.method == "Txn" && refused < 2 && t.ParseFromString(e.request) &&
                      t.compare().empty() && t.success_size() == 2 && t.success(0).request_range().limit() > 0;
    refused += look ? 1 : 0;
    return journey{.there = 500us, .back = 500us, .busy = look};
  };
  c.destroy();
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(next, 20s));
  EXPECT_GT(refused, 0);
}

// --- tokens ---

TEST_F(etcd_hand_over_in_trouble, gives_larger_tokens_also_behind_one_that_has_seen_a_far_larger_one) {
  const auto part_of = [](const outcome<answer>& o) {
    const auto* g = granted_in(o);
    return g != nullptr ? g->part : 0;
  };
  const std::uint64_t seen = 1'000'000'000;
  const auto h = holds(a), first = waits(b);
  auto far = a.wants(a.next_id(), true);
  far.seen = seen;
  ASSERT_NE(queued_in(a.call<answer>([&](auto reply) { a.raw().acquire(far, std::move(reply)); })), nullptr);
  const auto third = waits(b), fourth = waits(a);
  std::uint64_t last = 0;
  const auto next_is = [&](const one& w) {
    ASSERT_TRUE(a.run_until([&] { return was_told(*w.by, w.who); }, 1s));
    const auto part = part_of(w.by->acquire(w.who, true));
    EXPECT_GT(part, last);
    last = part;
    EXPECT_EQ(let_go(w), fate::holding);
  };
  let_go(h);
  next_is(first);
  next_is({&a, far.what.who});
  EXPECT_GT(last, seen);
  next_is(third);
  next_is(fourth);
}

// --- the data is set back to a copy ---

// In the copy somebody else holds it, and whoever holds it now waits: what this one was told of the others is not of the copy.
TEST_F(etcd_hand_over_in_trouble, by_one_that_only_waits_in_the_copy_gives_nothing_away) {
  const auto h = holds(a), first = waits(b), second = waits(b);
  data.save();
  let_go(h);
  ASSERT_TRUE(has_turn(first));
  const auto ups_a = a.ups(), ups_b = b.ups();
  fake.set_back();
  ASSERT_TRUE(a.run_until([&] { return a.ups() > ups_a && b.ups() > ups_b; }, 5s));
  ASSERT_TRUE(is_written(h.who));
  let_go(first);
  EXPECT_FALSE(a.run_until([&] { return was_told(b, second.who); }, 1s)) << "the copy has another holder";
}

}  // namespace
}  // namespace tyer::sim::etcd
