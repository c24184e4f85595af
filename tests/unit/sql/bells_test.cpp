// Bells that do not come by themselves: they are looked for.
#include "unit/sql/scripted_database.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;

struct sql_bells : scripted_database {
  static constexpr std::array<const char*, 1> look{"look"};

  sql_bells() {
    boxed.say.look_for_bells = look;
    boxed.say.forget_bells = "forget";
    boxed.learn = [](const row&, server& s) {
      s.id = "a server";
      s.rings = false;
      return std::string{};
    };
    speaks = &boxed;
  }
  void SetUp() override {
    scripted_database::SetUp();
    seat holder, waiter;
    holder.who = ids.next();
    holder.part = 1;
    holder.is = seat::state::holding;
    holder.expires = at_micros(now + micros(1h));
    const auto name = name_row(1, write_seats({holder}));
    acquire(own, mode::shared);
    answer("read", {rows_of({name, all_row(0, now)})});
    waiter.how = mode::shared;
    waiter.ttl = ttl;
    waiter.waiter_ttl = ttl / 3;
    answer("join", {rows_of({name, place_row(own, 1, now + micros(1h), write_place(waiter)), all_row(1, now)})});
  }
  void ring() {
    const auto wake = static_cast<char>('0' + static_cast<int>(kit::notice::kind::wake));
    box.push_back({bytes_cell(std::string{own.view()} + wake), number_cell(++last)});
  }
  void look_into_the_box() {
    for (int n = 0; n < 100 && how_often("look") == 0; ++n) pass(10ms);
    answer("look", {rows_of(box)});
  }
  int looks_in(milliseconds d) {
    int looks = 0;
    for (const auto end = clock.now() + d; clock.now() < end; pass(1ms)) {
      for (; how_often("look") > 0; ++looks) answer("look", {rows_of(box)});
      if (how_often("forget") == 0) continue;
      box.clear();
      answer("forget", {nothing()});
    }
    return looks;
  }
  int looks_until_one_comes_after(milliseconds d) {
    const int looks = looks_in(d);
    ring();
    look_into_the_box();
    return looks;
  }

  tongue boxed = scripted;
  std::vector<row> box;
  std::int64_t last = 0;
  const seam::id own = ids.next();
};

// Each is a transaction that the server writes to its disk: a seventh of what a hand-over cost there.
TEST_F(sql_bells, each_was_deleted_by_itself) {
  for (int n = 0; n < 31; ++n) {
    ring();
    look_into_the_box();
    EXPECT_EQ(how_often("forget"), 0u) << n;
  }
  ring();
  look_into_the_box();
  ASSERT_EQ(how_often("forget"), 1u);
  EXPECT_EQ(std::get<number_list>(sent("forget").at(0).values.at(1)).size(), 32u);
  EXPECT_EQ(events.woken.size(), 32u) << "each is heard once";
}

TEST_F(sql_bells, where_no_more_come_what_was_heard_is_deleted) {
  ring();
  look_into_the_box();
  EXPECT_EQ(how_often("forget"), 0u);
  pass(250ms);
  look_into_the_box();
  EXPECT_EQ(how_often("forget"), 1u);
  EXPECT_EQ(events.woken.size(), 1u);
}

TEST_F(sql_bells, another_server_counts_them_anew) {
  ring();
  look_into_the_box();
  cut_off();
  w.sent.clear();
  pass(kit::reconnect::pause_least);
  greet();
  look_into_the_box();
  EXPECT_EQ(events.woken.size(), 2u);
}

// The distance began with 10 ms after each, whenever the one before had come: half of what a hand-over cost on MariaDB.
TEST_F(sql_bells, where_one_comes_every_fifth_of_a_second_it_was_looked_for_fifteen_times) {
  for (int n = 0; n < 2; ++n) looks_until_one_comes_after(200ms);
  EXPECT_LE(looks_until_one_comes_after(200ms), 9);
}

TEST_F(sql_bells, after_one_that_came_sooner_than_usual_it_is_looked_for_as_often_as_ever) {
  for (int n = 0; n < 3; ++n) looks_until_one_comes_after(200ms);
  looks_until_one_comes_after(20ms);
  EXPECT_GE(looks_in(70ms), 6);
}

TEST_F(sql_bells, however_seldom_they_come_the_next_is_not_late_by_more_than_a_twentieth_of_a_second) {
  for (int n = 0; n < 3; ++n) looks_until_one_comes_after(1s);
  EXPECT_GE(looks_in(210ms), 4);
}

}  // namespace
}  // namespace tyer::sql
