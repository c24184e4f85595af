// settle, order by order: the test is the engine and the server.
#include "engines/kit/settle.hpp"

#include "unit/kit/resource_fixture.hpp"

namespace tyer::kit {
namespace {

using verb = settle::verb;
using order = settle::order;

class settle_test : public ::testing::Test {
 protected:
  // What the server has.
  seat held(std::uint64_t who, mode how = mode::exclusive) const {
    return {.who = number(who), .how = how, .part = who, .expires = there + 10s, .ttl = 10s, .waiter_ttl = 2s};
  }
  seat place(std::uint64_t who, mode how = mode::exclusive) const {
    seat s = held(who, how);
    s.is = seat::state::waiting;
    return s;
  }
  view with(std::vector<seat> seats, std::size_t unread = 0) const {
    limits l;
    l.stored = true;
    view v{resource{l}, there, 1, 1};
    for (seat& s : seats) v.name.put(std::move(s));
    if (unread > 0) v.name.skip(unread);
    return v;
  }

  void acquire(std::uint64_t who, bool attempt_first = false, bool enqueue = true) {
    request r{.what = {number(who), "n"}, .ttl = 10s, .waiter_ttl = 2s, .enqueue = enqueue};
    task.who = number(who);
    task.attempt_first = attempt_first;
    task.decide = [this, r](resource& n, store_time now, notices& told) { said = n.acquire(r, now, told); };
    begin();
  }
  void release(std::uint64_t who) {
    task.decide = [this, who](resource& n, store_time now, notices& told) {
      was = n.release(number(who), true, now, told);
    };
    begin();
  }
  void begin() {
    it.emplace(std::move(task));
    last = it->start(now);
  }

  // The answers to the last order.
  verb reads(view v) { return (last = it->on_view(last.number, std::move(v), now)).what; }
  verb attempted(bool done, std::optional<view> v = {}) {
    return (last = it->on_attempted(last.number, done, std::move(v), now)).what;
  }
  verb joins(view v) { return (last = it->on_joined(last.number, std::move(v), now)).what; }
  verb ends() { return (last = it->on_ended(last.number, now)).what; }
  verb writes(std::uint64_t joins_then = 1) {
    return (last = it->on_written(last.number, {.applied = true, .joins = joins_then}, now)).what;
  }
  verb conflicts(std::optional<view> v = {}) {
    return (last = it->on_written(last.number, {.instead = std::move(v)}, now)).what;
  }
  verb fails(why kind) { return (last = it->on_failure(last.number, no(kind, errc::unavailable, "test"), now)).what; }

  bool granted_to_us() const {
    const auto* a = std::get_if<answer>(&said);
    return a != nullptr && std::holds_alternative<granted>(*a);
  }
  bool queued_by_us() const {
    const auto* a = std::get_if<answer>(&said);
    return a != nullptr && std::holds_alternative<queued>(*a);
  }

  settle::task task;
  std::optional<settle> it;
  order last;
  result<answer> said;
  fate was = fate::unknown;
  store_time there{5000s};
  time_point now{1000s};
};

// --- the way of each call ---

TEST_F(settle_test, a_free_lock_is_taken_by_the_attempt_alone) {
  acquire(1, true);
  EXPECT_EQ(last.what, verb::attempt);
  EXPECT_EQ(attempted(true), verb::done);
  EXPECT_TRUE(it->by_attempt());
}

TEST_F(settle_test, whoever_finds_it_taken_joins_without_reading_again) {
  acquire(2, true);
  EXPECT_EQ(attempted(false, with({held(1)})), verb::join);
  EXPECT_EQ(joins(with({held(1), place(2)})), verb::done);
  EXPECT_TRUE(queued_by_us());
}

TEST_F(settle_test, an_attempt_that_tells_nothing_is_followed_by_a_read) {
  acquire(2, true);
  EXPECT_EQ(attempted(false), verb::read_head);
  EXPECT_EQ(reads(with({held(1)})), verb::join);
}

TEST_F(settle_test, a_try_that_finds_it_busy_writes_nothing) {
  acquire(2, false, false);
  EXPECT_EQ(reads(with({held(1)})), verb::done);
}

TEST_F(settle_test, a_name_that_became_free_is_written_under_the_guard) {
  acquire(2, true);
  EXPECT_EQ(attempted(false, with({})), verb::write);
  EXPECT_EQ(writes(), verb::done);
  EXPECT_TRUE(granted_to_us());
}

TEST_F(settle_test, whoever_joins_a_name_that_is_free_by_then_has_it) {
  acquire(2, true);
  EXPECT_EQ(attempted(false, with({held(1)})), verb::join);
  EXPECT_EQ(joins(with({place(2)})), verb::write);
  EXPECT_EQ(writes(), verb::done);
  EXPECT_TRUE(granted_to_us());
}

TEST_F(settle_test, whoever_joins_finds_those_before_it_whose_turn_it_is) {
  acquire(3);
  EXPECT_EQ(reads(with({held(1)})), verb::join);
  EXPECT_EQ(joins(with({place(2), place(3)})), verb::write);
  EXPECT_EQ(writes(), verb::done);
  EXPECT_TRUE(queued_by_us());
  ASSERT_EQ(it->told().size(), 1U);
  EXPECT_EQ(it->told().front().who, number(2));
}

TEST_F(settle_test, a_release_hands_over_with_the_head_alone) {
  release(1);
  EXPECT_EQ(last.what, verb::read_head);
  EXPECT_EQ(reads(with({held(1), place(2)}, 998)), verb::write);
  EXPECT_EQ(writes(), verb::done);
  EXPECT_EQ(was, fate::holding);
  EXPECT_EQ(it->told().front().who, number(2));
}

TEST_F(settle_test, who_is_not_in_the_head_is_looked_for_in_all) {
  release(9);
  EXPECT_EQ(reads(with({held(1), place(2)}, 998)), verb::read_all);
  EXPECT_EQ(reads(with({held(1), place(2), place(9)})), verb::write);
  EXPECT_EQ(conflicts(), verb::read_all) << "and is not looked for in the head again";
}

TEST_F(settle_test, a_dead_lease_is_ended_before_what_it_keeps_is_taken) {
  acquire(2);
  seat dead = held(1);
  dead.lease = 77;
  dead.expires = there - 1ms;
  EXPECT_EQ(reads(with({dead})), verb::end_leases);
  EXPECT_EQ(it->seen().name.must_end(), std::vector<std::int64_t>{77});
  EXPECT_EQ(ends(), verb::read_head);
  dead.lease = 0;
  EXPECT_EQ(reads(with({dead})), verb::write);
  EXPECT_EQ(writes(), verb::done);
  EXPECT_TRUE(granted_to_us());
}

TEST_F(settle_test, a_lease_that_was_renewed_meanwhile_is_respected) {
  acquire(2);
  seat dead = held(1);
  dead.lease = 77;
  dead.expires = there - 1ms;
  reads(with({dead}));
  EXPECT_EQ(ends(), verb::read_head);
  dead.expires = there + 10s;
  EXPECT_EQ(reads(with({dead})), verb::join);
}

TEST_F(settle_test, whoever_was_slower_decides_again_on_what_is_there) {
  acquire(2);
  EXPECT_EQ(reads(with({})), verb::write);
  EXPECT_EQ(conflicts(with({held(1)})), verb::join) << "without another read, if the answer tells";
  acquire(2);
  EXPECT_EQ(reads(with({})), verb::write);
  EXPECT_EQ(conflicts(), verb::read_head);
}

TEST_F(settle_test, only_what_was_written_is_told) {
  release(1);
  reads(with({held(1), place(2)}));
  EXPECT_EQ(conflicts(with({held(1), place(3)})), verb::write);
  EXPECT_EQ(writes(), verb::done);
  ASSERT_EQ(it->told().size(), 1U);
  EXPECT_EQ(it->told().front().who, number(3));
}

// --- who came meanwhile ---

TEST_F(settle_test, whoever_joined_before_room_was_made_is_looked_for) {
  release(1);
  reads(with({held(1)}));
  EXPECT_EQ(writes(2), verb::done);
  EXPECT_TRUE(it->look_again());
}

TEST_F(settle_test, whoever_joined_behind_a_hand_over_is_not) {
  release(1);
  reads(with({held(1), place(2)}));
  EXPECT_EQ(writes(2), verb::done);
  EXPECT_FALSE(it->look_again());
}

TEST_F(settle_test, readers_beyond_the_head_have_another_round) {
  release(1);
  EXPECT_EQ(reads(with({held(1), place(2, mode::shared)}, 10)), verb::write);
  EXPECT_EQ(writes(), verb::done);
  EXPECT_TRUE(it->look_again());
}

// --- lost and refused ---

TEST_F(settle_test, a_lost_read_has_done_nothing) {
  release(1);
  EXPECT_EQ(fails(why::unknown), verb::failed);
  EXPECT_EQ(it->error().kind, why::not_sent);
  EXPECT_FALSE(it->in_doubt());
}

TEST_F(settle_test, a_lost_end_of_a_lease_has_done_nothing_of_ours) {
  acquire(2);
  seat dead = held(1);
  dead.lease = 77;
  dead.expires = there - 1ms;
  reads(with({dead}));
  EXPECT_EQ(fails(why::unknown), verb::failed);
  EXPECT_EQ(it->error().kind, why::not_sent);
}

TEST_F(settle_test, a_lost_attempt_is_in_doubt) {
  acquire(1, true);
  EXPECT_EQ(fails(why::unknown), verb::failed);
  EXPECT_EQ(it->error().kind, why::unknown);
  EXPECT_TRUE(it->in_doubt());
}

TEST_F(settle_test, a_lost_write_is_in_doubt) {
  release(1);
  reads(with({held(1)}));
  EXPECT_EQ(fails(why::unknown), verb::failed);
  EXPECT_EQ(it->error().kind, why::unknown);
  EXPECT_TRUE(it->in_doubt());
}

TEST_F(settle_test, a_lost_join_is_in_doubt) {
  acquire(2);
  reads(with({held(1)}));
  EXPECT_EQ(fails(why::unknown), verb::failed);
  EXPECT_TRUE(it->in_doubt());
}

TEST_F(settle_test, what_the_server_refused_or_never_got_is_not_there) {
  for (const why kind : {why::refused, why::not_sent, why::over_limit, why::name_conflict}) {
    acquire(1, true);
    EXPECT_EQ(fails(kind), verb::failed);
    EXPECT_EQ(it->error().kind, kind);
    EXPECT_FALSE(it->in_doubt());
  }
}

TEST_F(settle_test, once_a_place_is_there_no_failure_hides_it) {
  for (const why kind : {why::refused, why::not_sent, why::unknown}) {
    acquire(2);
    reads(with({held(1)}));
    EXPECT_EQ(joins(with({place(2)})), verb::write);
    EXPECT_EQ(fails(kind), verb::failed);
    EXPECT_EQ(it->error().kind, why::unknown);
    EXPECT_TRUE(it->in_doubt());
  }
}

// --- late and repeated ---

TEST_F(settle_test, an_answer_that_comes_twice_counts_once) {
  release(1);
  const auto first = last.number;
  reads(with({held(1), place(2)}));
  EXPECT_EQ(it->on_view(first, with({held(1)}), now).what, verb::nothing);
  EXPECT_EQ(it->on_failure(first, no(why::refused, errc::refused, ""), now).what, verb::nothing);
  EXPECT_EQ(writes(), verb::done);
  EXPECT_EQ(it->told().size(), 1U) << "of the first answer";
}

TEST_F(settle_test, a_late_answer_to_an_earlier_write_is_not_that_of_the_next) {
  release(1);
  reads(with({held(1)}));
  const auto first = last.number;
  EXPECT_EQ(conflicts(with({held(1), place(2)})), verb::write);
  EXPECT_EQ(it->on_written(first, {.applied = true}, now).what, verb::nothing);
  EXPECT_TRUE(it->seen().name.dirty()) << "still to be written";
  EXPECT_EQ(writes(), verb::done);
}

TEST_F(settle_test, an_answer_of_another_kind_is_none) {
  acquire(1, true);
  EXPECT_EQ(it->on_view(last.number, with({}), now).what, verb::nothing);
  EXPECT_EQ(it->on_joined(last.number, with({}), now).what, verb::nothing);
  EXPECT_EQ(it->on_written(last.number, {.applied = true}, now).what, verb::nothing);
  EXPECT_EQ(it->on_ended(last.number, now).what, verb::nothing);
  EXPECT_EQ(attempted(true), verb::done);
}

TEST_F(settle_test, nothing_comes_after_the_end) {
  acquire(1, true);
  const auto first = last.number;
  attempted(true);
  EXPECT_EQ(it->on_attempted(first, false, with({}), now).what, verb::nothing);
  EXPECT_EQ(it->on_failure(last.number, no(why::unknown, errc::unavailable, ""), now).what, verb::nothing);
  EXPECT_EQ(it->give_up(no(why::unknown, errc::closed, "")).what, verb::nothing);
  EXPECT_FALSE(it->in_doubt());
}

TEST_F(settle_test, whoever_gives_up_while_it_reads_has_done_nothing) {
  release(1);
  EXPECT_EQ(it->give_up(no(why::not_sent, errc::closed, "")).what, verb::failed);
  EXPECT_FALSE(it->in_doubt());
  EXPECT_EQ(it->on_view(last.number, with({held(1)}), now).what, verb::nothing);
}

TEST_F(settle_test, whoever_gives_up_while_it_writes_is_in_doubt) {
  release(1);
  reads(with({held(1)}));
  EXPECT_EQ(it->give_up(no(why::not_sent, errc::closed, "")).what, verb::failed);
  EXPECT_TRUE(it->in_doubt());
  EXPECT_EQ(it->error().kind, why::unknown);
}

// --- time ---

TEST_F(settle_test, nothing_is_tried_after_its_not_after) {
  task.not_after = now;
  acquire(1, true);
  EXPECT_EQ(last.what, verb::failed);
  EXPECT_EQ(it->error().kind, why::not_sent);

  task.not_after = now + 1s;
  acquire(2);
  now += 1s;
  EXPECT_EQ(reads(with({held(1)})), verb::failed) << "no join";
  now -= 1s;
  task.not_after = now + 1s;
  acquire(2);
  now += 1s;
  EXPECT_EQ(reads(with({})), verb::failed) << "no write";
  EXPECT_FALSE(it->in_doubt());
}

TEST_F(settle_test, what_follows_a_join_may_be_late) {
  task.not_after = now + 1s;
  acquire(2);
  reads(with({held(1)}));
  now += 2s;
  EXPECT_EQ(joins(with({place(2)})), verb::write);
  EXPECT_EQ(writes(), verb::done);
}

TEST_F(settle_test, conflicts_end_at_the_deadline) {
  task.deadline = now + 1s;
  release(1);
  for (int n = 0; n < 20 && last.what != verb::failed; ++n) {
    now += 100ms;
    last.what == verb::write ? conflicts() : reads(with({held(1)}));
  }
  EXPECT_EQ(last.what, verb::failed);
  EXPECT_EQ(it->error().kind, why::not_sent);
  EXPECT_FALSE(it->in_doubt());
}

TEST_F(settle_test, a_part_that_the_write_tells_is_known_when_it_is_done) {
  limits l;
  l.stored = l.stamped_by_write = true;
  acquire(1);
  view v{resource{l}, there, 1, 1};
  v.name.put_next_part(128);
  EXPECT_EQ(reads(std::move(v)), verb::write);
  last = it->on_written(last.number, {.applied = true, .joins = 1, .revision = 5, .parts = 640}, now);
  EXPECT_EQ(last.what, verb::done);
  EXPECT_EQ(it->seen().name.find(number(1))->part, 640U);
  EXPECT_EQ(it->seen().name.find(number(1))->created, 5);
}

}  // namespace
}  // namespace tyer::kit
