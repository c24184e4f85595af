// The coordinator and a hold: shared with others, handed off, rested, limited, lapsed, asked back.
#include "runtime/coordinator/coordinator.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace tyer::testing {
namespace {

struct holding_bench : bench {
  explicit holding_bench(std::uint32_t handoffs = 16) {
    lock = make_lock("order", 9s, handoffs);
    readers = readers_of(*lock);
  }
  std::shared_ptr<runtime::spec> readers;
};

// ---- several tickets of a lane

TEST(coordinator_holding, readers_of_one_client_ask_one_after_the_other_and_hold_side_by_side) {
  holding_bench b;
  auto first = b.want(b.readers), second = b.want(b.readers), third = b.want(b.readers);
  EXPECT_EQ(b.engine.acquires.size(), 1u) << "one contender at a time";
  b.engine.acquires[0].grant(1);
  EXPECT_TRUE(first->hold);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.engine.acquires[1].grant(2);
  ASSERT_EQ(b.engine.acquires.size(), 3u);
  b.engine.acquires[2].grant(3);
  EXPECT_TRUE(second->hold && third->hold);
  EXPECT_NE(first->hold->who(), second->hold->who());
  b.coordinator.gone(second->hold->who());
  EXPECT_EQ(first->hold->where(), phase::held) << "each is lost by itself";
  EXPECT_EQ(second->hold->where(), phase::lost);
  b.give_back(first);
  b.give_back(third);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator_holding, a_reader_that_is_handed_a_hold_spares_the_contender) {
  holding_bench b;
  auto first = b.want(b.readers);
  b.engine.acquires[0].grant(1);
  auto second = b.want(b.readers);
  b.engine.acquires[1].queue(0, 5s);
  b.confirm();
  b.give_back(first);
  ASSERT_TRUE(second->hold);
  EXPECT_EQ(second->hold->token(), core::make_token(1, 1));
  ASSERT_EQ(b.engine.releases.size(), 1u) << "nobody waits in the engine's queue any more";
  EXPECT_EQ(b.engine.releases[0].who, b.engine.acquires[1].what.what.who);
}

TEST(coordinator_holding, the_contender_stays_for_those_who_still_wait) {
  holding_bench b;
  auto first = b.want(b.readers);
  b.engine.acquires[0].grant(1);
  auto second = b.want(b.readers), third = b.want(b.readers);
  b.engine.acquires[1].queue(0, 5s);
  b.confirm();
  b.give_back(first);
  EXPECT_TRUE(second->hold);
  EXPECT_EQ(third->times, 0);
  EXPECT_TRUE(b.engine.releases.empty());
  b.coordinator.wake(b.engine.acquires[1].what.what.who);
  b.engine.acquires.back().grant(2);
  EXPECT_EQ(third->hold->token(), core::make_token(2, 0));
}

TEST(coordinator_holding, hand_offs_are_counted_by_ticket) {
  holding_bench b{1};
  auto first = b.want(b.readers);
  b.engine.acquires[0].grant(1);
  auto second = b.want(b.readers);
  b.engine.acquires[1].grant(2);
  auto third = b.want(b.readers), fourth = b.want(b.readers), fifth = b.want(b.readers);
  b.engine.acquires[2].queue(0, 5s);
  b.confirm();
  b.give_back(first);
  b.give_back(second);
  ASSERT_TRUE(third->hold && fourth->hold);
  EXPECT_EQ(third->hold->token(), core::make_token(1, 1));
  EXPECT_EQ(fourth->hold->token(), core::make_token(2, 1)) << "each may be handed off once";
  b.confirm();
  b.give_back(third);
  b.give_back(fourth);
  EXPECT_EQ(fifth->times, 0) << "and not twice";
}

// ---- min_hold

TEST(coordinator_holding, given_back_early_it_stays_taken_until_its_min_hold_is_over) {
  holding_bench b;
  b.lock->min_hold = 4s;
  auto h = b.held();
  std::optional<release_outcome> outcome;
  b.pass(1s);
  b.coordinator.give_back(h->hold, [&](tyer::failure, release_outcome o) { outcome = o; });
  EXPECT_EQ(outcome, release_outcome::released) << "its owner need not wait";
  b.pass(2s);
  ASSERT_EQ(b.engine.keeps.size(), 1u) << "renewed like any other";
  b.engine.keeps[0].answer({fate::holding});
  b.pass(999ms);
  EXPECT_TRUE(b.engine.releases.empty());
  b.pass(1ms);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  EXPECT_TRUE(b.engine.releases[0].clean);
}

TEST(coordinator_holding, the_next_of_the_client_waits_for_the_min_hold_too) {
  holding_bench b;
  b.lock->min_hold = 1s;
  auto h = b.held();
  auto next = b.want();
  b.confirm();
  b.coordinator.give_back(h->hold, {});
  b.pass(900ms);
  EXPECT_EQ(next->times, 0);
  b.pass(100ms);
  ASSERT_TRUE(next->hold);
  EXPECT_EQ(next->hold->token(), core::make_token(100, 1));
  b.coordinator.give_back(next->hold, {});
  b.pass(900ms);
  EXPECT_TRUE(b.engine.releases.empty()) << "each hold has its own";
}

TEST(coordinator_holding, a_client_that_is_closed_leaves_the_rest_of_a_min_hold_behind) {
  holding_bench b;
  b.lock->min_hold = 20s;
  auto h = b.held();
  b.pass(1s);
  b.coordinator.close();
  EXPECT_EQ(h->hold->where(), phase::lost);
  EXPECT_TRUE(b.engine.releases.empty());
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  EXPECT_EQ(b.engine.keeps[0].ttl, 19s);
  b.engine.keeps[0].answer({fate::holding});
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator_holding, a_min_hold_within_the_ttl_needs_no_last_request) {
  holding_bench b;
  b.lock->min_hold = 2s;
  auto h = b.held();
  b.coordinator.give_back(h->hold, {});
  b.coordinator.close();
  EXPECT_TRUE(b.engine.keeps.empty());
  EXPECT_TRUE(b.engine.releases.empty());
  EXPECT_TRUE(b.coordinator.drained());
}

// ---- max_hold

TEST(coordinator_holding, no_hold_is_valid_for_longer_than_its_max_hold) {
  holding_bench b;
  b.lock->max_hold = 12s;
  auto h = b.held();
  const auto end = b.clock.now() + 12s;
  for (int n = 0; n < 24; ++n) {
    b.pass(500ms);
    b.answer_keeps();
    EXPECT_LE(h->hold->valid_until(), end);
  }
  EXPECT_EQ(h->hold->where(), phase::lost);
  b.pass(1ms);
  ASSERT_EQ(b.engine.releases.size(), 1u) << "others may have it";
  EXPECT_GE(b.engine.releases[0].sent, end);
}

TEST(coordinator_holding, a_hand_off_begins_a_max_hold_of_its_own) {
  holding_bench b;
  b.lock->max_hold = 5s;
  auto h = b.held();
  auto next = b.want();
  b.pass(3s);
  b.confirm();
  b.give_back(h);
  ASSERT_TRUE(next->hold);
  EXPECT_EQ(next->hold->ends_at(), b.clock.now() + 5s);
  b.pass(3s);
  EXPECT_EQ(next->hold->where(), phase::held);
}

// ---- lock_delay

TEST(coordinator_holding, a_lost_hold_with_a_lock_delay_waits_for_its_owner_to_say_that_it_has_stopped) {
  holding_bench b;
  b.lock->lock_delay = 30s;
  auto h = b.held();
  b.coordinator.gone(h->hold->who());
  EXPECT_EQ(h->hold->where(), phase::lost);
  EXPECT_TRUE(b.engine.releases.empty());
  b.pass(1s);
  std::optional<release_outcome> outcome;
  b.coordinator.give_back(h->hold, [&](tyer::failure, release_outcome o) { outcome = o; });
  ASSERT_EQ(b.engine.releases.size(), 1u);
  EXPECT_TRUE(b.engine.releases[0].clean);
  b.engine.releases[0].answer(fate::gone);
  EXPECT_EQ(outcome, release_outcome::already_gone);
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator_holding, an_owner_that_never_says_so_is_not_waited_for_longer_than_the_delay) {
  holding_bench b;
  b.lock->lock_delay = 5s;
  auto h = b.held();
  b.coordinator.gone(h->hold->who());
  b.pass(9s + 5s);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  EXPECT_FALSE(b.engine.releases[0].clean);
  b.engine.releases[0].answer(fate::gone);
  EXPECT_TRUE(b.coordinator.drained());
  b.coordinator.give_back(h->hold, {});
  EXPECT_EQ(b.engine.releases.size(), 1u);
}

TEST(coordinator_holding, the_next_of_the_client_does_not_wait_for_a_lapsed_owner) {
  holding_bench b;
  b.lock->lock_delay = 5s;
  auto h = b.held();
  b.want();
  b.coordinator.gone(h->hold->who());
  EXPECT_EQ(b.engine.acquires.size(), 2u) << "it is the engine that keeps the place closed";
}

// Went wrong: the release that begins the delay was sent before the window of the owner was over, so the delay was over
// too early.
TEST(coordinator_holding, closing_began_a_lock_delay_before_the_window_had_ended) {
  holding_bench b;
  b.lock->lock_delay = 5s;
  b.lock->max_hold = 6s;
  auto h = b.held();
  const auto end = b.clock.now() + 6s;
  b.pass(3s);
  b.engine.keeps.back().answer({fate::holding});
  b.pass(2900ms);
  ASSERT_EQ(h->hold->where(), phase::lost) << "told in time, a little before";
  b.coordinator.close();
  EXPECT_TRUE(b.engine.releases.empty());
  b.pass(end - b.clock.now());
  ASSERT_EQ(b.engine.releases.size(), 1u);
  EXPECT_FALSE(b.engine.releases[0].clean);
}

// ---- asked back

TEST(coordinator_holding, whoever_is_asked_for_its_hold_is_told_and_does_not_hand_it_off) {
  holding_bench b;
  auto h = b.held();
  auto next = b.want();
  b.confirm();
  b.coordinator.asked(h->hold->who(), "please");
  ASSERT_EQ(b.watcher.asked.size(), 1u);
  EXPECT_EQ(b.watcher.asked[0], h->hold);
  b.give_back(h);
  EXPECT_EQ(next->times, 0);
  EXPECT_EQ(b.engine.releases.size(), 1u);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.engine.acquires[1].grant(101);
  b.confirm();
  auto third = b.want();
  b.confirm();
  b.give_back(next);
  EXPECT_TRUE(third->hold) << "the next hold was not asked for";
}

// Went wrong: a client that was handed the lock, and had not claimed it yet, did not hear that it was asked for it.
TEST(coordinator_holding, a_hold_asked_for_before_its_claim_was_handed_off) {
  holding_bench b;
  auto h = b.want();
  auto next = b.want();
  b.engine.acquires[0].queue(0, 5s);
  b.coordinator.asked(b.engine.acquires[0].what.what.who, "please");
  b.coordinator.wake(b.engine.acquires[0].what.what.who);
  b.engine.acquires[1].grant(100);
  ASSERT_TRUE(h->hold);
  ASSERT_EQ(b.watcher.asked.size(), 1u);
  EXPECT_EQ(b.watcher.asked[0], h->hold);
  b.confirm();
  b.give_back(h);
  EXPECT_EQ(next->times, 0);
}

// ---- renewed together

struct renewed_together : ::testing::Test, bench {
  renewed_together() {
    for (const char* name : {"a", "b", "c"}) {
      callers.push_back(want(make_lock(name, 9s)));
      engine.acquires.back().grant(1);
    }
    pass(3s);
    EXPECT_EQ(engine.keeps.back().who.size(), 3u);
    second = callers[1]->hold->who();
  }
  std::size_t asked_since() const { return engine.keeps.size() - 1; }
  std::size_t asked_alone(const id& who) const {
    return static_cast<std::size_t>(
        std::ranges::count(engine.keeps, std::vector{who}, &scripted_engine::keep_call::who));
  }
  // Whoever is asked for with one that is forbidden is refused.
  void answer_without(const std::vector<id>& forbidden) {
    for (std::size_t i = 0; i < engine.keeps.size(); ++i) {
      auto& k = engine.keeps[i];
      if (k.answered()) continue;
      const bool refused =
          std::ranges::any_of(forbidden, [&](const id& f) { return std::ranges::count(k.who, f) > 0; });
      refused ? k.fail(why::refused, "NOPERM") : k.answer(std::vector<fate>(k.who.size(), k.as));
    }
  }
  void answer_without_the_second() { answer_without({second}); }
  std::vector<id> all() const {
    std::vector<id> those;
    for (const auto& c : callers) those.push_back(c->hold->who());
    return those;
  }
  // All that are asked for meanwhile are refused with those that are forbidden.
  void pass_without(const std::vector<id>& forbidden, milliseconds time) {
    for (auto left = time; left > 0ms; left -= 10ms) {
      pass(10ms);
      answer_without(forbidden);
    }
  }
  std::vector<caller> callers;
  id second;
};

// An engine that is asked for many at once refuses them all.
TEST_F(renewed_together, one_that_is_refused_took_all_others_with_it) {
  engine.keeps[0].fail(why::refused, "NOPERM");
  ASSERT_EQ(asked_since(), 3u) << "each alone, at once";
  for (std::size_t i = 1; i <= 3; ++i) EXPECT_EQ(engine.keeps[i].who.size(), 1u);
  answer_without_the_second();
  EXPECT_EQ(asked_since(), 3u) << "what is refused alone is asked again later";
  for (int i = 0; i < 80; ++i) {
    pass(100ms);
    answer_without_the_second();
  }
  EXPECT_EQ(callers[1]->hold->where(), phase::lost);
  for (const int held : {0, 2}) EXPECT_EQ(callers[held]->hold->where(), phase::held);
}

TEST_F(renewed_together, who_gave_back_meanwhile_is_not_asked_for_alone) {
  give_back(callers[0]);
  engine.keeps[0].fail(why::refused, "NOPERM");
  ASSERT_EQ(asked_since(), 2u);
  for (std::size_t i = 1; i <= 2; ++i) EXPECT_NE(engine.keeps[i].who[0], callers[0]->hold->who());
}

TEST_F(renewed_together, one_that_could_be_renewed_alone_was_lost_while_others_were_all_refused) {
  const auto good = want(make_lock("d", 1s)), bad = want(make_lock("e", 1s));
  engine.acquires[3].grant(1);
  engine.acquires[4].grant(1);
  auto forbidden = all();
  forbidden.push_back(bad->hold->who());
  answer_without(forbidden);
  pass_without(forbidden, 2s);
  EXPECT_EQ(good->hold->where(), phase::held);
  EXPECT_EQ(bad->hold->where(), phase::lost);
}

// A thousand holds would be a thousand requests, twice in each second until they are lost.
TEST_F(renewed_together, those_who_are_refused_alone_too_were_asked_for_alone_each_time) {
  answer_without(all());
  for (const id& who : all()) EXPECT_EQ(asked_alone(who), 1u);
  pass_without(all(), 1400ms);
  for (const id& who : all()) EXPECT_EQ(asked_alone(who), 1u);
  EXPECT_GE(std::ranges::count(engine.keeps, 3u, [](const auto& k) { return k.who.size(); }), 3) << "together";
  pass_without(all(), 3s);
  for (const id& who : all()) EXPECT_EQ(asked_alone(who), 3u) << "in half of the ttl";
  pass_without({}, 6s);
  for (const auto& c : callers) EXPECT_EQ(c->hold->where(), phase::held) << "they may again";
}

TEST_F(renewed_together, who_may_be_renewed_again_is_found_among_those_who_may_not) {
  pass_without(all(), 3s);
  pass_without({second}, 6s);
  EXPECT_EQ(callers[1]->hold->where(), phase::lost);
  for (const int held : {0, 2}) EXPECT_EQ(callers[held]->hold->where(), phase::held);
}

TEST_F(renewed_together, who_got_no_answer_alone_is_asked_for_again_before_it_is_too_late) {
  engine.keeps[0].fail(why::refused, "NOPERM");
  for (std::size_t i = 1; i <= 3; ++i) engine.keeps[i].fail(why::unknown, "no answer");
  pass_without({second}, 8s);
  EXPECT_EQ(callers[1]->hold->where(), phase::lost);
  for (const int held : {0, 2}) EXPECT_EQ(callers[held]->hold->where(), phase::held);
}

// As etcd without space: who needs a write is refused, and all others with it.
TEST_F(renewed_together, one_that_is_over_a_limit_took_all_others_with_it) {
  engine.keeps[0].fail(why::over_limit, "no space");
  ASSERT_EQ(asked_since(), 3u);
  answer_keeps();
  for (const auto& c : callers) EXPECT_EQ(c->hold->where(), phase::held);
}

// Nor may one who waits make the others lose their places.
TEST_F(renewed_together, of_places_too_each_is_asked_for_alone) {
  answer_keeps();
  std::vector<caller> waiting;
  std::vector<id> places;
  for (const char* name : {"x", "y"}) {
    waiting.push_back(want(make_lock(name, 9s)));
    engine.acquires.back().queue(1, 9s);
    places.push_back(engine.acquires.back().what.what.who);
  }
  while (engine.keeps.back().as != fate::waiting) pass(10ms);
  ASSERT_EQ(engine.keeps.back().who.size(), 2u);
  answer_without({places[1]});
  EXPECT_EQ(asked_alone(places[0]), 1u);
  EXPECT_EQ(asked_alone(places[1]), 1u);
}

TEST_F(renewed_together, what_is_no_refusal_is_not_asked_again_at_once) {
  engine.keeps[0].fail(why::not_sent, "connection refused");
  EXPECT_EQ(asked_since(), 0u);
}

// Of each hundred one is forbidden. The others are asked for alone once, and then never again with those who are.
TEST(renewed_by_the_hundred, those_beside_one_that_is_forbidden_cost_one_request_each) {
  bench b;
  std::vector<bench::caller> all;
  std::set<id> forbidden;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(b.want(bench::make_lock("lock/" + std::to_string(i), 9s)));
    b.engine.acquires.back().grant(1);
    if (i % 100 == 50) forbidden.insert(all.back()->hold->who());
  }
  std::size_t answered = 0;
  for (int i = 0; i < 200; ++i) {
    b.pass(100ms);
    for (; answered < b.engine.keeps.size(); ++answered) {
      auto& k = b.engine.keeps[answered];
      const bool refused = std::ranges::any_of(k.who, [&](const id& who) { return forbidden.contains(who); });
      refused ? k.fail(why::refused, "NOPERM") : k.answer(std::vector<fate>(k.who.size(), k.as));
    }
  }
  for (const auto& c : all) {
    const bool lost = forbidden.contains(c->hold->who());
    EXPECT_EQ(c->hold->where(), lost ? phase::lost : phase::held);
  }
  const auto alone = std::ranges::count(b.engine.keeps, 1u, [](const auto& k) { return k.who.size(); });
  EXPECT_LE(alone, 990 + 10 * 4);
  EXPECT_LE(std::ssize(b.engine.keeps) - alone, 150) << "and a few together";
}

}  // namespace
}  // namespace tyer::testing
