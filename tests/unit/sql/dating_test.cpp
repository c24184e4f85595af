// From when an answer counts, while a client wants more than may be under way at once: what it asks for waits in its own line.
#include "unit/sql/scripted_database.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>
#include <vector>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;
using seam::kept;

struct sql_dating : scripted_database {
  static constexpr int as_many_as_may_be_under_way = 64;

  // Then nothing more may leave.
  void crowd() {
    for (int i = 0; i < as_many_as_may_be_under_way; ++i)
      step([&] { it->diagnose([](seam::outcome<std::vector<seam::finding>>&&) {}); });
    ASSERT_EQ(w.sent.size(), static_cast<std::size_t>(as_many_as_may_be_under_way));
  }
  // One more may leave, and does: when.
  time_point leaves_late(std::string_view text) {
    pass(waited);
    EXPECT_EQ(how_often(text), 0u) << text << " has left too early for this test";
    answer("questions", {no()});
    EXPECT_EQ(how_often(text), 1u) << text;
    const auto left = clock.now();
    pass(on_its_way);
    return left;
  }
  template <class T>
  auto date(time_point& to) {
    return [&to](seam::outcome<T>&& o) {
      EXPECT_TRUE(std::holds_alternative<T>(o.result));
      to = o.sent;
    };
  }
  void want(mode how) {
    step([&] {
      it->acquire(
          {.what = {who, "n", how}, .ttl = ttl, .waiter_ttl = ttl / 3, .not_after = request_timeout, .enqueue = true},
          date<seam::answer>(dated));
    });
  }
  void keep(fate as) {
    const seam::target t{who, "n"};
    step([&] { it->keep({&t, 1}, as, ttl, date<kept>(dated)); });
  }
  void hold() {
    acquire(who, mode::exclusive);
    answer("take", {one_number(7)});
  }
  answered extended() const { return rows_of({{bytes_cell(who.view())}}); }

  static constexpr auto waited = 800ms;
  static constexpr auto on_its_way = 100ms;
  const seam::id who = ids.next();
  time_point dated{};
};

// Of 100,000 names that one client locked at once those that came last were worth nothing when they were granted, and asked for again.
TEST_F(sql_dating, a_grant_counted_from_when_it_was_asked_for_and_was_over_when_it_came) {
  crowd();
  want(mode::exclusive);
  const auto left = leaves_late("take");
  answer("take", {one_number(7)});
  EXPECT_EQ(dated, left);
}

TEST_F(sql_dating, a_grant_that_is_tried_again_counts_from_the_last_try) {
  want(mode::exclusive);
  answer("take", {{.failed = true, .code = "again"}});
  pass(100ms);
  const auto left = clock.now();
  ASSERT_EQ(how_often("take"), 1u);
  pass(on_its_way);
  answer("take", {one_number(7)});
  EXPECT_EQ(dated, left);
}

// By the times of what was read: the write may leave much later.
TEST_F(sql_dating, what_is_decided_counts_from_the_read) {
  crowd();
  want(mode::shared);
  const auto left = leaves_late("read");
  answer("read", {rows_of({all_row(0, now)})});
  pass(on_its_way);
  answer("create", {{}, one_number(0)});
  EXPECT_EQ(dated, left);
}

TEST_F(sql_dating, what_is_decided_anew_counts_from_the_last_read) {
  want(mode::shared);
  answer("read", {rows_of({all_row(0, now)})});
  pass(on_its_way);
  answer("create", {{}, nothing()});
  const auto left = clock.now();
  pass(on_its_way);
  answer("read", {rows_of({all_row(0, now)})});
  pass(on_its_way);
  answer("create", {{}, one_number(0)});
  EXPECT_EQ(dated, left);
}

TEST_F(sql_dating, the_first_renewal_counts_from_when_it_left) {
  hold();
  crowd();
  keep(fate::holding);
  const auto left = leaves_late("begin_session");
  answer("begin_session", {answered{}});
  EXPECT_GE(clock.now(), left + on_its_way);
  const auto extend_left = clock.now();
  pass(on_its_way);
  answer("extend", {extended()});
  EXPECT_EQ(dated, extend_left);
}

TEST_F(sql_dating, a_renewal_by_the_session_counts_from_when_it_left_and_lets_the_session_live_as_long) {
  hold();
  for (int i = 0; i < 2; ++i) {
    keep(fate::holding);
    if (i == 0) answer("begin_session", {one_number(1)});
    answer("extend", {extended()});
  }
  pass(ttl / 6 + 1ms);
  crowd();
  keep(fate::holding);
  const auto left = leaves_late("renew_session");
  answer("renew_session", {one_number(1)});
  EXPECT_EQ(dated, left);
  pass(ttl - on_its_way - 1ms);
  keep(fate::holding);
  EXPECT_EQ(how_often("renew_session"), 1u) << "the session was given up when the renewal was ordered + ttl";
}

TEST_F(sql_dating, a_renewal_of_a_hold_that_is_not_plain_counts_from_when_it_left) {
  acquire(who, mode::shared);
  answer("read", {rows_of({all_row(0, now)})});
  answer("create", {{}, one_number(0)});
  crowd();
  keep(fate::holding);
  pass(waited);
  answer("questions", {no()});
  answer("questions", {no()});
  const auto left = clock.now();
  pass(on_its_way);
  answer("extend_seat", {one_number(now + 4'000'000)});
  EXPECT_EQ(dated, left);
}

TEST_F(sql_dating, a_place_counts_from_when_its_renewal_left) {
  crowd();
  keep(fate::waiting);
  const auto left = leaves_late("extend_places");
  answer("extend_places", {rows_of({{bytes_cell(who.view()), bytes_cell("n"), number_cell(0)}})});
  EXPECT_EQ(dated, left);
}

TEST_F(sql_dating, what_is_given_back_counts_from_when_that_left) {
  hold();
  crowd();
  step([&] { it->release({who, "n"}, true, date<fate>(dated)); });
  const auto left = leaves_late("give_back");
  answer("give_back", {one_number(1)});
  EXPECT_EQ(dated, left);
}

// Of all that one keep() proves there is one date.
TEST_F(sql_dating, what_is_proven_by_several_counts_from_the_earliest) {
  hold();
  const auto shared = ids.next();
  acquire(shared, mode::shared);
  answer("read", {rows_of({all_row(0, now)})});
  answer("create", {{}, one_number(0)});
  const seam::target all[]{{who, "n"}, {shared, "n"}};
  const auto left = clock.now();
  step([&] { it->keep(all, fate::holding, ttl, date<kept>(dated)); });
  pass(100ms);
  answer("extend", {extended()});
  answer("extend_seat", {nothing()});
  pass(100ms);
  answer("read", {rows_of({all_row(0, now)})});
  EXPECT_EQ(dated, left);
}

}  // namespace
}  // namespace tyer::sql
