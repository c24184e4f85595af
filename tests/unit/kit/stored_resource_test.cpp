// A resource that is made from what a server has: marks for the write, partial views, leases to end, parts that the write tells.
#include "core/token.hpp"
#include "unit/kit/resource_fixture.hpp"

#include <algorithm>

namespace tyer::kit {
namespace {

class stored_resource_test : public resource_test {
 protected:
  stored_resource_test() { it = resource{stored()}; }

  static limits stored() {
    limits l;
    l.stored = true;
    return l;
  }
  static limits stamped_by_write() {
    limits l = stored();
    l.stamped_by_write = true;
    return l;
  }
  seat held(std::uint64_t who, mode how = mode::exclusive) {
    return {.who = number(who),
            .how = how,
            .part = who,
            .expires = now + 10s,
            .ttl = 10s,
            .waiter_ttl = 2s,
            .created = static_cast<std::int64_t>(who)};
  }
  seat place(std::uint64_t who, mode how = mode::exclusive) {
    seat s = held(who, how);
    s.is = seat::state::waiting;
    s.part = 0;
    return s;
  }
  std::vector<std::uint64_t> marked() {
    std::vector<std::uint64_t> all;
    for (const seat& s : it.holds()) {
      if (s.dirty) all.push_back(s.who.serial());
    }
    for (const seat& s : it.queue()) {
      if (s.dirty) all.push_back(s.who.serial());
    }
    return all;
  }
  std::vector<std::uint64_t> removed() {
    std::vector<std::uint64_t> all;
    for (const seat& s : it.removed()) all.push_back(s.who.serial());
    return all;
  }
  using numbers = std::vector<std::uint64_t>;
};

// --- marks ---

TEST_F(stored_resource_test, nothing_is_written_for_whoever_finds_it_busy) {
  it.put(held(1));
  find_busy(ask(2));
  EXPECT_FALSE(it.dirty());
}

TEST_F(stored_resource_test, a_grant_and_a_place_are_written_as_new) {
  lock(ask(1));
  ASSERT_EQ(marked(), numbers{1});
  EXPECT_TRUE(it.find(number(1))->fresh);
  it.wrote(7, 0);
  EXPECT_FALSE(it.dirty());
  EXPECT_EQ(it.find(number(1))->created, 7);
  auto r = ask(2);
  r.enqueue = true;
  enqueue(r);
  EXPECT_EQ(marked(), numbers{2});
}

TEST_F(stored_resource_test, a_release_removes_one_and_writes_whose_turn_it_is) {
  it.put(held(1));
  it.put(place(2));
  it.put(place(3));
  EXPECT_EQ(release(1), fate::holding);
  EXPECT_EQ(removed(), numbers{1});
  EXPECT_EQ(marked(), numbers{2});
  EXPECT_FALSE(it.find(number(2))->fresh) << "its place is there";
  EXPECT_EQ(woken(), only(2));
}

TEST_F(stored_resource_test, what_was_never_written_need_not_be_removed) {
  lock(ask(1));
  release(1);
  EXPECT_TRUE(removed().empty());
}

TEST_F(stored_resource_test, an_id_that_comes_back_after_its_end_is_another_one) {
  it.put(held(1));
  it.put(place(2));
  now += 20s;
  auto r = ask(2);
  r.enqueue = true;
  acquire(r);
  EXPECT_EQ(removed(), (numbers{1, 2}));
  ASSERT_NE(it.find(number(2)), nullptr);
  EXPECT_TRUE(it.find(number(2))->fresh);
}

TEST_F(stored_resource_test, whoever_is_asked_to_give_it_back_is_written) {
  it.put(held(1, mode::shared));
  it.put(held(2, mode::shared));
  EXPECT_EQ(it.ask("please", now, told), 2U);
  EXPECT_EQ(marked(), (numbers{1, 2}));
  EXPECT_EQ(it.find(number(1))->asked, "please");
  EXPECT_EQ(it.find(number(1))->times_asked, 1U);
}

TEST_F(stored_resource_test, the_floor_is_kept_however_long_nobody_came) {
  it.put_floor(core::part_max - 10);
  EXPECT_EQ(lock(ask(1)).part, core::part_max - 9);
}

TEST_F(stored_resource_test, after_the_last_token_nobody_is_granted_anything) {
  it.put_floor(core::part_max);
  EXPECT_EQ(fail(ask(1)).kind, why::refused);
  it.put(held(2, mode::shared));
  EXPECT_TRUE(std::holds_alternative<failure>(it.convert(number(2), mode::exclusive, now, told)));
  it.put(place(3));
  release(2);
  EXPECT_TRUE(it.holds().empty()) << "no hand-over either";
}

// --- only the head of the queue was read ---

TEST_F(stored_resource_test, a_hand_over_needs_the_head_alone) {
  it.put(held(1));
  it.put(place(2));
  it.skip(998);
  EXPECT_EQ(release(1), fate::holding);
  EXPECT_FALSE(it.needs_all());
  EXPECT_EQ(woken(), only(2));
}

TEST_F(stored_resource_test, the_unread_are_not_overtaken_by_whoever_comes_behind_them) {
  it.skip(5);
  it.put(place(9));
  auto r = ask(9);
  r.enqueue = true;
  acquire(r);
  EXPECT_TRUE(it.needs_all());
  EXPECT_TRUE(it.holds().empty());
}

TEST_F(stored_resource_test, a_head_that_is_over_gives_way_to_one_that_must_be_read) {
  it.put(place(2));
  it.skip(5);
  now += 20s;
  it.reap(now, told);
  EXPECT_TRUE(it.needs_all());
}

TEST_F(stored_resource_test, behind_a_writer_nobody_has_to_be_read) {
  it.put(held(1));
  it.skip(5);
  it.reap(now, told);
  EXPECT_FALSE(it.needs_all());
}

TEST_F(stored_resource_test, readers_have_their_turn_as_far_as_they_were_read) {
  it.put(held(1));
  for (const std::uint64_t reader : {2, 3}) it.put(place(reader, mode::shared));
  it.skip(40);
  release(1);
  EXPECT_FALSE(it.needs_all());
  EXPECT_TRUE(it.turns_left());
  EXPECT_EQ(it.holds().size(), 2U);
}

TEST_F(stored_resource_test, the_unread_count_as_ahead_and_as_waiting) {
  limits few = stored();
  few.waiters = 9;
  it = resource{few};
  it.put(held(1));
  it.put(place(2));
  it.skip(7);
  auto r = ask(9);
  r.enqueue = true;
  EXPECT_EQ(enqueue(r).ahead, 8U);
  EXPECT_EQ(enqueue(r).ahead, 8U) << "again";
  r.what.who = number(10);
  EXPECT_EQ(fail(r).kind, why::over_limit);
}

TEST_F(stored_resource_test, those_behind_whoever_has_joined_are_not_forgotten) {
  it.put(place(2));  // the head is over by then
  it.find(number(2))->expires = now;
  it.skip(0);
  it.put(place(3));
  it.skip(4);
  EXPECT_EQ(it.waiting(), 6U);
  auto r = ask(3);
  r.enqueue = true;
  lock(r);
  EXPECT_EQ(it.waiting(), 4U) << "else somebody new would be let in front of them";
  EXPECT_FALSE(it.needs_all());
}

TEST_F(stored_resource_test, who_was_not_found_may_be_among_the_unread) {
  it.put(held(1));
  it.skip(5);
  keep(9, fate::waiting, 10s);
  EXPECT_TRUE(it.needs_all());
  release(9);
  EXPECT_TRUE(it.needs_all());
  keep(1, fate::holding, 10s);
  EXPECT_FALSE(it.needs_all());
}

// --- turns, leases, parts ---

TEST_F(stored_resource_test, no_more_have_their_turn_than_one_write_may_tell) {
  limits l = stored();
  l.turns = 2;
  it = resource{l};
  it.put(held(1));
  for (const std::uint64_t reader : {2, 3, 4}) it.put(place(reader, mode::shared));
  release(1);
  EXPECT_TRUE(it.turns_left());
  EXPECT_EQ(it.holds().size(), 2U);
  it.wrote(1, 0);
  it.reap(now, told);
  EXPECT_FALSE(it.turns_left());
  EXPECT_EQ(it.holds().size(), 3U);
}

TEST_F(stored_resource_test, what_lives_by_a_lease_is_over_when_that_was_ended) {
  seat s = held(1);
  s.lease = 77;
  it.put(s);
  now += 20s;
  find_busy(ask(2));
  EXPECT_EQ(it.must_end(), std::vector<std::int64_t>{77});
  EXPECT_EQ(it.holds().size(), 1U) << "a renewal may be on its way";

  it = resource{stored()};
  s.lease = 0;  // it was ended
  it.put(s);
  lock(ask(2));
  EXPECT_TRUE(it.must_end().empty());
  EXPECT_EQ(removed(), numbers{1});
}

TEST_F(stored_resource_test, one_lease_of_many_that_are_over_is_ended_once) {
  for (const std::uint64_t n : {1, 2}) {
    seat s = held(n, mode::shared);
    s.lease = 77;
    it.put(s);
  }
  seat w = place(3);
  w.lease = 78;
  it.put(w);
  now += 20s;
  it.reap(now, told);
  EXPECT_EQ(it.must_end(), (std::vector<std::int64_t>{77, 78}));
}

TEST_F(stored_resource_test, a_ghost_lives_by_no_lease) {
  seat s = held(1);
  s.lease = 77;
  s.lock_delay = 5s;
  it.put(s);
  release(1, false);
  ASSERT_TRUE(it.holds().front().ghost());
  EXPECT_EQ(it.holds().front().lease, 0);
  now += 6s;
  lock(ask(2));
}

TEST_F(stored_resource_test, a_part_that_the_write_tells_is_pending_until_then) {
  it = resource{stamped_by_write()};
  it.put_next_part(128);
  it.put(held(1));
  for (const std::uint64_t reader : {2, 3}) it.put(place(reader, mode::shared));
  release(1);
  for (const seat& s : it.holds()) EXPECT_TRUE(s.pending);
  it.wrote(9, 9 * 128);
  EXPECT_EQ(it.find(number(2))->part, 9U * 128);
  EXPECT_EQ(it.find(number(3))->part, 9U * 128 + 1);
  EXPECT_FALSE(it.floor_dirty());
}

TEST_F(stored_resource_test, a_grant_that_is_not_written_yet_has_its_number_already) {
  it = resource{stamped_by_write()};
  it.put_next_part(128);
  seat s = held(1, mode::shared);
  s.pending = true;
  s.part = 0;
  it.put(s);
  EXPECT_EQ(lock(ask(2, mode::shared)).part, 0U);
  EXPECT_EQ(it.find(number(2))->part, 1U) << "two of one write have parts of their own";
}

TEST_F(stored_resource_test, a_waiter_that_has_seen_more_is_written_only_if_the_write_would_be_below_it) {
  it = resource{stamped_by_write()};
  it.put_next_part(128);
  it.put(held(1));
  it.put(place(2));
  auto r = ask(2);
  r.enqueue = true;
  r.seen = 127;
  acquire(r);
  EXPECT_FALSE(it.dirty());
  r.seen = 128;
  acquire(r);
  EXPECT_EQ(marked(), numbers{2});
  release(1);
  EXPECT_EQ(it.find(number(2))->part, 129U);
}

TEST_F(stored_resource_test, above_a_floor_parts_count_on_until_the_writes_have_passed_it) {
  it = resource{stamped_by_write()};
  it.put_next_part(128);
  auto r = ask(1);
  r.seen = 1000;
  EXPECT_EQ(lock(r).part, 1001U);
  EXPECT_TRUE(it.floor_dirty());
  EXPECT_EQ(it.last_part(), 1001U);

  it = resource{stamped_by_write()};
  it.put_floor(1001);
  it.put_next_part(2000);
  EXPECT_EQ(lock(ask(2)).part, 0U) << "not known yet";
  EXPECT_EQ(it.last_part(), 0U);
  EXPECT_TRUE(it.floor_dirty());
}

}  // namespace
}  // namespace tyer::kit
