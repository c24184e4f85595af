// The reference model: holds, queue, tokens, modes.
#include "core/token.hpp"
#include "unit/kit/resource_fixture.hpp"

#include <tyer/error.hpp>

namespace tyer::kit {

namespace {

// --- time ---

TEST_F(resource_test, a_hold_ends_exactly_at_its_ttl) {
  lock(ask(1));
  now += 10s - 1ns;
  find_busy(ask(2));
  now += 1ns;
  lock(ask(2));
}

TEST_F(resource_test, the_hint_is_rounded_up_so_that_asking_then_succeeds) {
  lock(ask(1));
  now += 9s + 500us;
  const auto hint = find_busy(ask(2)).hint;
  EXPECT_EQ(hint, 1000ms);
  now += hint;
  lock(ask(2));
}

TEST_F(resource_test, an_expired_hold_is_gone_though_nobody_took_it) {
  lock(ask(1));
  now += 10s;
  EXPECT_EQ(keep(1, fate::holding, 10s), fate::gone);
  EXPECT_TRUE(it.holds().empty());
}

TEST_F(resource_test, keeping_never_shortens) {
  lock(ask(1));
  EXPECT_EQ(keep(1, fate::holding, 1ms), fate::holding);
  now += 9s;
  EXPECT_EQ(keep(1, fate::holding, 10s), fate::holding);
}

TEST_F(resource_test, keeping_as_something_else_extends_nothing) {
  lock(ask(1));
  enqueue(wait(2));
  EXPECT_EQ(keep(1, fate::waiting, 1h), fate::holding);
  EXPECT_EQ(keep(2, fate::holding, 1h), fate::waiting);
  now += 2s;
  EXPECT_EQ(keep(2, fate::waiting, 2s), fate::gone);
  now += 8s;
  EXPECT_EQ(keep(1, fate::holding, 1s), fate::gone);
}

// --- the queue ---

TEST_F(resource_test, the_head_looks_again_at_the_end_of_the_hold_the_others_after_their_lease) {
  lock(ask(1));
  EXPECT_EQ(enqueue(wait(2)).look_again, 10s);
  EXPECT_EQ(enqueue(wait(3)).look_again, 2s);
}

TEST_F(resource_test, a_release_hands_over_for_a_waiter_lease_only) {
  const auto first = lock(ask(1)).part;
  enqueue(wait(2));
  EXPECT_EQ(release(1), fate::holding);
  EXPECT_EQ(woken(), only(2));
  ASSERT_EQ(it.holds().size(), 1u);
  EXPECT_FALSE(it.holds()[0].claimed());
  EXPECT_EQ(it.holds()[0].expires, now + 2s);
  EXPECT_GT(it.holds()[0].part, first);
}

TEST_F(resource_test, the_claim_extends_and_keeps_the_part) {
  lock(ask(1));
  enqueue(wait(2));
  release(1);
  const auto part = it.holds()[0].part;
  now += 1s;
  EXPECT_EQ(lock(wait(2)).part, part);
  EXPECT_EQ(it.holds()[0].expires, now + 10s);
  EXPECT_TRUE(it.holds()[0].claimed());
}

TEST_F(resource_test, a_hand_over_is_not_extended_by_keeping) {
  lock(ask(1));
  enqueue(wait(2));
  release(1);
  EXPECT_EQ(keep(2, fate::waiting, 10s), fate::holding);
  EXPECT_EQ(keep(2, fate::holding, 10s), fate::waiting) << "its claim was forgotten";
  EXPECT_EQ(it.holds()[0].expires, now + 2s);
}

TEST_F(resource_test, dead_waiters_cost_one_lease_altogether_if_they_died_together) {
  lock(ask(1));
  enqueue(wait(2));
  enqueue(wait(3));
  auto last = wait(4);
  last.waiter_ttl = 1h;
  enqueue(last);
  release(1);
  EXPECT_EQ(woken(), only(2));
  now += 2s;
  lock(last);
}

TEST_F(resource_test, looking_again_finds_what_expired_and_wakes_only_the_head) {
  lock(ask(1));
  auto head = wait(2), next = wait(3);
  head.waiter_ttl = next.waiter_ttl = 1h;
  enqueue(head);
  enqueue(next);
  now += 10s;
  EXPECT_EQ(enqueue(next).ahead, 0u);
  EXPECT_EQ(woken(), only(2));
}

TEST_F(resource_test, the_queue_has_a_limit) {
  it = resource{{.waiters = 2}};
  lock(ask(1));
  enqueue(wait(2));
  enqueue(wait(3));
  EXPECT_EQ(fail(wait(4)).kind, why::over_limit);
  EXPECT_EQ(enqueue(wait(3)).ahead, 1u);
}

TEST_F(resource_test, a_waiter_that_changes_its_mind_is_refused) {
  lock(ask(1));
  enqueue(wait(2));
  EXPECT_EQ(fail(wait(2, mode::shared)).kind, why::refused);
  EXPECT_EQ(it.queue().size(), 1u);
}

// --- tokens ---

TEST_F(resource_test, a_part_is_the_time_or_one_more) {
  EXPECT_EQ(lock(ask(1)).part, 1'000'000'000u);
  release(1);
  EXPECT_EQ(lock(ask(2)).part, 1'000'000'001u);
  release(2);
  now += 1s;
  EXPECT_EQ(lock(ask(3)).part, 1'001'000'000u);
}

TEST_F(resource_test, a_part_is_above_what_was_seen) {
  auto r = ask(1);
  r.seen = 5'000'000'000'000;
  EXPECT_EQ(lock(r).part, r.seen + 1);
  release(1);
  EXPECT_EQ(lock(ask(2)).part, r.seen + 2);
}

TEST_F(resource_test, the_last_token_of_all_is_refused) {
  auto r = ask(1);
  r.seen = core::part_max;
  EXPECT_EQ(fail(r).kind, why::refused);
}

TEST_F(resource_test, the_floor_outlives_the_last_use_by_a_day) {
  auto r = ask(1);
  r.seen = 1'000'000'000'000'000;
  const auto part = lock(r).part;
  release(1);
  EXPECT_EQ(it.forgotten_at(), now + 24h);
  now += 24h - 1ns;
  EXPECT_EQ(lock(ask(2)).part, part + 1);
  release(2);
  now += 24h;
  EXPECT_LT(lock(ask(3)).part, part);
}

TEST_F(resource_test, the_floor_outlives_a_hold_that_nobody_reaped) {
  lock(ask(1));
  EXPECT_EQ(it.forgotten_at(), now + 10s + 24h);
}

// --- shared ---

TEST_F(resource_test, a_queued_writer_stops_later_readers) {
  lock(ask(1, mode::shared));
  enqueue(wait(2));
  EXPECT_EQ(find_busy(ask(3, mode::shared)).hint, 10s);
  EXPECT_EQ(enqueue(wait(4, mode::shared)).ahead, 1u);
}

TEST_F(resource_test, a_writer_looks_again_when_the_last_reader_may_end) {
  lock(ask(1, mode::shared));
  now += 3s;
  lock(ask(2, mode::shared));
  EXPECT_EQ(enqueue(wait(3)).look_again, 10s);
}

TEST_F(resource_test, readers_in_a_row_are_woken_together) {
  lock(ask(1));
  enqueue(wait(2, mode::shared));
  enqueue(wait(3, mode::shared));
  enqueue(wait(4));
  enqueue(wait(5, mode::shared));
  release(1);
  EXPECT_EQ(woken(), (std::vector<id>{number(2), number(3)}));
  release(2);
  EXPECT_TRUE(woken().empty());
  release(3);
  EXPECT_EQ(woken(), only(4));
}

TEST_F(resource_test, a_dead_writer_in_the_queue_lets_the_readers_in) {
  auto reader = ask(1, mode::shared);
  lock(reader);
  enqueue(wait(2));
  auto late = wait(3, mode::shared);
  late.waiter_ttl = 1h;
  enqueue(late);
  now += 2s;
  lock(late);
}

// --- convert ---

TEST_F(resource_test, a_downgrade_lets_the_following_readers_in) {
  const auto part = lock(ask(1)).part;
  enqueue(wait(2, mode::shared));
  enqueue(wait(3));
  now += 4s;
  const auto g = std::get<granted>(convert(1, mode::shared));
  EXPECT_GT(g.part, part);
  EXPECT_EQ(g.ttl, 6s);  // what is left: a conversion extends nothing
}

TEST_F(resource_test, an_upgrade_waits_for_the_others_only) {
  lock(ask(1, mode::shared));
  lock(ask(2, mode::shared));
  auto writer = wait(3);
  writer.waiter_ttl = 1h;
  enqueue(writer);
  EXPECT_EQ(std::get<queued>(convert(1, mode::exclusive)).ahead, 0u);
  EXPECT_EQ(std::get<queued>(convert(1, mode::exclusive)).look_again, 10s);
  now += 5s;
  EXPECT_EQ(keep(1, fate::holding, 10s), fate::holding);
  now += 5s;
  EXPECT_EQ(enqueue(writer).ahead, 0u);  // 2 has expired, and its discovery upgrades 1
  EXPECT_EQ(woken(), only(1));
  EXPECT_EQ(it.holds()[0].how, mode::exclusive);
  lock(ask(1));
}

TEST_F(resource_test, behind_an_upgrade_a_reader_looks_again_when_all_is_over) {
  lock(ask(1, mode::shared));
  now += 5s;
  lock(ask(2, mode::shared));
  std::get<queued>(convert(1, mode::exclusive));
  EXPECT_EQ(find_busy(ask(3, mode::shared)).hint, 10s);
  EXPECT_EQ(enqueue(wait(3, mode::shared)).look_again, 10s);
}

TEST_F(resource_test, a_second_upgrade_is_busy_until_the_first_is_over) {
  lock(ask(1, mode::shared));
  lock(ask(2, mode::shared));
  std::get<queued>(convert(1, mode::exclusive));
  std::get<busy>(convert(2, mode::exclusive));
  EXPECT_EQ(keep(2, fate::holding, 10s), fate::holding);
  release(1);
  std::get<granted>(convert(2, mode::exclusive));
}

TEST_F(resource_test, an_upgrade_dies_with_its_hold) {
  lock(ask(1, mode::shared));
  now += 1s;
  lock(ask(2, mode::shared));
  std::get<queued>(convert(1, mode::exclusive));
  now += 9s;
  EXPECT_EQ(keep(1, fate::holding, 10s), fate::gone);
  lock(ask(3, mode::shared));
}

TEST_F(resource_test, an_upgrade_taken_back_lets_the_queue_go_on) {
  lock(ask(1, mode::shared));
  lock(ask(2, mode::shared));
  std::get<queued>(convert(1, mode::exclusive));
  enqueue(wait(3, mode::shared));
  std::get<granted>(convert(1, mode::shared));
  EXPECT_EQ(woken(), only(3));
}

TEST_F(resource_test, what_is_not_held_is_not_converted) {
  const auto r = it.convert(number(1), mode::shared, now, told);
  EXPECT_EQ(std::get<engine::failure>(r).code, make_error_code(errc::lost));
}

TEST_F(resource_test, permits_are_not_converted) {
  lock(permits(1, 1, 2));
  const auto r = it.convert(number(1), mode::shared, now, told);
  EXPECT_EQ(std::get<engine::failure>(r).kind, why::unsupported);
}

// --- permits ---

TEST_F(resource_test, permits_have_slots_and_the_lowest_free_ones_are_taken) {
  using slots = std::vector<std::uint32_t>;
  lock(permits(1, 1, 4));
  lock(permits(2, 2, 4));
  EXPECT_EQ(it.holds()[1].slots, (slots{1, 2}));
  release(1);
  lock(permits(3, 2, 4));
  EXPECT_EQ(it.holds()[1].slots, (slots{0, 3}));
}

TEST_F(resource_test, a_permit_looks_again_when_enough_may_have_ended) {
  lock(permits(1, 1, 3));
  now += 1s;
  lock(permits(2, 1, 3));
  now += 1s;
  lock(permits(3, 1, 3));
  EXPECT_EQ(find_busy(permits(4, 1, 3)).hint, 8s);
  EXPECT_EQ(find_busy(permits(4, 2, 3)).hint, 9s);
  EXPECT_EQ(find_busy(permits(4, 3, 3)).hint, 10s);
}

TEST_F(resource_test, the_capacity_is_fixed_while_in_use) {
  lock(permits(1, 1, 3));
  EXPECT_EQ(fail(permits(2, 1, 4)).words, "this name is in use with 3 permits, not 4");
  now += 10s;
  lock(permits(2, 1, 4));
}

TEST_F(resource_test, a_capacity_counts_from_the_moment_that_permits_are_held) {
  lock(ask(1));
  auto three = permits(2, 1, 3), four = permits(3, 1, 4);
  three.enqueue = four.enqueue = true;
  three.waiter_ttl = four.waiter_ttl = 1h;
  enqueue(three);
  enqueue(four);
  release(1);
  EXPECT_EQ(woken(), only(2));
  EXPECT_EQ(fail(four).words, "this name is in use with 3 permits, not 4");
  release(2);
  EXPECT_EQ(woken(), only(3));
  lock(four);
}

TEST_F(resource_test, holders_have_a_limit) {
  it = resource{{.holds = 2}};
  lock(ask(1, mode::shared));
  lock(ask(2, mode::shared));
  EXPECT_EQ(fail(ask(3, mode::shared)).kind, why::over_limit);
  lock(ask(2, mode::shared));
  enqueue(wait(4));
}

TEST_F(resource_test, waiters_over_the_limit_of_holders_have_their_turn_later) {
  it = resource{{.holds = 2}};
  lock(ask(1));
  for (std::uint64_t who = 2; who < 5; ++who) enqueue(wait(who, mode::shared));
  release(1);
  EXPECT_EQ(woken(), (std::vector<id>{number(2), number(3)}));
  release(2);
  EXPECT_EQ(woken(), only(4));
}

TEST_F(resource_test, impossible_permits_are_refused) {
  EXPECT_EQ(fail(permits(1, 0, 3)).kind, why::refused);
  EXPECT_EQ(fail(permits(1, 4, 3)).kind, why::refused);
  EXPECT_EQ(fail(permits(1, 1, 1'000'000)).kind, why::over_limit);
}

TEST_F(resource_test, a_ttl_out_of_range_is_refused) {
  auto r = ask(1);
  r.ttl = 0ms;
  EXPECT_EQ(fail(r).kind, why::refused);
  r.ttl = milliseconds::max();
  EXPECT_EQ(fail(r).kind, why::refused);
  r.ttl = 1s;
  r.waiter_ttl = -1ms;
  EXPECT_EQ(fail(r).kind, why::refused);
}

// --- asking ---

TEST_F(resource_test, asking_tells_every_holder_and_changes_nothing) {
  lock(ask(1, mode::shared));
  lock(ask(2, mode::shared));
  enqueue(wait(3));
  const auto before = it.changes();
  EXPECT_EQ(it.ask("please", now, told), 2u);
  EXPECT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].what, notice::kind::asked);
  EXPECT_EQ(told[1].reason, "please");
  EXPECT_EQ(it.changes(), before);
}

}  // namespace

}  // namespace tyer::kit
