// The coordinator and a hold that changes its mode.
#include "runtime/coordinator/coordinator.hpp"
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

struct convert_bench : bench {
  convert_bench() {
    lock = make_lock("order", 9s, 16);
    readers = readers_of(*lock);
  }
  std::shared_ptr<runtime::spec> readers;

  // Everything else has been answered.
  caller reader(std::uint64_t part = 100) {
    caller c = want(readers);
    engine.acquires.back().grant(part);
    return c;
  }
  caller writer(std::uint64_t part = 100) {
    caller c = want(lock);
    engine.acquires.back().grant(part);
    return c;
  }
  // A reader that was granted an upgrade.
  caller upgraded(std::uint64_t part = 110) {
    caller c = reader();
    convert(c->hold, lock);
    engine.converts.back().grant(part);
    return c;
  }
};

// ---- up and down

TEST(coordinator_converting, an_upgrade_gives_the_hold_another_mode_and_token) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  ASSERT_EQ(b.engine.converts.size(), 1u);
  EXPECT_EQ(b.engine.converts[0].to, seam::mode::exclusive);
  EXPECT_EQ(b.engine.converts[0].who, b.engine.acquires[0].what.what.who);
  EXPECT_EQ(h->hold->how(), seam::mode::shared);
  b.engine.converts[0].grant(110);
  EXPECT_EQ(up->times, 1);
  EXPECT_TRUE(up->yes);
  EXPECT_EQ(h->hold->how(), seam::mode::exclusive);
  EXPECT_EQ(h->hold->token(), core::make_token(110, 0));
}

TEST(coordinator_converting, a_downgrade_lets_the_writers_of_the_client_ask_for_themselves) {
  convert_bench b;
  auto h = b.writer();
  auto next = b.want(b.lock);
  EXPECT_EQ(b.engine.acquires.size(), 1u);
  auto down = b.convert(h->hold, b.readers);
  b.engine.converts[0].grant(110);
  EXPECT_TRUE(down->yes);
  EXPECT_EQ(h->hold->how(), seam::mode::shared);
  EXPECT_EQ(h->hold->token(), core::make_token(110, 0));
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  EXPECT_EQ(b.engine.acquires[1].what.seen, 110u);
  EXPECT_EQ(next->times, 0);
}

TEST(coordinator_converting, what_it_is_already_needs_no_request) {
  convert_bench b;
  auto h = b.reader();
  auto same = b.convert(h->hold, b.readers);
  EXPECT_TRUE(same->yes);
  EXPECT_TRUE(b.engine.converts.empty());
}

TEST(coordinator_converting, an_upgraded_hold_is_handed_off_to_writers) {
  convert_bench b;
  auto h = b.upgraded();
  b.clock.move(1ms);
  auto next = b.want(b.lock);
  EXPECT_EQ(b.engine.acquires.size(), 1u) << "the upgraded hold stands for the writers";
  b.pass(3s);
  b.engine.keeps.back().answer({fate::holding});
  b.give_back(h);
  ASSERT_TRUE(next->hold);
  EXPECT_EQ(next->hold->token(), core::make_token(110, 1));
  EXPECT_EQ(next->hold->how(), seam::mode::exclusive);
}

TEST(coordinator_converting, one_at_a_time) {
  convert_bench b;
  auto h = b.reader();
  auto first = b.convert(h->hold, b.lock);
  auto second = b.convert(h->hold, b.lock);
  EXPECT_EQ(second->why.code, errc::refused);
  EXPECT_EQ(first->times, 0);
}

// ---- waiting for the other readers

TEST(coordinator_converting, an_upgrade_waits_for_the_readers_and_is_woken) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts[0].queue(5s);
  EXPECT_EQ(up->times, 0);
  b.coordinator.wake(h->hold->who());
  ASSERT_EQ(b.engine.converts.size(), 2u);
  b.engine.converts[1].grant(110);
  EXPECT_TRUE(up->yes);
}

TEST(coordinator_converting, an_upgrade_looks_again_if_nobody_wakes_it) {
  convert_bench b;
  auto h = b.reader();
  b.convert(h->hold, b.lock);
  b.engine.converts[0].queue(2s);
  b.pass(2s);
  EXPECT_EQ(b.engine.converts.size(), 2u);
}

TEST(coordinator_converting, an_upgrade_that_was_refused_half_way_is_told_at_once_and_taken_back) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts[0].refuse_half_way();
  EXPECT_EQ(up->why.code, errc::refused);
  ASSERT_EQ(b.engine.converts.size(), 2u);
  EXPECT_EQ(b.engine.converts[1].to, seam::mode::shared);
}

TEST(coordinator_converting, the_second_of_two_that_upgrade_is_told_so) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts[0].busy();
  EXPECT_EQ(up->times, 1);
  EXPECT_FALSE(up->why);
  EXPECT_FALSE(up->yes);
  EXPECT_EQ(h->hold->where(), phase::held);
  EXPECT_EQ(h->hold->how(), seam::mode::shared);
}

TEST(coordinator_converting, one_attempt_does_not_wait) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock, false);
  b.engine.converts[0].queue(5s);
  EXPECT_EQ(up->times, 1);
  EXPECT_FALSE(up->yes);
  ASSERT_EQ(b.engine.converts.size(), 2u);
  EXPECT_EQ(b.engine.converts[1].to, seam::mode::shared) << "its place at the engine is taken back";
}

// ---- cancels and limits

TEST(coordinator_converting, a_cancelled_upgrade_under_way_is_taken_back_until_it_cannot_come_any_more) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.coordinator.cancel(up.change, errc::cancelled);
  EXPECT_EQ(up->why.code, errc::cancelled);
  ASSERT_EQ(b.engine.converts.size(), 2u);
  EXPECT_EQ(b.engine.converts[1].to, seam::mode::shared);
  b.engine.converts[0].grant(110);  // too late
  EXPECT_EQ(h->hold->how(), seam::mode::shared);
  b.engine.converts[1].grant(111);
  b.pass(5s);
  ASSERT_EQ(b.engine.converts.size(), 3u);
  EXPECT_EQ(b.engine.converts[2].to, seam::mode::shared);
  EXPECT_GE(b.engine.converts[2].sent, b.engine.converts[0].sent + 2 * b.bounds.request_timeout);
  b.engine.converts[2].grant(111);
  EXPECT_EQ(up->times, 1);
  EXPECT_EQ(h->hold->where(), phase::held);
}

TEST(coordinator_converting, an_upgrade_that_runs_out_of_time_is_no_error) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock, true, 100ms);
  b.engine.converts[0].queue(5s);
  b.pass(99ms);
  EXPECT_EQ(up->times, 0);
  b.pass(1ms);
  EXPECT_EQ(up->times, 1);
  EXPECT_FALSE(up->why);
  EXPECT_FALSE(up->yes);
  ASSERT_EQ(b.engine.converts.size(), 2u);
  EXPECT_EQ(b.engine.converts[1].to, seam::mode::shared);
}

TEST(coordinator_converting, an_upgrade_behind_one_that_is_taken_back_waits_for_that) {
  convert_bench b;
  auto h = b.reader();
  auto first = b.convert(h->hold, b.lock);
  b.engine.converts[0].queue(5s);
  b.coordinator.cancel(first.change, errc::cancelled);
  auto second = b.convert(h->hold, b.lock);
  EXPECT_EQ(b.engine.converts.size(), 2u);
  b.engine.converts[1].grant(100);
  ASSERT_EQ(b.engine.converts.size(), 3u);
  EXPECT_EQ(b.engine.converts[2].to, seam::mode::exclusive);
  b.engine.converts[2].grant(110);
  EXPECT_TRUE(second->yes);
}

TEST(coordinator_converting, a_downgrade_cannot_be_called_off) {
  convert_bench b;
  auto h = b.writer();
  auto down = b.convert(h->hold, b.readers);
  b.coordinator.cancel(down.change, errc::cancelled);
  EXPECT_EQ(down->times, 0);
  b.engine.converts[0].grant(110);
  EXPECT_TRUE(down->yes);
}

// ---- loss

TEST(coordinator_converting, a_hold_lost_meanwhile_ends_the_change) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts[0].queue(5s);
  b.coordinator.gone(h->hold->who());
  EXPECT_EQ(up->why.code, errc::lost);
  EXPECT_FALSE(up->yes);
  EXPECT_EQ(h->hold->where(), phase::lost);
}

TEST(coordinator_converting, an_engine_that_has_no_such_hold_is_asked_for_proof) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts[0].lost();
  EXPECT_EQ(up->why.code, errc::lost);
  b.pass(1ms);
  ASSERT_EQ(b.engine.keeps.size(), 1u);
  b.engine.keeps[0].answer({fate::gone});
  EXPECT_EQ(h->hold->where(), phase::lost);
}

TEST(coordinator_converting, at_the_deadline_too) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts[0].queue(5s);
  for (int n = 0; n < 100 && up->times == 0; ++n) {
    b.pass(100ms);
    for (auto& k : b.engine.keeps) {
      if (!k.answered()) k.fail(why::unknown);
    }
    for (std::size_t i = 0; i < b.engine.converts.size(); ++i) {
      if (!b.engine.converts[i].answered()) b.engine.converts[i].fail(why::unknown);
    }
  }
  EXPECT_EQ(up->why.code, errc::lost);
  EXPECT_EQ(h->hold->where(), phase::lost);
}

// Went wrong: the caller was told of the loss while the ticket was still being taken apart; it gave the hold back from
// inside the call, and the coordinator fell over its own ticket.
TEST(coordinator_converting, whoever_was_told_that_an_upgrade_was_lost_gave_the_hold_back_at_once) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts[0].queue(5s);
  up.change->done = [&](tyer::failure, bool) { b.coordinator.give_back(h->hold, {}); };
  b.coordinator.gone(h->hold->who());
  EXPECT_TRUE(b.coordinator.drained());
}

TEST(coordinator_converting, whoever_was_told_that_its_time_was_over_gave_the_hold_back_at_once) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock, true, 100ms);
  b.engine.converts[0].queue(5s);
  up.change->done = [&](tyer::failure, bool) { b.coordinator.give_back(h->hold, {}); };
  b.pass(100ms);
  ASSERT_EQ(b.engine.releases.size(), 1u);
  b.engine.releases[0].answer(fate::holding);
  EXPECT_TRUE(b.coordinator.drained());
}

// Went wrong: nobody told them.
TEST(coordinator_converting, whoever_changed_a_hold_when_the_client_was_closed_waited_for_ever) {
  convert_bench b;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.coordinator.close();
  EXPECT_EQ(up->times, 1);
  EXPECT_EQ(up->why.code, errc::closed);
}

// ---- given back half-way

// Went wrong: the downgrade was executed after the hold had gone to the next writer, who then wrote beside readers.
TEST(coordinator_converting, a_hold_given_back_during_its_downgrade_was_handed_off_to_a_writer) {
  convert_bench b;
  auto h = b.writer();
  auto next = b.want(b.lock);
  b.pass(3s);
  b.engine.keeps.back().answer({fate::holding});
  auto down = b.convert(h->hold, b.readers);
  b.give_back(h);
  EXPECT_EQ(down->why.code, errc::lost);
  EXPECT_EQ(next->times, 0);
  EXPECT_EQ(b.engine.releases.size(), 1u);
  EXPECT_EQ(b.engine.acquires.size(), 2u);
}

// Went wrong: with the hand-off the next owner got a machine that knew nothing of a downgrade without an answer, and its
// upgrade was overtaken by it.
TEST(coordinator_converting, an_upgrade_after_a_hand_off_overtook_the_downgrade_of_the_owner_before) {
  convert_bench b;
  auto h = b.writer();
  b.convert(h->hold, b.readers);
  b.engine.converts[0].fail(why::unknown);
  b.pass(10ms);
  b.engine.converts[1].grant(110);
  auto next = b.want(b.readers);
  ASSERT_EQ(b.engine.acquires.size(), 2u);
  b.engine.acquires[1].queue(0, 5s);
  b.confirm();
  b.give_back(h);
  ASSERT_TRUE(next->hold);
  b.convert(next->hold, b.lock);
  EXPECT_EQ(b.engine.converts.size(), 2u) << "not while the first downgrade may still be executed";
  b.pass(4s);
  ASSERT_EQ(b.engine.converts.size(), 3u);
  EXPECT_GE(b.engine.converts[2].sent, b.engine.converts[0].sent + 2 * b.bounds.request_timeout);
}

TEST(coordinator_converting, a_reader_that_rests_takes_its_upgrade_back) {
  convert_bench b;
  b.readers->min_hold = 1s;
  auto h = b.reader();
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts[0].queue(5s);
  b.coordinator.give_back(h->hold, {});
  EXPECT_EQ(up->times, 1);
  ASSERT_EQ(b.engine.converts.size(), 2u);
  EXPECT_EQ(b.engine.converts[1].to, seam::mode::shared) << "other readers need not wait for its min_hold";
  b.engine.converts[1].grant(100);
  b.pass(1s);
  EXPECT_EQ(b.engine.releases.size(), 1u);
}

// ---- a server that has gone back

// Went wrong: the server came back from a copy that was older than the downgrade; it granted the next upgrade with the
// part of the one before, and the hold had the token that it had shown as a reader.
TEST(coordinator_converting, an_upgrade_with_an_old_part_brought_no_larger_token) {
  convert_bench b;
  auto h = b.upgraded(110);
  b.convert(h->hold, b.readers);
  b.engine.converts.back().grant(120);
  auto up = b.convert(h->hold, b.lock);
  b.engine.converts.back().grant(110);
  EXPECT_EQ(up->why.code, errc::lost);
  EXPECT_EQ(h->hold->where(), phase::lost);
  EXPECT_EQ(b.engine.releases.size(), 1u);
}

TEST(coordinator_converting, a_downgrade_that_is_repeated_has_the_part_of_the_first) {
  convert_bench b;
  auto h = b.reader();
  auto first = b.convert(h->hold, b.lock);
  b.engine.converts[0].fail(why::unknown);
  b.pass(10ms);
  b.engine.converts[1].grant(110);
  EXPECT_TRUE(first->yes);
  auto down = b.convert(h->hold, b.readers);
  b.engine.converts[2].grant(120);
  EXPECT_EQ(down->times, 0) << "the first request for the upgrade may still come";
  b.pass(5s);
  ASSERT_EQ(b.engine.converts.size(), 4u);
  b.engine.converts[3].grant(120);
  EXPECT_TRUE(down->yes);
  EXPECT_EQ(h->hold->where(), phase::held);
}

// Went wrong: the server came back from a copy that was older than the upgrade, and renewed the hold as one of many
// readers, while its owner wrote.
TEST(coordinator_converting, an_upgrade_that_the_server_had_forgotten_was_renewed_for_ever) {
  convert_bench b;
  auto h = b.upgraded();
  const auto end = h->hold->valid_until();
  b.clock.move(1s);
  b.coordinator.up({});
  ASSERT_EQ(b.engine.converts.size(), 2u);
  EXPECT_EQ(b.engine.converts[1].to, seam::mode::exclusive);
  b.engine.keeps.back().answer({fate::holding});
  EXPECT_EQ(h->hold->valid_until(), end) << "not renewed while it is in doubt";
  b.engine.converts[1].queue(5s);
  EXPECT_EQ(h->hold->where(), phase::lost);
}

TEST(coordinator_converting, an_upgrade_that_the_server_still_knows_is_renewed_again) {
  convert_bench b;
  auto h = b.upgraded();
  const auto end = h->hold->valid_until();
  b.clock.move(1s);
  b.coordinator.up({});
  b.engine.keeps.back().answer({fate::holding});
  b.engine.converts[1].fail(why::unknown);
  b.pass(10ms);
  b.engine.converts[2].grant(110);
  EXPECT_EQ(h->hold->where(), phase::held);
  EXPECT_EQ(h->hold->token(), core::make_token(110, 0));
  b.pass(1s);
  b.engine.keeps.back().answer({fate::holding});
  EXPECT_GT(h->hold->valid_until(), end);
}

}  // namespace
}  // namespace tyer::testing
