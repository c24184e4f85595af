// The connection as a machine: every answer that is late, lost, refused or asks for another try.
#include "unit/sql/scripted.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <utility>

namespace tyer::sql {

using namespace std::chrono_literals;

namespace {

struct sql_link : ::testing::Test {
  static constexpr auto patience = 1s;
  static constexpr milliseconds pause = kit::reconnect::pause_least;

  sql_link() { l.open(); }
  void arrive() {
    w.to->on_open();
    answer({answered{}});
  }
  void answer(answers a) {
    const auto number = w.sent.back().first;
    w.to->on_answers(number, std::move(a));
  }
  static answered error(const char* code) { return {.failed = true, .code = code, .words = "no"}; }
  void ask(milliseconds limit = 5s) {
    l.ask({{"SELECT 1"}}, now + limit, [this](link::said&& s) {
      ++said_times;
      said = std::move(s);
    });
  }
  why kind() const { return std::get<failure>(*said).kind; }
  void pass(milliseconds t) {
    now += t;
    l.on_time(now);
  }

  link::setting impatient() {
    return {.patience = 100ms,
            .greeting = [] { return exchange{{"hello"}}; },
            .greeted = [this](const answers&) { return wrong; },
            .what = [](const answered&) { return meaning::refused; },
            .now = [this] { return now; },
            .up = [this] { ++ups; },
            .down = [this](const failure&) { ++downs; },
            .rung = [](std::string) {}};
  }

  time_point now{100s};
  scripted_wire::state w;
  int ups = 0, downs = 0, said_times = 0;
  std::optional<failure> wrong;
  std::optional<link::said> said;
  link l{std::make_unique<scripted_wire>(w),
         {.patience = patience,
          .greeting = [] { return exchange{{"hello"}}; },
          .greeted = [this](const answers&) { return wrong; },
          .what =
              [](const answered& a) {
                return a.code == "again"   ? meaning::again
                       : a.code == "other" ? meaning::other_server
                       : a.code == "lost"  ? meaning::lost
                                           : meaning::refused;
              },
          .now = [this] { return now; },
          .up = [this] { ++ups; },
          .down = [this](const failure&) { ++downs; },
          .rung = [](std::string) {}}};
};

TEST_F(sql_link, is_up_when_it_was_greeted_and_not_before) {
  w.to->on_open();
  EXPECT_EQ(ups, 0);
  answer({answered{}});
  EXPECT_EQ(ups, 1);
  EXPECT_EQ(downs, 0);
}

TEST_F(sql_link, what_is_asked_before_is_sent_then) {
  ask();
  EXPECT_TRUE(w.sent.empty());
  arrive();
  EXPECT_EQ(w.sent.size(), 2u);
  answer({answered{}});
  ASSERT_TRUE(said);
  EXPECT_TRUE(std::holds_alternative<answers>(*said));
}

TEST_F(sql_link, what_could_not_be_sent_by_its_deadline_was_not) {
  ask(100ms);
  pass(100ms);
  ASSERT_TRUE(said);
  EXPECT_EQ(kind(), why::not_sent);
}

TEST_F(sql_link, a_server_that_will_not_do_is_left_and_said_down_once) {
  wrong = kit::no(why::not_sent, errc::unavailable, "a standby");
  for (int i = 0; i < 5; ++i) {
    w.to->on_open();
    answer({answered{}});
    pass(1s);
  }
  EXPECT_EQ(ups, 0);
  EXPECT_EQ(downs, 1);
  EXPECT_EQ(w.opened, 6);
}

// A server that lets in and cuts off at once was asked a hundred times a second.
TEST_F(sql_link, a_server_that_cuts_everybody_off_was_asked_without_end) {
  int seen = 0;
  for (const auto end = now + 60s; now < end; pass(1ms)) {
    if (w.opened == seen) continue;
    seen = w.opened;
    arrive();
    w.to->on_broken(kit::no(why::not_sent, errc::unavailable, "reset"));
  }
  EXPECT_LT(w.opened, 200);
}

// It was: a password that was changed while there was a connection was told as a connection that was lost, and nothing more.
TEST_F(sql_link, a_server_that_came_back_and_refused_us_was_told_as_one_that_is_away) {
  arrive();
  w.to->on_broken(kit::no(why::unknown, errc::unavailable, "cut off"));
  EXPECT_EQ(downs, 1);
  const auto refuse = [&] {
    pass(1s);
    w.to->on_broken(kit::no(why::refused, errc::refused, "password authentication failed"));
  };
  refuse();
  EXPECT_EQ(downs, 2);
  refuse();
  EXPECT_EQ(downs, 2) << "said once";
  pass(1s);
  arrive();
  w.to->on_broken(kit::no(why::unknown, errc::unavailable, "cut off"));
  EXPECT_EQ(downs, 3);
  refuse();
  EXPECT_EQ(downs, 4) << "another outage";
}

TEST_F(sql_link, what_is_asked_of_a_server_that_has_refused_us_was_waited_for_to_the_end) {
  ask();
  w.to->on_broken(kit::no(why::refused, errc::refused, "password authentication failed"));
  pass(0ms);
  ASSERT_TRUE(said);
  EXPECT_EQ(kind(), why::refused);
  ask();
  EXPECT_EQ(said_times, 1) << "not while it asks";
  EXPECT_LE(l.due(), now);
  pass(0ms);
  EXPECT_EQ(said_times, 2);
  pass(kit::reconnect::refused_least);
  EXPECT_EQ(w.opened, 2) << "and is tried again";
  arrive();
  ask();
  answer({answered{}});
  EXPECT_TRUE(std::holds_alternative<answers>(*said));
}

// It was: by each client once a second, for as long as nobody mended it.
TEST_F(sql_link, a_server_that_refuses_us_was_asked_every_second_without_end) {
  int seen = 0;
  auto last = now;
  for (const auto end = now + 10min; now < end; pass(10ms)) {
    if (std::exchange(seen, w.opened) != w.opened) {
      w.to->on_broken(kit::no(why::refused, errc::refused, "password authentication failed"));
      last = now;
    }
    EXPECT_LE(now - last, kit::reconnect::refused_most);
  }
  EXPECT_LE(w.opened, 25 + 9 * 12);
}

TEST_F(sql_link, what_could_not_be_sent_was_told_without_the_reason) {
  ask(50ms);
  w.to->on_broken(kit::no(why::not_sent, errc::unavailable, "nobody listens there"));
  pass(50ms);
  ASSERT_TRUE(said);
  EXPECT_EQ(std::get<failure>(*said).words, "nobody listens there");
}

TEST_F(sql_link, what_is_under_way_when_it_breaks_is_unknown_and_it_arrives_anew) {
  arrive();
  ask();
  w.to->on_broken(kit::no(why::not_sent, errc::unavailable, "reset"));
  EXPECT_EQ(downs, 1);
  ASSERT_TRUE(said);
  EXPECT_EQ(kind(), why::unknown);
  pass(pause);
  EXPECT_EQ(w.opened, 2);
  arrive();
  EXPECT_EQ(ups, 2);
}

TEST_F(sql_link, a_silent_server_is_given_up) {
  arrive();
  ask();
  EXPECT_EQ(l.due(), now + patience);
  pass(patience);
  EXPECT_EQ(downs, 1);
  EXPECT_EQ(kind(), why::unknown);
}

// Answers come in the order of what was asked: each shows that the next is on its way.
TEST_F(sql_link, a_busy_server_that_answered_one_after_the_other_was_taken_for_silent) {
  arrive();
  ask();
  ask();
  pass(patience - 1ms);
  w.to->on_answers(w.sent.at(w.sent.size() - 2).first, {answered{}});
  EXPECT_EQ(said_times, 1);
  pass(patience - 1ms);
  EXPECT_EQ(downs, 0);
  answer({answered{}});
  EXPECT_EQ(said_times, 2);
  ask();
  pass(patience);
  EXPECT_EQ(downs, 1) << "this one is not answered";
}

TEST_F(sql_link, who_had_less_patience_than_others_waited_for_a_silent_server_as_long_as_they) {
  arrive();
  ask();
  l.ask({{"renew"}}, now + 5s, {.patience = 300ms}, [](link::said&&) {});
  EXPECT_EQ(l.due(), now + 300ms);
  pass(200ms);
  w.to->on_answers(w.sent.at(w.sent.size() - 2).first, {answered{}});
  pass(299ms);
  EXPECT_EQ(downs, 0) << "it has answered somebody meanwhile";
  pass(1ms);
  EXPECT_EQ(downs, 1);
  pass(pause);
  EXPECT_EQ(w.opened, 2);
}

TEST_F(sql_link, what_was_answered_is_waited_for_no_longer) {
  arrive();
  l.ask({{"renew"}}, now + 5s, {.patience = 300ms}, [](link::said&&) {});
  answer({answered{}});
  ask();
  EXPECT_EQ(l.due(), now + patience);
}

TEST_F(sql_link, a_server_that_does_not_let_in_is_given_up) {
  pass(patience);
  EXPECT_EQ(downs, 1);
  pass(pause);
  EXPECT_EQ(w.opened, 2);
}

TEST_F(sql_link, a_server_that_takes_longer_than_a_request_to_let_in_was_never_reached) {
  scripted_wire::state slow;
  link other{std::make_unique<scripted_wire>(slow), impatient()};
  other.open();
  const auto take = [&](milliseconds t) {
    for (const auto end = now + t; now < end; now += 10ms) other.on_time(now);
  };
  take(900ms);
  slow.to->on_open();
  take(900ms);
  slow.to->on_answers(slow.sent.back().first, {answered{}});
  EXPECT_TRUE(other.is_up());
  EXPECT_EQ(slow.opened, 1);
}

TEST_F(sql_link, a_request_that_took_longer_than_its_time_out_cost_the_connection) {
  scripted_wire::state busy;
  link other{std::make_unique<scripted_wire>(busy), impatient()};
  other.open();
  busy.to->on_open();
  busy.to->on_answers(busy.sent.back().first, {answered{}});
  other.ask({{"SELECT 1"}}, now + 100ms, [](link::said&&) {});
  other.on_time(now += 300ms);
  EXPECT_TRUE(other.is_up());
  other.on_time(now += 200ms);
  EXPECT_FALSE(other.is_up());
}

TEST_F(sql_link, one_whose_answers_vanish_is_left_soon_and_has_more_time_the_next_time) {
  scripted_wire::state mute;
  link other{std::make_unique<scripted_wire>(mute), impatient()};
  other.open();
  std::vector<milliseconds> times;
  auto since = now;
  for (int seen = mute.opened; times.size() < 5;) {
    const auto was = mute.shut;
    other.on_time(now += 10ms);
    if (std::exchange(seen, mute.opened) != mute.opened) since = now;
    if (mute.shut > was) times.push_back(std::chrono::duration_cast<milliseconds>(now - since));
  }
  EXPECT_LE(times[0], 1010ms);
  EXPECT_GT(times[1], 1900ms);
  EXPECT_GT(times[4], 7900ms);
  EXPECT_LT(times[4], 10s);
}

TEST_F(sql_link, a_connection_that_took_its_time_left_none_for_the_greeting) {
  pass(patience - 1ms);
  w.to->on_open();
  pass(patience - 1ms);
  answer({answered{}});
  EXPECT_TRUE(l.is_up());
  EXPECT_EQ(w.opened, 1);
}

TEST_F(sql_link, what_was_not_carried_out_is_tried_again_until_its_deadline) {
  arrive();
  ask(50ms);
  for (int i = 0; i < 20 && !said; ++i) {
    answer({error("again")});
    pass(10ms);
  }
  ASSERT_TRUE(said);
  EXPECT_EQ(kind(), why::not_sent);
  EXPECT_EQ(said_times, 1);
  EXPECT_GT(w.sent.size(), 3u);
}

TEST_F(sql_link, an_exchange_that_was_carried_out_in_part_was_said_not_to_have_been_sent) {
  arrive();
  l.ask({{"UPDATE 1"}, {"UPDATE 2"}}, now + 5ms, [this](link::said&& s) { said = std::move(s); });
  answer({answered{}, error("again")});
  EXPECT_FALSE(said) << "tried again";
  pass(5ms);
  ASSERT_TRUE(said);
  EXPECT_EQ(kind(), why::unknown);
}

TEST_F(sql_link, an_error_is_told_as_what_it_means) {
  arrive();
  ask();
  answer({error("no such column")});
  EXPECT_EQ(kind(), why::refused);
  ask();
  answer({error("lost")});
  EXPECT_EQ(kind(), why::unknown);
  EXPECT_EQ(downs, 0);
}

TEST_F(sql_link, a_server_that_cannot_write_is_left_for_another) {
  arrive();
  ask();
  answer({error("other")});
  EXPECT_EQ(kind(), why::not_sent);
  EXPECT_EQ(downs, 1);
  pass(pause);
  EXPECT_EQ(w.opened, 2);
}

TEST_F(sql_link, an_answer_that_comes_twice_or_too_late_is_dropped) {
  arrive();
  ask();
  answer({answered{}});
  answer({answered{}});
  EXPECT_EQ(said_times, 1);
}

TEST_F(sql_link, closed_it_says_nothing_more) {
  arrive();
  l.close();
  w.to->on_broken(kit::no(why::not_sent, errc::unavailable, "reset"));
  EXPECT_EQ(downs, 0);
}

// The write had been carried out: sent once more, it would find another version, and whoever released would hear that its hold was gone.
TEST_F(sql_link, a_minor_statement_that_fails_does_not_repeat_the_others) {
  arrive();
  l.ask({{"write"}, {"clear", {}, true}}, now + 5s, [this](link::said&& s) { said = std::move(s); });
  answer({answered{}, error("again")});
  ASSERT_TRUE(said);
  ASSERT_TRUE(std::holds_alternative<answers>(*said));
  EXPECT_STREQ(std::get<answers>(*said)[0].by, "write");
  EXPECT_EQ(w.sent.size(), 2u);
}

// It found another version, its own: who was next was not told, and whoever had released heard that its hold was gone.
TEST_F(sql_link, a_write_that_was_carried_out_was_said_once_more_since_a_statement_beside_it_had_failed) {
  arrive();
  l.ask({{"extend_place"}, {"write", {}, false, true}}, now + 5s, [this](link::said&& s) { said = std::move(s); });
  answer({error("again"), answered{.affected = 1}});
  ASSERT_TRUE(said);
  ASSERT_TRUE(std::holds_alternative<answers>(*said));
  EXPECT_EQ(w.sent.size(), 2u);
}

TEST_F(sql_link, a_write_that_has_changed_nothing_is_said_once_more_with_the_others) {
  arrive();
  l.ask({{"create"}, {"write", {}, false, true}}, now + 5s, [this](link::said&& s) { said = std::move(s); });
  answer({error("again"), answered{}});
  EXPECT_FALSE(said);
  pass(5ms);
  EXPECT_EQ(w.sent.size(), 3u);
}

// A close gives up an acquire, and what gives it back goes ahead at once: a second try would take what nobody gives back.
TEST_F(sql_link, what_was_given_up_was_tried_again) {
  bool given_up = false;
  arrive();
  l.ask({{"take"}}, now + 5s, {.given_up = [&] { return given_up; }}, [this](link::said&& s) { said = std::move(s); });
  answer({error("again")});
  const auto sent = w.sent.size();
  given_up = true;
  pass(1s);
  EXPECT_EQ(w.sent.size(), sent);
  EXPECT_EQ(kind(), why::not_sent);
}

}  // namespace
}  // namespace tyer::sql
