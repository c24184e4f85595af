// What the coordinator counts: every number, at the moment it is decided.
#include "runtime/coordinator/relay.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

struct counting_bench : bench {
  using bench::bench;

  client_stats stats() { return coordinator.board()->read(); }
  group_stats counted() { return stats().groups.at(0); }
  std::uint64_t ended(acquire_end how) { return counted().acquire_duration[how].count(); }
  lease::duration took(acquire_end how) { return counted().acquire_duration[how].sum; }
  std::uint64_t lost(loss_reason why) { return counted().losses[why]; }
  // Time goes on, and no renewal has an answer.
  void pass_in_silence(lease::duration d) {
    for (const auto end = clock.now() + d; clock.now() < end;) {
      pass(500ms);
      for (auto& k : engine.keeps) {
        if (!k.answered()) k.fail(why::unknown);
      }
    }
  }
  // All acquires and all losses: whatever a test counts, nothing else was counted beside it.
  std::uint64_t all_ended() {
    std::uint64_t n = 0;
    for (const auto& h : counted().acquire_duration.all) n += h.count();
    return n;
  }
  std::uint64_t all_lost() {
    std::uint64_t n = 0;
    for (const auto l : counted().losses.all) n += l;
    return n;
  }
};

// ---- acquires

TEST(coordinator_counting, a_grant_at_once) {
  counting_bench b;
  auto c = b.want();
  EXPECT_EQ(b.counted().waiters, 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  b.clock.move(3ms);
  b.engine.acquires[0].grant(1);
  ASSERT_TRUE(c->hold);
  EXPECT_EQ(b.ended(acquire_end::granted), 1u);
  EXPECT_EQ(b.took(acquire_end::granted), 3ms);
  EXPECT_EQ(b.all_ended(), 1u);
  EXPECT_EQ(b.counted().waiters, 0u);
  EXPECT_EQ(b.counted().holds, 1u);
}

TEST(coordinator_counting, a_grant_after_others) {
  counting_bench b;
  auto c = b.want();
  b.engine.acquires[0].queue(0, 1s);
  b.clock.move(700ms);
  b.coordinator.wake(b.engine.acquires[0].what.what.who);
  b.engine.acquires[1].grant(1);
  ASSERT_TRUE(c->hold);
  EXPECT_EQ(b.ended(acquire_end::queued), 1u);
  EXPECT_EQ(b.took(acquire_end::queued), 700ms);
  EXPECT_EQ(b.all_ended(), 1u);
}

TEST(coordinator_counting, a_hand_off) {
  counting_bench b;
  b.lock = bench::make_lock("order", 9s, 16);
  auto first = b.held();
  auto second = b.want();
  b.confirm();
  b.clock.move(2s);
  b.give_back(first);
  ASSERT_TRUE(second->hold);
  EXPECT_EQ(b.ended(acquire_end::handed_off), 1u);
  EXPECT_EQ(b.took(acquire_end::handed_off), 2001ms);
  EXPECT_EQ(b.all_ended(), 2u);
  EXPECT_EQ(b.counted().holds, 1u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  EXPECT_EQ(b.counted().hold_duration.sum, 2001ms);
}

TEST(coordinator_counting, a_hand_off_by_a_caller_that_does_not_drive) {
  counting_bench b;
  b.lock = bench::make_lock("order", 9s, 16);
  auto first = b.held();
  auto second = b.want();
  second.acquisition->anywhere = true;
  b.confirm();
  ASSERT_TRUE(b.coordinator.hand_off(first->hold));
  ASSERT_TRUE(second->hold);
  EXPECT_EQ(b.ended(acquire_end::handed_off), 1u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  EXPECT_EQ(b.counted().holds, 1u);
  EXPECT_EQ(b.all_lost(), 0u);
}

TEST(coordinator_counting, one_attempt_at_what_others_have) {
  counting_bench b;
  auto c = b.try_once();
  b.clock.move(1ms);
  b.engine.acquires[0].busy(100ms);
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(b.ended(acquire_end::busy), 1u);
  EXPECT_EQ(b.took(acquire_end::busy), 1ms);
  EXPECT_EQ(b.all_ended(), 1u);
  EXPECT_EQ(b.counted().waiters, 0u);
}

TEST(coordinator_counting, one_attempt_at_what_a_caller_of_this_client_has) {
  counting_bench b;
  auto first = b.held();
  auto c = b.try_once();
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(b.ended(acquire_end::busy), 1u);
  EXPECT_EQ(b.took(acquire_end::busy), 0ms);
  EXPECT_EQ(b.counted().waiters, 0u);
}

TEST(coordinator_counting, a_limit_that_others_have_outlasted) {
  counting_bench b;
  auto c = b.want(b.lock, true, 5s);
  b.engine.acquires[0].queue(1, 60s);
  b.pass(5s);
  EXPECT_EQ(c->times, 1);
  EXPECT_EQ(b.ended(acquire_end::timed_out), 1u);
  EXPECT_EQ(b.took(acquire_end::timed_out), 5s);
  EXPECT_EQ(b.all_ended(), 1u);
}

TEST(coordinator_counting, a_caller_that_has_called_off) {
  counting_bench b;
  auto c = b.want();
  b.engine.acquires[0].queue(1, 60s);
  b.clock.move(40ms);
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  EXPECT_EQ(b.ended(acquire_end::cancelled), 1u);
  EXPECT_EQ(b.took(acquire_end::cancelled), 40ms);
  EXPECT_EQ(b.all_ended(), 1u);
  EXPECT_EQ(b.counted().waiters, 0u);
}

TEST(coordinator_counting, an_engine_that_does_not_answer) {
  counting_bench b;
  auto c = b.try_once();
  b.pass(2s);
  EXPECT_EQ(c->why, errc::unavailable);
  EXPECT_EQ(b.ended(acquire_end::unavailable), 1u);
  EXPECT_EQ(b.took(acquire_end::unavailable), 2s);
  EXPECT_EQ(b.all_ended(), 1u);
}

TEST(coordinator_counting, an_engine_that_says_no) {
  counting_bench b;
  for (const auto kind : {why::refused, why::name_conflict, why::unsupported}) {
    auto c = b.want();
    b.engine.acquires.back().fail(kind, "no");
    EXPECT_EQ(c->times, 1);
  }
  EXPECT_EQ(b.ended(acquire_end::refused), 3u);
  EXPECT_EQ(b.all_ended(), 3u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::engine], 0u);
}

TEST(coordinator_counting, a_limit_of_the_engine) {
  counting_bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::over_limit, "too many wait");
  EXPECT_EQ(c->why, errc::over_limit);
  EXPECT_EQ(b.ended(acquire_end::refused), 1u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::engine], 1u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::client], 0u);
}

TEST(coordinator_counting, a_limit_of_the_client) {
  counting_bench b{{.acquisitions_max = 1}};
  auto first = b.want(), second = b.want();
  EXPECT_EQ(second->why, errc::over_limit);
  EXPECT_EQ(b.ended(acquire_end::refused), 1u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::client], 1u);
  EXPECT_EQ(b.stats().over_limit[limit_set_by::engine], 0u);
  EXPECT_EQ(b.counted().waiters, 1u);
}

TEST(coordinator_counting, a_client_that_is_closed) {
  counting_bench b;
  auto c = b.want();
  b.clock.move(1s);
  b.coordinator.close();
  EXPECT_EQ(c->why, errc::closed);
  EXPECT_EQ(b.ended(acquire_end::closed), 1u);
  EXPECT_EQ(b.took(acquire_end::closed), 1s);
  EXPECT_EQ(b.counted().waiters, 0u);
  auto late = b.want();
  EXPECT_EQ(late->why, errc::closed);
  EXPECT_EQ(b.all_ended(), 1u) << "what is asked of a closed client is not counted";
}

// ---- holds

TEST(coordinator_counting, a_hold_that_is_given_back) {
  counting_bench b;
  auto c = b.held();
  b.clock.move(250ms);
  b.give_back(c);
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  EXPECT_EQ(b.counted().hold_duration.sum, 250ms);
  EXPECT_EQ(b.all_lost(), 0u);
}

TEST(coordinator_counting, a_hold_that_is_not_renewed_in_time) {
  counting_bench b;
  auto c = b.held();
  b.pass_in_silence(9s);
  EXPECT_EQ(c->hold->where(), phase::lost);
  EXPECT_EQ(b.lost(loss_reason::deadline), 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.all_lost(), 1u) << "once";
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
}

// The watch has found it over, and its owner gives it back before the coordinator has seen that.
TEST(coordinator_counting, a_loss_that_the_coordinator_has_not_seen) {
  counting_bench b;
  auto c = b.held();
  b.stop_for(9s);
  ASSERT_TRUE(c->hold->end(phase::lost));
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.lost(loss_reason::deadline), 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
  b.pass(20s);
  EXPECT_EQ(b.all_lost(), 1u);
}

// It was over before the engine said so.
TEST(coordinator_counting, a_loss_is_what_its_owner_was_told_first) {
  counting_bench b;
  auto c = b.held();
  b.stop_for(9s);
  ASSERT_TRUE(c->hold->end(phase::lost));
  b.coordinator.gone(c->hold->who());
  EXPECT_EQ(b.lost(loss_reason::deadline), 1u);
  EXPECT_EQ(b.all_lost(), 1u);
}

TEST(coordinator_counting, a_hold_that_the_engine_has_no_more) {
  counting_bench b;
  auto by_event = b.held();
  b.coordinator.gone(by_event->hold->who());
  EXPECT_EQ(b.lost(loss_reason::gone), 1u);
  auto by_renewal = b.held();
  b.pass(3s);
  b.engine.keeps.back().answer({fate::gone});
  EXPECT_EQ(b.lost(loss_reason::gone), 2u);
  EXPECT_EQ(b.all_lost(), 2u);
  EXPECT_EQ(b.counted().holds, 0u);
}

TEST(coordinator_counting, a_hold_that_was_as_long_as_it_may_be) {
  counting_bench b;
  auto s = bench::make_lock("order", 9s);
  s->max_hold = 6s;
  auto c = b.want(s);
  b.engine.acquires[0].grant(1);
  for (int i = 0; i < 6; ++i) {
    b.pass(1s);
    b.answer_keeps();
  }
  EXPECT_EQ(c->hold->where(), phase::lost);
  EXPECT_EQ(b.lost(loss_reason::max_hold), 1u);
  EXPECT_EQ(b.all_lost(), 1u);
}

TEST(coordinator_counting, a_hold_that_lapses_with_a_lock_delay) {
  counting_bench b;
  auto s = bench::make_lock("order", 9s);
  s->lock_delay = 5s;
  auto c = b.want(s);
  b.engine.acquires[0].grant(1);
  b.pass_in_silence(9s);
  EXPECT_EQ(b.lost(loss_reason::deadline), 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  b.pass(30s);
  EXPECT_EQ(b.all_lost(), 1u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
}

TEST(coordinator_counting, a_lapsed_hold_that_its_owner_gives_back) {
  counting_bench b;
  auto s = bench::make_lock("order", 9s);
  s->lock_delay = 5s;
  auto c = b.want(s);
  b.engine.acquires[0].grant(1);
  b.coordinator.gone(c->hold->who());
  EXPECT_EQ(b.lost(loss_reason::gone), 1u);
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.all_lost(), 1u);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
}

TEST(coordinator_counting, holds_of_a_client_that_is_closed) {
  counting_bench b;
  auto c = b.held();
  b.coordinator.close();
  EXPECT_EQ(b.lost(loss_reason::closed), 1u);
  EXPECT_EQ(b.counted().holds, 0u);
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.all_lost(), 1u);
}

TEST(coordinator_counting, a_hold_that_rests_is_over_for_its_owner) {
  counting_bench b;
  auto s = bench::make_lock("order", 9s);
  s->min_hold = 5s;
  auto c = b.want(s);
  b.engine.acquires[0].grant(1);
  b.clock.move(1s);
  b.coordinator.give_back(c->hold, {});
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.counted().hold_duration.sum, 1s);
  b.pass(5s);
  EXPECT_EQ(b.counted().hold_duration.count(), 1u);
}

// ---- groups

TEST(coordinator_counting, a_group_is_of_the_lock_that_asked) {
  counting_bench b;
  auto& board = *b.coordinator.board();
  auto orders = bench::make_lock("order", 9s, 16), others = bench::make_lock("order", 9s, 16);
  orders->counted_in = &board.group_of("orders");
  others->counted_in = &board.group_of("others");
  auto first = b.want(orders);
  b.engine.acquires[0].grant(1);
  auto second = b.want(others);  // the same lane: what is asked of the engine is the same
  EXPECT_EQ(b.engine.acquires.size(), 1u);
  b.confirm();
  b.give_back(first);
  ASSERT_TRUE(second->hold);
  const auto all = b.stats().groups;
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].name, "orders");
  EXPECT_EQ(all[1].acquire_duration[acquire_end::granted].count(), 1u);
  EXPECT_EQ(all[1].hold_duration.count(), 1u);
  EXPECT_EQ(all[1].holds, 0u);
  EXPECT_EQ(all[2].acquire_duration[acquire_end::handed_off].count(), 1u);
  EXPECT_EQ(all[2].holds, 1u);
  EXPECT_EQ(b.all_ended(), 0u) << "of locks without a group";
}

// ---- renewals

TEST(coordinator_counting, a_renewal_in_time) {
  counting_bench b;
  auto c = b.held();
  b.pass(3s);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  b.clock.move(50ms);
  const auto left = c->hold->valid_until() - b.clock.now();
  b.engine.keeps[0].answer({fate::holding});
  const auto s = b.stats();
  EXPECT_EQ(s.renewal_lag.count(), 1u);
  EXPECT_EQ(s.renewal_lag.sum, 0s);
  EXPECT_EQ(s.renewal_remaining.count(), 1u);
  EXPECT_EQ(s.renewal_remaining.sum, left);
  EXPECT_EQ(s.remaining_min, left);
}

TEST(coordinator_counting, a_renewal_that_left_late) {
  counting_bench b;
  auto c = b.held();
  const auto due = b.coordinator.next_due();
  b.stop_for(due - b.clock.now() + 2s);
  b.coordinator.on_time(b.clock.now());
  EXPECT_EQ(b.stats().renewal_lag.sum, 2s);
  EXPECT_EQ(b.stats().remaining_min, std::nullopt) << "nothing was confirmed";
}

TEST(coordinator_counting, the_smallest_of_what_was_left) {
  counting_bench b;
  auto c = b.held();
  lease::duration least = lease::duration::max();
  for (const auto answer_after : {10ms, 900ms, 20ms}) {
    b.pass(b.coordinator.next_due() - b.clock.now());
    b.clock.move(answer_after);
    least = std::min(least, c->hold->valid_until() - b.clock.now());
    b.answer_keeps();
  }
  EXPECT_EQ(b.stats().renewal_remaining.count(), 3u);
  EXPECT_EQ(b.stats().remaining_min, least);
}

TEST(coordinator_counting, renewals_after_a_reconnect_are_not_late_and_places_in_a_queue_are_no_holds) {
  counting_bench b;
  auto c = b.held();
  auto other = b.want(bench::make_lock("other", 9s));
  b.engine.acquires.back().queue(0, 60s);
  b.clock.move(100ms);
  b.coordinator.up({});
  ASSERT_EQ(b.engine.keeps.size(), 2u);
  b.answer_keeps();
  EXPECT_EQ(b.stats().renewal_lag.count(), 1u);
  EXPECT_EQ(b.stats().renewal_lag.sum, 0s);
  EXPECT_EQ(b.stats().renewal_remaining.count(), 1u);
}

TEST(coordinator_counting, a_hold_that_an_engine_suspects_was_not_planned) {
  counting_bench b;
  auto c = b.held();
  b.coordinator.suspect(c->hold->who());
  b.coordinator.on_time(b.clock.now());
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  EXPECT_EQ(b.stats().renewal_lag.count(), 0u);
}

// ---- the engine

TEST(coordinator_counting, how_long_the_engine_took) {
  counting_bench b;
  auto c = b.want();
  b.clock.move(1ms);
  b.engine.acquires[0].grant(1);
  b.pass(b.coordinator.next_due() - b.clock.now());
  b.clock.move(2ms);
  b.engine.keeps[0].answer({fate::holding});
  auto up = b.convert(c->hold, bench::readers_of(*b.lock));
  b.clock.move(3ms);
  b.engine.converts[0].grant(2);
  bool stands = false;
  b.coordinator.confirm(c->hold, [&](tyer::failure, bool yes) { stands = yes; });
  b.clock.move(4ms);
  b.engine.keeps.back().answer({fate::holding});
  EXPECT_TRUE(stands);
  b.coordinator.ask_engine<seam::page>(runtime::queries::show("order"), [](auto&&) {});
  b.clock.move(5ms);
  b.engine.shows[0].answer({});
  b.coordinator.give_back(c->hold, {});
  b.clock.move(6ms);
  b.engine.releases[0].answer(fate::holding);
  const auto s = b.stats();
  auto expected = 1ms;
  for (const auto what : {engine_request::acquire, engine_request::keep, engine_request::convert,
                          engine_request::confirm, engine_request::query, engine_request::release}) {
    EXPECT_EQ(s.request_duration[what][request_end::answered].count(), 1u) << static_cast<int>(what);
    EXPECT_EQ(s.request_duration[what][request_end::answered].sum, expected++) << static_cast<int>(what);
    EXPECT_EQ(s.request_duration[what][request_end::failed].count(), 0u) << static_cast<int>(what);
  }
}

TEST(coordinator_counting, what_an_observer_asks) {
  counting_bench b;
  auto o = std::make_shared<runtime::observer>();
  o->name = "order";
  o->every = 60s;
  o->seen = [](const auto&) {};
  b.coordinator.observe(o);
  ASSERT_EQ(b.engine.shows.size(), 1u);
  b.clock.move(7ms);
  b.engine.shows[0].answer({});
  EXPECT_EQ(b.stats().request_duration[engine_request::look][request_end::answered].sum, 7ms);
}

TEST(coordinator_counting, requests_without_an_answer) {
  counting_bench b;
  auto c = b.want();
  b.clock.move(2s);
  b.engine.acquires[0].fail(why::unknown);
  b.pass(1s);
  b.engine.acquires[1].fail(why::not_sent);
  const auto s = b.stats();
  const auto& asked = s.request_duration[engine_request::acquire];
  EXPECT_EQ(asked[request_end::failed].count(), 2u);
  EXPECT_GE(asked[request_end::failed].sum, 2s);
  EXPECT_EQ(asked[request_end::answered].count(), 0u);
}

// A no is an answer.
TEST(coordinator_counting, a_request_that_was_refused) {
  counting_bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::refused);
  EXPECT_EQ(b.stats().request_duration[engine_request::acquire][request_end::answered].count(), 1u);
}

// Its caller has left meanwhile.
TEST(coordinator_counting, an_answer_that_came_late) {
  counting_bench b;
  auto c = b.want();
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  b.clock.move(8ms);
  b.engine.acquires[0].grant(1);
  EXPECT_EQ(b.stats().request_duration[engine_request::acquire][request_end::answered].sum, 8ms);
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.ended(acquire_end::granted), 0u);
}

TEST(coordinator_counting, reconnects) {
  counting_bench b;
  const auto away_and_back = [&](std::string server) {
    b.coordinator.down({});
    b.coordinator.down({});  // and again, as often as it was tried in vain
    b.coordinator.up({.id = std::move(server), .version = {}});
  };
  away_and_back("a");
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 0u) << "the first connection is none";
  away_and_back("a");
  away_and_back("b");
  away_and_back("a");
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 1u);
  EXPECT_EQ(b.stats().reconnects[reconnection::other_server], 2u);
}

TEST(coordinator_counting, servers_of_one_engine_that_come_one_after_the_other_are_no_reconnects) {
  counting_bench b;
  for (const char* shard : {"a", "b", "c"}) b.coordinator.up({.id = shard, .version = {}});
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 0u);
  EXPECT_EQ(b.stats().reconnects[reconnection::other_server], 0u);
}

// It was: the count compared with the last server that had connected, and the event with the one in its place.
TEST(coordinator_counting, a_cluster_whose_other_master_was_back_had_another_server) {
  counting_bench b;
  b.coordinator.up({.id = "a,b,c", .version = {}});
  b.coordinator.down({});
  b.coordinator.up({.id = "a,-,c", .version = {}});
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 1u);
  b.coordinator.down({});
  b.coordinator.up({.id = "a,d,c", .version = {}});
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 1u);
  EXPECT_EQ(b.stats().reconnects[reconnection::other_server], 1u);
}

// ---- not counting

TEST(coordinator_counting, without_it_all_is_zero) {
  counting_bench b;
  b.coordinator.board()->count(false);
  auto c = b.held();
  b.pass(3s);
  b.answer_keeps();
  b.coordinator.up({});
  b.coordinator.up({});
  b.give_back(c);
  b.try_once();
  const auto s = b.stats();
  for (const auto& one : samples(s)) {
    EXPECT_EQ(one.value, 0) << one.of->name;
    if (one.durations != nullptr) {
      EXPECT_EQ(one.durations->count(), 0u) << one.of->name;
    }
  }
}

}  // namespace
}  // namespace tyer::testing
