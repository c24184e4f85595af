// A lock that goes from one to the next: who is told of whom, and what it costs.
#include "sim/etcd/handover.hpp"

#include <gtest/gtest-spi.h>

#include <deque>

namespace tyer::sim::etcd {
namespace {

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
    for (int i = 0; i < 60; ++i) next_turn();
  });
  EXPECT_EQ(spent.at("Txn"), 3 * 60 + 4) << "and it was read four times who is in line";
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
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(next, waiter_ttl + 1s));
  EXPECT_EQ(let_go(next), fate::holding);
}

TEST_F(etcd_hand_over, from_one_whose_client_died_comes_with_its_lease) {
  one_client c{time, fake, all};
  holds(c);
  const auto next = waits(b);
  c.destroy();
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(next, 20s));
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

TEST_F(etcd_hand_over, a_place_behind_a_crowd_counts_against_how_many_may_wait) {
  one_client c{time, fake, all, [](auto& of) { of.waiters_max = 20; }};
  holds(a);
  for (int i = 0; i < 20; ++i) waits(c);
  const auto who = c.next_id();
  const auto o = c.acquire(who, true);
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::over_limit);
  EXPECT_FALSE(is_written(who));
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

// By chance it does harm so seldom that no number of seeds is sure to show it.
struct not_compared final : etcd_hand_over {
  explicit not_compared(lie l) : etcd_hand_over{l} {}
  void TestBody() override {}
  void play() {
    const auto h = holds(a), w = waits(b);
    let_go(h);
    EXPECT_TRUE(a.run_until([&] { return was_told(b, w.who); }, 30ms)) << "left waiting";
  }
};

TEST(etcd_hand_over_planted, a_server_that_deletes_what_has_changed) {
  not_compared{lie::none}.play();
  EXPECT_NONFATAL_FAILURE(not_compared{lie::deletes_whatever_is_new}.play(), "left waiting");
}

// --- readers who come at once ---

// It was: each was refused as often as another was let in, and of 350 clients most had no answer within half a minute.
TEST_F(etcd_hand_over, readers_who_come_at_once_wrote_as_often_as_the_square_of_their_number) {
  std::vector<std::unique_ptr<one_client>> readers;
  for (int i = 0; i < 60; ++i) readers.push_back(std::make_unique<one_client>(time, fake, all));
  std::vector<id> ids;
  for (auto& r : readers) ids.push_back(r->next_id());
  std::vector<bool> asks(readers.size(), true), has(readers.size());
  const auto everybody_has = [&] {
    for (std::size_t i = 0; i < readers.size(); ++i) {
      auto& r = *readers[i];
      if (has[i] || !(asks[i] || std::erase(r.woken, ids[i]) != 0)) continue;
      asks[i] = false;
      fake.acting = 2 + i;
      r.raw().acquire(r.wants(ids[i], true, mode::shared), [&, i](outcome<answer>&& o) {
        has[i] = granted_in(o) != nullptr;
        asks[i] = failure_in(o) != nullptr;
      });
    }
    return std::ranges::all_of(has, [](bool h) { return h; });
  };
  const auto all_of_them = cost([&] { EXPECT_TRUE(a.run_until(everybody_has, 2s)); });
  EXPECT_LT(all_of_them.at("Txn"), 4 * 60);
}

// The one that it was to join lets go while its write is on the way, and a writer has its turn.
TEST_F(etcd_hand_over, a_reader_does_not_join_one_that_has_left_a_writer_its_turn) {
  one_client c{time, fake, all}, d{time, fake, all};
  const auto first = a.next_id(), other = d.next_id(), late = b.next_id();
  ASSERT_NE(granted_in(a.acquire(first, true, mode::shared)), nullptr);
  int writes = 0;
  bool joined = false, answered = false;
  fake.decide = [&](const exchange& e) {  // its second write is refused, since another is quicker; the third joins
    if (e.client != 1 || e.method != "Txn") return journey{500us, 500us};
    ++writes;
    return journey{writes == 2 ? duration{10ms} : writes == 3 ? duration{100ms} : duration{500us}, 500us};
  };
  fake.acting = 1;
  b.raw().acquire(b.wants(late, true, mode::shared), [&](outcome<answer>&& o) {
    answered = true;
    joined = granted_in(o) != nullptr;
  });
  ASSERT_TRUE(a.run_until([&] { return writes == 2; }));
  ASSERT_NE(granted_in(d.acquire(other, true, mode::shared)), nullptr);
  ASSERT_TRUE(a.run_until([&] { return writes == 3; }));
  const auto writer = waits(c);
  let_go({&a, first});
  d.release(other);
  EXPECT_TRUE(has_turn(writer, 50ms));
  ASSERT_TRUE(a.run_until([&] { return answered; }, 1s));
  EXPECT_FALSE(joined);
  EXPECT_EQ(let_go(writer), fate::holding);
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
  EXPECT_EQ(cost([&] { let_go(holds(b)); }), (messages{{"Txn", 2}})) << "it does not expect one any more";
  expect_nothing_left();
}

}  // namespace
}  // namespace tyer::sim::etcd
