// How much a link has under way at once, and what goes first of the rest.
#include "unit/sql/scripted.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string_view>

namespace tyer::sql {

using namespace std::chrono_literals;

namespace {

struct sql_link_under_way : ::testing::Test {
  static constexpr std::size_t most = 8;
  static constexpr auto a_statement = 1ms;

  sql_link_under_way() {
    l.open();
    w.to->on_open();
    serve();
  }
  // The server has carried out the first that it was sent.
  void serve() {
    const auto number = w.sent.at(served++).first;
    l.on_time(now += a_statement);
    w.to->on_answers(number, {answered{}});
  }
  void ask(const char* what, urgency when, milliseconds limit = 60s, milliseconds patience = milliseconds::max()) {
    l.ask({{what}}, now + limit, {.patience = patience, .when = when},
          [this, what](link::said&& s) { std::holds_alternative<answers>(s) ? ++done[what] : ++failed[what]; });
  }
  void ask(int n, const char* what, urgency when) {
    for (int i = 0; i < n; ++i) ask(what, when);
  }
  bool has_come(const char* what) const { return done.contains(what); }

  time_point now{100s};
  scripted_wire::state w;
  std::size_t served = 0;
  std::map<std::string_view, int> done, failed;
  link l{std::make_unique<scripted_wire>(w),
         {.patience = 2s,
          .greeting = [] { return exchange{{"hello"}}; },
          .greeted = [](const answers&) { return std::nullopt; },
          .what = [](const answered&) { return meaning::refused; },
          .now = [this] { return now; },
          .up = [] {},
          .down = [](const failure&) {},
          .rung = [](std::string) {},
          .under_way_max = most}};
};

TEST_F(sql_link_under_way, a_renewal_waits_for_no_more_than_that) {
  ask(1000, "take", urgency::soon);
  ask(1000, "look", urgency::some_time);
  EXPECT_EQ(w.sent.size() - served, most);
  ask("renew", urgency::at_once);
  const auto asked = now;
  while (!has_come("renew")) serve();
  EXPECT_LE(now - asked, a_statement * (most + 1));
}

TEST_F(sql_link_under_way, behind_a_pooler_which_carries_out_one_after_the_other_it_is_less) {
  w.keeps_session = false;
  ask(1000, "take", urgency::soon);
  EXPECT_EQ(w.sent.size() - served, 2u);
}

TEST_F(sql_link_under_way, however_many_renewals_there_are_the_rest_comes_too) {
  ask(100, "take", urgency::soon);
  for (int i = 0; i < 200; ++i) {
    if (i % 2 == 0) ask("renew", urgency::at_once);
    serve();
  }
  EXPECT_EQ(done["renew"] + done["take"], 200);
  EXPECT_EQ(done["take"], 100);
}

TEST_F(sql_link_under_way, a_look_has_one_turn_of_nine_while_something_is_wanted) {
  ask(100, "look", urgency::some_time);
  ask(1000, "take", urgency::soon);
  while (done["take"] < 400) serve();
  EXPECT_NEAR(done["look"], static_cast<int>(most) + 400 / 8, 3);
}

TEST_F(sql_link_under_way, what_waits_here_is_not_sent_after_its_deadline) {
  ask(most, "take", urgency::soon);
  ask("late", urgency::soon, 5ms);
  EXPECT_LE(l.due(), now + 5ms);
  l.on_time(now += 5ms);
  EXPECT_EQ(failed["late"], 1);
  while (served < w.sent.size()) serve();
  EXPECT_EQ(w.sent.size(), 1 + most);
}

TEST_F(sql_link_under_way, nobody_is_answered_while_it_asks) {
  ask(most + 2, "take", urgency::soon);
  EXPECT_TRUE(done.empty());
  EXPECT_TRUE(failed.empty());
}

// Its turn would not have come from a server that says nothing.
TEST_F(sql_link_under_way, the_patience_of_a_renewal_counts_from_when_it_was_asked) {
  ask(most, "take", urgency::soon);
  ask("renew", urgency::at_once, 60s, 300ms);
  EXPECT_LE(l.due(), now + 300ms);
  l.on_time(now += 300ms);
  EXPECT_FALSE(l.is_up());
  EXPECT_FALSE(failed.contains("renew")) << "it was not sent, and there is time";
}

TEST_F(sql_link_under_way, what_waits_goes_on_with_the_next_connection) {
  ask(100, "take", urgency::soon);
  w.to->on_broken(kit::no(why::not_sent, errc::unavailable, "reset"));
  EXPECT_EQ(failed["take"], static_cast<int>(most));
  while (w.opened == 1) l.on_time(now += 10ms);
  w.to->on_open();
  served = w.sent.size() - 1;
  while (served < w.sent.size()) serve();
  EXPECT_EQ(done["take"], 100 - static_cast<int>(most));
}

// The client was not let run for a while: what was answered meanwhile is told before it looks at the time.
TEST_F(sql_link_under_way, one_whose_time_was_over_was_sent_after_all) {
  ask(most, "take", urgency::soon);
  ask("late", urgency::soon, 5ms);
  now += 5ms;
  w.to->on_answers(w.sent.at(served++).first, {answered{}});
  EXPECT_EQ(w.sent.size(), 1 + most);
  EXPECT_EQ(failed["late"], 1);
}

}  // namespace
}  // namespace tyer::sql
