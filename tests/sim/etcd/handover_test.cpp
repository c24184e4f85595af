// A lock that goes from one to the next: who is told of whom, what it costs, and what becomes of it when something is lost, late,
// repeated or refused on the way.
#include "sim/etcd/one_client.hpp"

#include <gtest/gtest-spi.h>

#include <deque>

namespace tyer::sim::etcd {
namespace {

using messages = std::map<std::string, int>;

const seam::queued* queued_in(const outcome<answer>& o) {
  const auto* a = std::get_if<answer>(&o.result);
  return a != nullptr ? std::get_if<seam::queued>(a) : nullptr;
}
bool was_told(const one_client& of, const id& who) { return std::ranges::find(of.woken, who) != of.woken.end(); }

// A hand-over by what was told: it deletes a key and puts another.
bool passes_on(const exchange& e) {
  pb::TxnRequest t;
  if (e.method != "Txn" || !t.ParseFromString(e.request)) return false;
  const auto is = [&](auto has) { return std::ranges::any_of(t.success(), has); };
  return is([](const auto& o) { return o.has_request_delete_range(); }) &&
         is([](const auto& o) { return o.has_request_put(); });
}

struct etcd_hand_over : etcd_scripted {
  using etcd_scripted::etcd_scripted;

  struct one {
    one_client* by;
    id who;
  };
  one waits(one_client& by) {
    const one w{&by, by.next_id()};
    EXPECT_NE(queued_in(by.acquire(w.who, true)), nullptr);
    return w;
  }
  // Its turn comes, and it claims.
  bool has_turn(const one& w, duration within = 2s) {
    return a.run_until([&] { return was_told(*w.by, w.who); }, within) &&
           granted_in(w.by->acquire(w.who, true)) != nullptr;
  }
  fate let_go(const one& w) {
    const auto o = w.by->release(w.who);
    const auto* f = std::get_if<fate>(&o.result);
    return f != nullptr ? *f : fate::unknown;
  }
  one holds(one_client& by) {
    const one h{&by, by.next_id()};
    EXPECT_NE(granted_in(by.acquire(h.who, true)), nullptr);
    return h;
  }
  // Both have waited before, so that leases and watches are there.
  void warm_up() {
    for (int i = 0; i < 2; ++i) {
      const auto h = holds(a), w = waits(b);
      let_go(h);
      ASSERT_TRUE(has_turn(w));
      const auto v = waits(a);
      let_go(w);
      ASSERT_TRUE(has_turn(v));
      let_go(v);
    }
    a.run_for(10ms);
  }
  void strike_first(bool (*such)(const exchange&), const journey& how) {
    struck = false;
    fake.decide = [this, such, how](const exchange& e) {
      if (!struck && such(e)) {
        struck = true;
        return how;
      }
      return journey{500us, 500us};
    };
  }
  void expect_nothing_left() {
    a.run_for(ttl + 20s);
    EXPECT_EQ(data.all().size(), 0u);
  }
  bool struck = false;
};

// --- what it costs ---

TEST_F(etcd_hand_over, between_two_is_four_requests_and_no_watch) {
  warm_up();
  auto h = holds(a);
  for (int i = 0; i < 4; ++i) {
    one_client& next = h.by == &a ? b : a;
    const auto spent = cost([&] {
      const auto w = waits(next);
      EXPECT_EQ(let_go(h), fate::holding);
      ASSERT_TRUE(has_turn(w));
      h = w;
    });
    EXPECT_EQ(spent, (messages{{"Txn", 4}})) << "a place, who is next, the hand-over, the claim";
  }
}

TEST_F(etcd_hand_over, in_a_line_is_three_requests_however_many_wait) {
  warm_up();
  data.on_write = nullptr;  // it would look at all of them each time
  std::deque<one> line{holds(a)};
  for (int i = 0; i < 120; ++i) line.push_back(waits(i % 2 == 0 ? b : a));
  const auto next_turn = [&] {
    const auto h = line.front();
    line.pop_front();
    EXPECT_EQ(let_go(h), fate::holding);
    ASSERT_TRUE(has_turn(line.front()));
    line.push_back(waits(*h.by));
  };
  for (int i = 0; i < 40; ++i) next_turn();  // those who came first had few before them, and looked out
  const auto spent = cost([&] {
    for (int i = 0; i < 62; ++i) next_turn();
  });
  EXPECT_EQ(spent.at("Txn"), 3 * 62 + 2) << "and it was read twice who is in line";
  EXPECT_EQ(spent.count("Watch"), 0u);
  EXPECT_EQ(spent.count("Range"), 0u);
  for (; !line.empty(); line.pop_front()) {
    EXPECT_EQ(let_go(line.front()), fate::holding);
    if (line.size() > 1) {
      ASSERT_TRUE(has_turn(line[1]));
    }
  }
  expect_nothing_left();
}

TEST_F(etcd_hand_over, a_watch_that_is_idle_is_ended) {
  warm_up();
  const auto spent = cost([&] { a.run_for(15s); });
  EXPECT_EQ(spent.at("Watch"), 2) << "one of each client";
}

// --- who is next ---

TEST_F(etcd_hand_over, goes_to_the_one_behind_when_the_next_has_left) {
  const auto h = holds(a), first = waits(b), second = waits(a), third = waits(b), fourth = waits(a);
  let_go(h);
  ASSERT_TRUE(has_turn(first));  // and is told of the others
  EXPECT_EQ(let_go(second), fate::waiting);
  EXPECT_EQ(let_go(first), fate::holding);
  ASSERT_TRUE(has_turn(third));
  EXPECT_EQ(let_go(third), fate::holding);
  ASSERT_TRUE(has_turn(fourth));
  EXPECT_EQ(let_go(fourth), fate::holding);
  expect_nothing_left();
}

TEST_F(etcd_hand_over, who_came_after_the_line_was_read_is_not_forgotten) {
  const auto h = holds(a), first = waits(b);
  let_go(h);
  ASSERT_TRUE(has_turn(first));  // nobody was behind it
  const auto second = waits(a);
  EXPECT_EQ(let_go(first), fate::holding);
  ASSERT_TRUE(has_turn(second));
  EXPECT_EQ(let_go(second), fate::holding);
  expect_nothing_left();
}

TEST_F(etcd_hand_over, those_who_share_have_their_turn_together_behind_a_line) {
  const auto h = holds(a), first = waits(b);
  const auto one_of_them = a.next_id(), other = b.next_id();
  ASSERT_NE(queued_in(a.acquire(one_of_them, true, mode::shared)), nullptr);
  ASSERT_NE(queued_in(b.acquire(other, true, mode::shared)), nullptr);
  let_go(h);
  ASSERT_TRUE(has_turn(first));
  EXPECT_EQ(let_go(first), fate::holding);
  ASSERT_TRUE(a.run_until([&] { return was_told(a, one_of_them) && was_told(b, other); }, 2s));
  EXPECT_NE(granted_in(a.acquire(one_of_them, true, mode::shared)), nullptr);
  EXPECT_NE(granted_in(b.acquire(other, true, mode::shared)), nullptr);
}

TEST_F(etcd_hand_over, to_one_whose_client_died_ends_with_its_waiter_lease) {
  one_client c{time, fake, all};
  const auto h = holds(a);
  waits(c);
  const auto next = waits(b);
  c.destroy();
  let_go(h);
  const auto began = time.now();
  while (!was_told(b, next.who) && time.now() - began < 20s) {
    b.keep(next.who, fate::waiting);
    b.run_for(100ms);
  }
  ASSERT_TRUE(has_turn(next));
  EXPECT_LE(time.now() - began, waiter_ttl + 1s);
  EXPECT_EQ(let_go(next), fate::holding);
}

TEST_F(etcd_hand_over, from_one_whose_client_died_comes_with_its_lease) {
  one_client c{time, fake, all};
  holds(c);
  const auto next = waits(b);
  c.destroy();
  for (const auto end = time.now() + 20s; !was_told(b, next.who) && time.now() < end; b.run_for(200ms)) {
    b.keep(next.who, fate::waiting);
  }
  EXPECT_TRUE(has_turn(next));
}

// --- what is lost, late, repeated ---

// It was not known yet that it waits, so nobody would have been told.
TEST_F(etcd_hand_over, that_is_told_before_the_answer_to_who_waits_is_heard) {
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

TEST_F(etcd_hand_over, whose_answer_was_lost_is_done_once) {
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

TEST_F(etcd_hand_over, that_arrives_late_gives_nothing_to_whoever_waits_then) {
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

TEST_F(etcd_hand_over, a_place_that_was_taken_with_the_try_and_not_answered_is_taken_back) {
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

// --- how many may wait ---

TEST_F(etcd_hand_over, a_place_that_was_taken_with_the_try_counts_against_how_many_may_wait) {
  one_client c{time, fake, all, [](auto& of) { of.waiters_max = 2; }};
  const auto h = holds(a), first = waits(c);  // its waiter lease is there now
  const auto second = waits(c);
  const auto who = c.next_id();
  const auto o = c.acquire(who, true);
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::over_limit);
  EXPECT_FALSE(is_written(who));
  let_go(h);
  ASSERT_TRUE(has_turn(first));
  let_go(first);
  EXPECT_TRUE(has_turn(second));
}

// --- the judge bites: a server that sorts by the name of the key instead of its age ---

// The oldest of more than are read at once has the last of the keys.
struct badly_sorted : etcd_hand_over {
  badly_sorted() : etcd_hand_over(lie::sorts_nothing) {}
  void TestBody() override {}
  void play() {
    const auto h = holds(a);
    waits(b);
    for (int i = 0; i < 35; ++i) waits(a);
    let_go(h);
  }
};

TEST(etcd_hand_over_planted, a_queue_that_is_not_sorted_by_age) {
  EXPECT_NONFATAL_FAILURE(badly_sorted{}.play(), "out of turn");
}

// --- a crowd that has gone ---

TEST_F(etcd_hand_over, who_expects_a_crowd_and_finds_nobody_has_the_lock_at_once) {
  warm_up();
  data.on_write = nullptr;
  const auto h = holds(a);
  std::vector<one> crowd;
  for (int i = 0; i < 40; ++i) crowd.push_back(waits(b));
  for (const auto& w : crowd) EXPECT_EQ(let_go(w), fate::waiting);
  EXPECT_EQ(let_go(h), fate::holding);
  const auto who = b.next_id();
  EXPECT_NE(granted_in(b.acquire(who, true)), nullptr);
  EXPECT_EQ(let_go({&b, who}), fate::holding);
  expect_nothing_left();
}

}  // namespace
}  // namespace tyer::sim::etcd
