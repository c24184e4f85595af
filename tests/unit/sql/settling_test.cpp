// Who is told, and who looks again, after a name was settled.
#include "unit/sql/scripted_database.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;

struct sql_settling : scripted_database {
  // A free name that another client waits for: whoever comes gives it its turn.
  std::vector<row> somebody_waits(std::vector<row> more = {}) const {
    std::vector<row> all{name_row(1, write_seats({})), place_row(next, 1, now + micros(1h), body())};
    for (auto& r : more) all.push_back(std::move(r));
    all.push_back(all_row(static_cast<std::int64_t>(all.size()) - 1, now));
    return all;
  }
  static std::string body(mode how = mode::exclusive) {
    seat s;
    s.how = how;
    s.ttl = ttl;
    s.waiter_ttl = ttl / 3;
    return write_place(s);
  }
  // Up to the write by which the other one has its turn.
  void come() {
    acquire(own, mode::shared);
    pass(request_timeout - 1s);
    answer("read", {rows_of(somebody_waits())});
    answer("join", {rows_of(somebody_waits({place_row(own, 2, now + micros(ttl / 3), body(mode::shared))}))});
    EXPECT_EQ(how_often("write"), 1u);
  }
  std::string rung() const { return std::get<bytes_list>(sent("ring").at(0).values.at(0)).at(0).substr(0, 16); }

  void keep_place() {
    const seam::target t{own, "n"};
    step([&] { it->keep({&t, 1}, fate::waiting, ttl, [](seam::outcome<seam::kept>&&) {}); });
    answer("extend_places", {rows_of({{bytes_cell(own.view()), bytes_cell("n"), number_cell(1)}})});
  }

  core::random_ids others;
  const seam::id own = ids.next(), next = others.next();
};

// --- bells ---

TEST_F(sql_settling, who_had_its_turn_by_an_acquire_was_not_told_if_that_was_given_up_before_its_write_was_answered) {
  come();
  pass(1s);
  answer("write", {one_number(1)});
  ASSERT_EQ(how_often("ring"), 1u);
  EXPECT_EQ(rung(), next.view());
}

TEST_F(sql_settling, a_write_that_was_given_up_and_not_carried_out_is_not_begun_anew_and_tells_nobody) {
  come();
  pass(1s);
  answer("write", {nothing()});
  EXPECT_TRUE(w.sent.empty());
}

TEST_F(sql_settling, who_had_its_turn_by_a_write_whose_answer_was_lost_was_not_told) {
  come();
  w.sent.clear();
  cut_off();
  pass(kit::reconnect::pause_least);
  greet();
  ASSERT_EQ(how_often("ring"), 1u);
  EXPECT_EQ(rung(), next.view());
}

// --- looking again ---

// What the second was for may have happened after the first had read.
TEST_F(sql_settling, a_look_at_a_name_was_dropped_if_another_was_under_way) {
  keep_place();
  EXPECT_EQ(how_often("read"), 1u);
  keep_place();
  keep_place();
  EXPECT_EQ(how_often("read"), 1u) << "one after the other";
  answer("read", {rows_of({name_row(1, write_seats({})), all_row(0, now)})});
  EXPECT_EQ(how_often("read"), 1u);
  answer("read", {rows_of({name_row(1, write_seats({})), all_row(0, now)})});
  EXPECT_EQ(how_often("read"), 0u) << "once for all who asked meanwhile";
}

TEST_F(sql_settling, one_that_failed_is_followed_by_the_next_too) {
  keep_place();
  keep_place();
  answer("read", {no()});
  EXPECT_EQ(how_often("read"), 1u);
  answer("read", {no()});
  EXPECT_EQ(how_often("read"), 0u);
}

// By the microseconds that the server took to read what it had just written. So each who joined wrote the name, and of a thousand who
// joined at once all but one began again, each time; whoever let go meanwhile began again too.
TEST_F(sql_settling, a_place_that_was_made_just_now_was_written_once_more_to_be_longer_by_a_moment) {
  seat holder;
  holder.who = next;
  holder.part = 1;
  holder.is = seat::state::holding;
  holder.expires = at_micros(now + micros(1h));
  const auto name = name_row(1, write_seats({holder}));
  acquire(own, mode::shared);
  answer("read", {rows_of({name, all_row(0, now)})});
  answer("join",
         {rows_of({name, place_row(own, 1, now + 300 + micros(ttl / 3), body(mode::shared)), all_row(1, now + 700)})});
  EXPECT_EQ(how_often("write"), 0u);
}

// It is kept anyway, three times as often. Each that waits asks again from time to time, and whoever decided meanwhile began anew.
TEST_F(sql_settling, who_asked_again_for_a_place_that_was_kept_wrote_the_name_to_keep_it_for_a_moment_longer) {
  const auto held = [&](milliseconds left) {
    seat holder;
    holder.who = next;
    holder.part = 1;
    holder.is = seat::state::holding;
    holder.expires = at_micros(now + micros(1h));
    return rows_of({name_row(1, write_seats({holder})), place_row(own, 1, now + micros(left), body(mode::shared)),
                    all_row(1, now)});
  };
  acquire(own, mode::shared);
  answer("read", {held(ttl / 6)});
  EXPECT_EQ(how_often("write"), 0u) << "half of it is left";
  acquire(own, mode::shared);
  answer("read", {held(ttl / 6 - 1ms)});
  EXPECT_EQ(how_often("write"), 1u) << "nobody has kept it for too long";
}

// --- a name that many want ---

struct sql_crowded_name : sql_settling {
  using outcome = kit::result<seam::answer>;
  seat held_by(const seam::id& who) const {
    seat s;
    s.who = who;
    s.part = 1;
    s.expires = at_micros(now + micros(1h));
    s.ttl = ttl;
    s.waiter_ttl = ttl / 3;
    return s;
  }
  // Own has it, and gives it to the next.
  void hand_over() {
    acquire(own, mode::exclusive);
    answer("take", {one_number(7)});
    step([&] { it->release({own, "n"}, true, [](seam::outcome<fate>&&) {}); });
    answer("give_back", {rows_of({name_row(1, write_seats({held_by(own)})),
                                  place_row(next, 1, now + micros(1h), body()), all_row(1, now)})});
    answer("write", {one_number(0)});
    answer("ring", {nothing()});
    EXPECT_TRUE(w.sent.empty());
  }
  void want() {
    step([&] {
      it->acquire({.what = {again, "n", mode::exclusive},
                   .ttl = ttl,
                   .waiter_ttl = ttl / 3,
                   .not_after = request_timeout,
                   .enqueue = true},
                  [this](seam::outcome<seam::answer>&& o) { said = std::move(o.result); });
    });
  }
  row own_place() const { return place_row(again, 2, now + micros(ttl / 3), body()); }
  row made_at(std::int64_t version) const {
    auto r = own_place();
    r[0].number = 5;
    r[4].number = version;
    return r;
  }

  const seam::id again = ids.next();
  std::optional<outcome> said;
};

// Each time, at a row that all who want the name write: a statement of six for each hand-over.
TEST_F(sql_crowded_name, whoever_let_go_and_wanted_it_again_tried_in_vain_to_take_it) {
  hand_over();
  want();
  EXPECT_EQ(how_often("take"), 0u);
  answer("join", {rows_of({name_row(2, write_seats({held_by(next)})), all_row(0, now), made_at(2)})});
  ASSERT_TRUE(said);
  EXPECT_TRUE(std::holds_alternative<seam::queued>(std::get<seam::answer>(*said)));
  EXPECT_TRUE(w.sent.empty());
}

TEST_F(sql_crowded_name, if_it_is_free_after_all_it_is_had) {
  hand_over();
  want();
  answer("join", {rows_of({name_row(3, write_seats({})), all_row(0, now), made_at(3)})});
  const auto gone = std::get<bytes_list>(sent("write").at(0).values.at(11));
  EXPECT_EQ(gone, bytes_list{std::string{again.view()}});
  answer("write", {one_number(1)});
  ASSERT_TRUE(said);
  EXPECT_TRUE(std::holds_alternative<seam::granted>(std::get<seam::answer>(*said)));
}

TEST_F(sql_crowded_name, a_moment_later_it_is_tried_as_any_other) {
  hand_over();
  pass(1001ms);
  want();
  EXPECT_EQ(how_often("take"), 1u);
  EXPECT_EQ(how_often("join"), 0u);
}

TEST_F(sql_crowded_name, a_place_that_was_made_so_is_given_back_whatever_comes) {
  hand_over();
  want();
  answer("join", {rows_of({name_row(2, write_seats({})), all_row(0, now), made_at(3)})});
  answer("read", {no()});
  ASSERT_TRUE(said);
  EXPECT_EQ(std::get<failure>(*said).kind, why::unknown);
}

TEST_F(sql_crowded_name, who_has_asked_before_does_not_stand_in_line_twice) {
  hand_over();
  want();
  answer("join", {rows_of({name_row(2, write_seats({held_by(next)})), all_row(0, now), made_at(2)})});
  want();
  EXPECT_EQ(how_often("join"), 0u);
  EXPECT_EQ(how_often("take"), 1u);
}

// --- a dialect of which what was tried in vain tells nothing ---

struct sql_reading_apart : sql_settling {
  sql_reading_apart() {
    apart.say.reads_along = false;
    speaks = &apart;
  }
  // A name that somebody has, or that is given to `who` next.
  std::vector<row> name(const seat& holder) {
    return {name_row(1, write_seats({holder})), place_row(own, 1, now + micros(1h), body()), all_row(1, now)};
  }
  void wait_for(const seat& holder) {
    acquire(own, mode::exclusive);
    answer("take", {nothing()});
    answer("read", {rows_of({name(holder).front(), all_row(0, now)})});
    answer("join", {rows_of(name(holder))});
    EXPECT_TRUE(w.sent.empty());
  }
  seat somebody() const {
    seat holder;
    holder.who = next;
    holder.part = 1;
    holder.is = seat::state::holding;
    holder.expires = at_micros(now + micros(1h));
    return holder;
  }
  tongue apart = scripted;
};

TEST_F(sql_reading_apart, who_let_go_of_what_it_had_waited_for_first_tried_what_is_only_done_if_nobody_waits) {
  wait_for(somebody());
  step([&] { w.to->on_notice(std::string{own.view()} + '0'); });
  acquire(own, mode::exclusive);
  EXPECT_EQ(how_often("take"), 1u) << "it is its turn";
  answer("take", {one_number(7)});
  step([&] { it->release({own, "n"}, true, [](seam::outcome<fate>&&) {}); });
  EXPECT_EQ(how_often("give_back"), 0u);
  EXPECT_EQ(how_often("read"), 1u);
}

TEST_F(sql_reading_apart, who_let_go_of_what_was_free_tries_that) {
  acquire(own, mode::exclusive);
  answer("take", {one_number(7)});
  step([&] { it->release({own, "n"}, true, [](seam::outcome<fate>&&) {}); });
  EXPECT_EQ(how_often("give_back"), 1u);
}

TEST_F(sql_reading_apart, who_waits_and_was_not_told_of_its_turn_first_tried_to_take_what_somebody_has) {
  wait_for(somebody());
  acquire(own, mode::exclusive);
  EXPECT_EQ(how_often("take"), 0u);
  EXPECT_EQ(how_often("read"), 1u);
}

}  // namespace
}  // namespace tyer::sql
