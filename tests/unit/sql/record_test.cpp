// Rows to the decider and back: what it decides is what is written, and a session that is over is ended first.
#include "engines/sql/record.hpp"

#include "engines/sql/seats.hpp"

#include <gtest/gtest.h>

namespace tyer::sql {

using namespace std::chrono_literals;

namespace {

id numbered(char c) { return id::from(std::string(16, c)); }

struct sql_record : ::testing::Test {
  sql_record() {
    limits.stored = true;
    r.now = at_micros(1'000'000'000);
    r.exists = true;
    r.version = 7;
    r.joins = 3;
    r.token = 50;
  }
  void held(char who, milliseconds left, std::int64_t session = 0) {
    r.hold = numbered(who);
    r.claimed = true;
    r.expires = r.now + left;
    r.session = session;
  }
  void waits(char who, milliseconds left = 10s) {
    seat s;
    s.is = seat::state::waiting;
    s.waiter_ttl = 5s;
    r.places.push_back({numbered(who), static_cast<std::int64_t>(r.places.size()), r.now + left, write_place(s)});
    r.total = r.places.size();
  }
  change after(auto decide, const std::vector<std::int64_t>& own = {}) {
    v = *view_of(r, known, limits);
    decide(v->name);
    return change_of("name", r, *v, own);
  }

  record r;
  sessions known;
  kit::limits limits;
  kit::notices told;
  std::optional<kit::view> v;
};

TEST_F(sql_record, a_release_hands_over_to_the_first_place_and_takes_it_out_of_the_queue) {
  held('a', 10s);
  waits('b');
  waits('c');
  const auto c = after([&](resource& n) { n.release(numbered('a'), true, r.now, told); });
  EXPECT_EQ(c.guard, 7);
  EXPECT_EQ(c.hold, numbered('b'));
  EXPECT_FALSE(c.claimed);
  EXPECT_EQ(c.expires, r.now + 5s);
  EXPECT_GT(c.token, 50u);
  EXPECT_EQ(c.gone, std::vector{numbered('b')});
  EXPECT_TRUE(c.crowd);
}

TEST_F(sql_record, the_last_release_leaves_nobody) {
  held('a', 10s);
  const auto c = after([&](resource& n) { n.release(numbered('a'), true, r.now, told); });
  EXPECT_FALSE(c.hold);
  EXPECT_FALSE(c.state);
  EXPECT_FALSE(c.crowd);
  EXPECT_EQ(c.token, 50u);
}

TEST_F(sql_record, what_is_not_plain_lies_in_the_state) {
  kit::request q{.what = {numbered('s'), "name", kit::mode::shared}, .ttl = 4s};
  const auto c = after([&](resource& n) { n.acquire(q, r.now, told); });
  EXPECT_FALSE(c.hold);
  ASSERT_TRUE(c.state);
  EXPECT_TRUE(c.crowd);
  EXPECT_EQ(c.expires, r.now + 4s);
  const auto seats = read_seats(*c.state);
  ASSERT_TRUE(seats);
  EXPECT_EQ(seats->front().who, numbered('s'));
}

TEST_F(sql_record, a_hold_with_a_session_that_nothing_is_known_of_must_have_it_ended_first) {
  held('a', -1s, 42);
  after([&](resource& n) { n.reap(r.now, told); });
  EXPECT_EQ(v->name.must_end(), std::vector<std::int64_t>{42});
}

TEST_F(sql_record, a_session_that_was_renewed_keeps_the_hold) {
  held('a', -1s, 42);
  known.learn(42, r.now + 1s, false);
  after([&](resource& n) { n.reap(r.now, told); });
  EXPECT_TRUE(v->name.must_end().empty());
  EXPECT_NE(v->name.find(numbered('a')), nullptr);
}

TEST_F(sql_record, an_ended_session_ends_the_hold_unless_its_own_time_is_not_over) {
  held('a', 1s, 42);
  known.learn(42, r.now - 5s, true);
  after([&](resource& n) { n.reap(r.now, told); });
  EXPECT_NE(v->name.find(numbered('a')), nullptr) << "a session renewed long ago may end before the hold's own time";
  held('a', -1s, 42);
  after([&](resource& n) { n.reap(r.now, told); });
  EXPECT_EQ(v->name.find(numbered('a')), nullptr);
}

TEST_F(sql_record, whoever_else_evicts_raises_the_generation_of_the_session) {
  held('a', 10s, 42);
  const auto evict = [&](resource& n) { n.evict(numbered('a'), "", r.now, told); };
  EXPECT_EQ(after(evict).bumped, std::vector<std::int64_t>{42});
  EXPECT_TRUE(after(evict, {42}).bumped.empty()) << "the own one";
  EXPECT_TRUE(after([&](resource& n) { n.reap(r.now, told); }).bumped.empty()) << "nothing was changed";
}

TEST_F(sql_record, a_place_of_somebody_who_holds_already_is_taken_out) {
  held('a', 10s);
  waits('a');
  waits('b');
  const auto c = after([&](resource& n) { n.release(numbered('a'), true, r.now, told); });
  EXPECT_EQ(c.hold, numbered('b'));
  EXPECT_EQ(c.gone, (std::vector{numbered('a'), numbered('b')}));
}

TEST_F(sql_record, whoever_let_its_turn_pass_and_joined_again_has_a_place) {
  held('a', -1s);
  waits('b');
  waits('a');
  kit::request q{.what = {numbered('a'), "name"}, .ttl = 4s, .waiter_ttl = 5s, .enqueue = true};
  const auto c = after([&](resource& n) { n.acquire(q, r.now, told); });
  EXPECT_EQ(c.hold, numbered('b'));
  EXPECT_EQ(c.gone, std::vector{numbered('b')});
  EXPECT_FALSE(v->name.find(numbered('a'))->fresh) << "it would join for ever";
}

TEST_F(sql_record, the_own_place_far_behind_has_its_number) {
  held('a', 10s);
  for (const char who : {'b', 'c'}) waits(who);
  waits('z');
  r.has_own = true;
  r.ahead = 9;
  r.total = 12;
  kit::request q{.what = {numbered('z'), "name"}, .ttl = 4s, .waiter_ttl = 5s, .enqueue = true};
  std::optional<kit::result<kit::answer>> said;
  after([&](resource& n) { said = n.acquire(q, r.now, told); });
  EXPECT_EQ(std::get<engine::queued>(std::get<kit::answer>(*said)).ahead, 9u);
  EXPECT_EQ(v->name.waiting(), 12u);
}

}  // namespace
}  // namespace tyer::sql
