// Locks of a session, when the server is the test: what is said, in which order, and what is made of late and lost answers.
#include "engines/sql/session_locks.hpp"

#include "unit/kit/pocket_engine.hpp"
#include "unit/sql/scripted.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;
using seam::kept;

exchange silence(milliseconds t) {
  exchange e;
  e.push_back({"silence", {}});
  e.back().values.emplace_back(std::int64_t{t.count()});
  return e;
}

const session_tongue scripted_sessions{
    .ask_facts = [] { return exchange{{"session"}}; },
    .learn =
        [](const answers& a, const server&, session_facts& f) {
          f.number = number_in(a);
          f.run = a.back().rows.at(0).at(1).bytes;
          return f.number == 13 ? std::string{"not here"} : std::string{};
        },
    .end_when_silent = silence,
    .take =
        [](const wanted& what, const session_facts& f) {
          exchange e;
          e.push_back({"take", {}});
          e.back().values.emplace_back(f.run);
          e.back().values.emplace_back(std::int64_t{what.run_known.count()});
          return e;
        },
    .make_name = [](const wanted&, const session_facts&) { return exchange{{"make"}}; },
    .came_of =
        [](const answers& a) {
          const row& r = a.back().rows.at(0);
          taken t{.won = r[0].number != 0};
          if (!r[1].is_null) t.part = static_cast<std::uint64_t>(r[1].number);
          return t;
        },
    .give_back = "give_back",
    .give_back_if_had = "give_back_if_had",
    .is_of_rows = "rows?",
    .lengthen = "lengthen",
    .who_am_i = "who",
    .list = "list"};

struct heard final : seam::events {
  void wake(const seam::id&) override {}
  void suspect(const seam::id&) override {}
  void gone(const seam::id& who) override { all.push_back(who); }
  void asked(const seam::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const seam::server_facts&) override { ++ups; }
  void down(const failure& f) override { words = f.words; }
  std::vector<seam::id> all;
  int ups = 0;
  std::string words;
};

struct sql_session_locks : ::testing::Test {
  static constexpr milliseconds ttl = 6s, request_timeout = 2s;
  static constexpr std::int64_t number = 7;

  void SetUp() override {
    make();
    greet();
    ASSERT_EQ(events.ups, 1);
  }
  void make() {
    it = std::make_unique<session_locks>(
        seam::environment{"", &ids, &clock, request_timeout, {}},
        session_locks::parts{
            .scheme = "sql://",
            .says = std::make_unique<dialect>(dialect::setting{ids.nonce(), request_timeout}, scripted),
            .sessions = &scripted_sessions,
            .by = std::make_unique<scripted_wire>(w),
            .box = std::make_shared<seam::inbox>()});
    it->open(events);
  }
  void greet(std::int64_t session = number, std::string_view run = "first") {
    step([&] { w.to->on_open(); });
    answer("session", {rows_of({{number_cell(session), bytes_cell(run)}}),
                       rows_of({{bytes_cell("1"), number_cell(1'000'000)}}), one_number(1)});
  }
  // Cut off, and connected anew half a second later.
  void come_back(std::int64_t session, std::string_view run) {
    step([&] { w.to->on_broken(kit::no(why::unknown, errc::unavailable, "reset")); });
    w.sent.clear();
    pass(500ms);
    greet(session, run);
  }

  template <class F>
  void step(F what) {
    what();
    it->run(clock.now());
    it->run(clock.now());
  }
  void pass(milliseconds d) {
    step([&] { clock.move(d); });
  }
  std::vector<std::string> said() const {
    std::vector<std::string> all;
    for (const auto& [n, e] : w.sent) {
      for (const auto& s : e) all.emplace_back(s.text);
    }
    return all;
  }
  std::size_t how_often(std::string_view text) const {
    const auto all = said();
    return static_cast<std::size_t>(std::ranges::count(all, text));
  }
  // The first exchange under way that ends with it.
  void answer(std::string_view last, answers a) {
    const auto at = std::ranges::find_if(w.sent, [&](const auto& s) {
      return std::ranges::any_of(s.second, [&](const auto& one) { return one.text == last; });
    });
    ASSERT_NE(at, w.sent.end()) << last << " was not sent";
    const auto n = at->first;
    if (a.size() < at->second.size()) a.insert(a.begin(), at->second.size() - a.size(), answered{});
    w.sent.erase(at);
    step([&] { w.to->on_answers(n, std::move(a)); });
  }
  static answered won(std::uint64_t part) {
    return rows_of({{number_cell(1), number_cell(static_cast<std::int64_t>(part))}});
  }
  static answered without_token() { return rows_of({{number_cell(1), cell{}}}); }
  static answered not_won() { return rows_of({{number_cell(0), cell{}}}); }
  static answered error() { return {.failed = true, .code = "again", .words = "no"}; }

  template <class T>
  struct told {
    int times = 0;
    seam::outcome<T> last{};
    bool failed() const { return times == 1 && std::holds_alternative<failure>(last.result); }
    const T& value() const { return std::get<T>(last.result); }
  };
  template <class T>
  auto note(const std::shared_ptr<told<T>>& t) {
    return [t](seam::outcome<T>&& o) {
      ++t->times;
      t->last = std::move(o);
    };
  }
  std::shared_ptr<told<seam::answer>> acquire(const seam::id& who, milliseconds for_so_long = ttl,
                                              std::string_view name = "n") {
    auto t = std::make_shared<told<seam::answer>>();
    step([&] { it->acquire({.what = {who, name}, .ttl = for_so_long, .not_after = 60s, .enqueue = true}, note(t)); });
    return t;
  }
  std::shared_ptr<told<fate>> release(const seam::id& who, std::string_view name = "n") {
    auto t = std::make_shared<told<fate>>();
    step([&] { it->release({who, name}, true, note(t)); });
    return t;
  }
  std::shared_ptr<told<kept>> keep(std::vector<seam::id> who, milliseconds for_so_long = ttl) {
    auto t = std::make_shared<told<kept>>();
    std::vector<seam::target> all;
    for (const auto& one : who) all.push_back({one, "n"});
    step([&] { it->keep(all, fate::holding, for_so_long, note(t)); });
    return t;
  }
  // Acquires and answers.
  seam::id hold(milliseconds for_so_long = ttl) {
    const auto who = ids.next();
    const auto t = acquire(who, for_so_long);
    answer("take", {won(1)});
    EXPECT_TRUE(is_granted(*t));
    return who;
  }
  static bool is_granted(const told<seam::answer>& t) {
    return t.times == 1 && !t.failed() && std::holds_alternative<seam::granted>(t.value());
  }
  static bool is_busy(const told<seam::answer>& t) {
    return t.times == 1 && !t.failed() && std::holds_alternative<seam::busy>(t.value());
  }

  kit::hand_clock clock;
  core::random_ids ids;
  heard events;
  scripted_wire::state w;
  std::unique_ptr<session_locks> it;
};

TEST_F(sql_session_locks, the_server_is_told_when_to_end_a_silent_session_before_anything_is_taken) {
  acquire(ids.next());
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take"}));
  EXPECT_EQ(std::get<std::int64_t>(w.sent.front().second.front().values.front()), ttl.count());
  acquire(ids.next(), 1s, "m");
  EXPECT_EQ(how_often("silence"), 1u) << "a shorter one would end what is promised for longer";
}

TEST_F(sql_session_locks, a_grant_counts_from_before_it_was_asked_for) {
  const auto before = clock.now();
  const auto t = acquire(ids.next());
  pass(1s);
  answer("take", {won(5)});
  ASSERT_TRUE(is_granted(*t));
  EXPECT_EQ(t->last.sent, before);
  EXPECT_EQ(std::get<seam::granted>(t->value()).part, 5u);
  EXPECT_EQ(std::get<seam::granted>(t->value()).ttl, ttl);
}

// When a name was granted, and when the server was started, it says by a clock that may have been moved since.
TEST_F(sql_session_locks, a_clock_that_was_set_back_gave_a_lock_that_its_holder_believed_in_after_a_restart) {
  const auto known = [&] {
    const auto t = acquire(ids.next());
    const auto values = w.sent.back().second.back().values;
    answer("take", {not_won()});
    EXPECT_TRUE(is_busy(*t));
    return std::pair{std::get<std::string>(values.at(0)), milliseconds{std::get<std::int64_t>(values.at(1))}};
  };
  pass(3s);
  EXPECT_EQ(known(), (std::pair{std::string{"first"}, milliseconds{3s}}));
  come_back(8, "first");
  EXPECT_EQ(known(), (std::pair{std::string{"first"}, milliseconds{3500ms}})) << "it is the same server as before";
  come_back(9, "second");
  EXPECT_EQ(known(), (std::pair{std::string{"second"}, 0ms})) << "its holder may have been told a moment ago";
  pass(1s);
  EXPECT_EQ(known().second, 1s);
}

TEST_F(sql_session_locks, who_is_refused_asks_again_less_and_less_often) {
  const auto who = ids.next();
  auto t = acquire(who);
  answer("take", {not_won()});
  ASSERT_TRUE(is_busy(*t));
  EXPECT_EQ(std::get<seam::busy>(t->value()).hint, 10ms);
  pass(800ms);
  t = acquire(who);
  answer("take", {not_won()});
  EXPECT_EQ(std::get<seam::busy>(t->value()).hint, 100ms);
  pass(1h);
  t = acquire(who);
  answer("take", {not_won()});
  EXPECT_EQ(std::get<seam::busy>(t->value()).hint, 250ms);
}

// A session can have one lock twice.
TEST_F(sql_session_locks, a_second_id_of_the_same_client_would_have_had_it_too) {
  hold();
  const auto t = acquire(ids.next());
  EXPECT_TRUE(is_busy(*t));
  EXPECT_EQ(how_often("take"), 0u);
}

TEST_F(sql_session_locks, a_name_without_a_row_gets_one) {
  const auto t = acquire(ids.next());
  answer("take", {without_token()});
  answer("make", {won(9)});
  ASSERT_TRUE(is_granted(*t));
  EXPECT_EQ(std::get<seam::granted>(t->value()).part, 9u);
}

TEST_F(sql_session_locks, a_lock_whose_row_says_no_is_given_back) {
  const auto t = acquire(ids.next());
  answer("take", {without_token()});
  answer("make", {without_token()});
  EXPECT_EQ(said(), (std::vector<std::string>{"give_back", "rows?"}));
  answer("give_back", {one_number(1)});
  EXPECT_EQ(t->times, 0);
  answer("rows?", {one_number(0)});
  EXPECT_TRUE(is_busy(*t)) << "it may be free in a moment";
}

TEST_F(sql_session_locks, whoever_wanted_a_name_that_is_locked_by_rows_waited_without_a_word) {
  const auto t = acquire(ids.next());
  answer("take", {without_token()});
  answer("make", {without_token()});
  answer("give_back", {one_number(1)});
  answer("rows?", {one_number(1)});
  ASSERT_TRUE(t->failed());
  EXPECT_EQ(std::get<failure>(t->last.result).kind, why::refused);
}

TEST_F(sql_session_locks, an_error_behind_a_lock_that_was_won_left_it_locked) {
  const auto t = acquire(ids.next());
  answer("take", {error()});
  EXPECT_TRUE(t->failed());
  EXPECT_EQ(said(), std::vector<std::string>{"give_back_if_had"});
  const auto next = acquire(ids.next());
  EXPECT_EQ(how_often("take"), 0u) << "first it is given back";
  answer("give_back_if_had", {one_number(1)});
  EXPECT_EQ(how_often("take"), 1u);
}

TEST_F(sql_session_locks, a_lock_whose_unlock_met_an_error_stayed_locked_by_a_session_that_did_not_hold_it) {
  const auto who = hold();
  const auto r = release(who);
  answer("give_back", {error()});
  EXPECT_EQ(said(), std::vector<std::string>{"give_back_if_had"}) << "a session can have it twice: nobody takes it now";
  EXPECT_EQ(r->times, 0);
  answer("give_back_if_had", {error()});
  answer("give_back_if_had", {one_number(1)});
  ASSERT_EQ(r->times, 1);
  EXPECT_EQ(r->value(), fate::holding);
  acquire(ids.next());
  EXPECT_EQ(how_often("take"), 1u);
}

TEST_F(sql_session_locks, nobody_of_this_client_takes_a_lock_before_it_is_known_to_be_given_back) {
  const auto who = hold();
  release(who);
  pass(request_timeout);
  acquire(ids.next());
  EXPECT_EQ(how_often("take"), 0u);
  answer("give_back", {error()});
  EXPECT_EQ(how_often("take"), 0u);
  answer("give_back_if_had", {one_number(0)});
  EXPECT_EQ(how_often("take"), 1u);
}

TEST_F(sql_session_locks, a_lock_that_the_server_does_not_take_back_goes_with_its_session) {
  const auto one = hold(), two = ids.next();
  acquire(two, ttl, "m");
  answer("take", {won(2)});
  const auto r = release(one);
  answer("give_back", {error()});
  for (int i = 0; i < 3; ++i) answer("give_back_if_had", {error()});
  EXPECT_TRUE(r->failed());
  EXPECT_EQ(events.all, std::vector{two});
  EXPECT_NE(events.words.find("given back"), std::string::npos) << events.words;
}

TEST_F(sql_session_locks, what_waited_for_an_unlock_that_its_connection_took_along_asks_the_next_session) {
  const auto who = hold();
  release(who);
  pass(request_timeout);
  acquire(ids.next());
  step([&] { w.to->on_broken(kit::no(why::unknown, errc::unavailable, "reset")); });
  w.sent.clear();
  pass(500ms);
  greet(8);
  EXPECT_EQ(said(), std::vector<std::string>{"who"}) << "what is known of the last one says nothing of this one";
  answer("who", {one_number(8)});
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take"}));
}

TEST_F(sql_session_locks, a_session_that_was_not_told_when_to_end_was_taken_for_one_that_was) {
  acquire(ids.next());
  const auto beside = acquire(ids.next(), ttl, "m");
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take", "take"}));
  answer("take", {error(), won(1)});
  answer("take", {won(2)});
  EXPECT_TRUE(beside->failed()) << "the server would end it at another time than its client believes";
  answer("give_back_if_had", {one_number(1)});
  answer("give_back", {one_number(1)});
  acquire(ids.next());
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take"}));
}

TEST_F(sql_session_locks, a_hold_that_is_kept_for_longer_was_believed_although_its_session_was_not_told) {
  const auto who = hold();
  auto t = keep({who}, 2 * ttl);
  answer("who", {error(), answered{}, one_number(number)});
  EXPECT_TRUE(t->failed());
  t = keep({who}, 2 * ttl);
  EXPECT_EQ(how_often("silence"), 1u);
  answer("who", {answered{}, answered{}, one_number(number)});
  EXPECT_EQ(t->value().ttl, 2 * ttl);
}

TEST_F(sql_session_locks, a_lock_that_was_won_too_late_is_given_back) {
  const auto t = acquire(ids.next());
  pass(request_timeout);
  EXPECT_TRUE(t->failed());
  const auto next = acquire(ids.next());
  EXPECT_EQ(how_often("take"), 1u) << "one at a time";
  answer("take", {won(1)});
  EXPECT_EQ(said(), std::vector<std::string>{"give_back"});
  answer("give_back", {one_number(1)});
  EXPECT_EQ(said(), std::vector<std::string>{"take"});
  answer("take", {won(2)});
  EXPECT_TRUE(is_granted(*next));
}

TEST_F(sql_session_locks, a_release_waits_for_what_it_undoes) {
  const auto who = ids.next();
  acquire(who);
  pass(request_timeout);
  const auto r = release(who);
  EXPECT_EQ(r->times, 0);
  answer("take", {won(1)});
  answer("give_back", {one_number(1)});
  ASSERT_EQ(r->times, 1);
  EXPECT_EQ(r->value(), fate::gone);
}

TEST_F(sql_session_locks, all_are_kept_by_one_answer) {
  const auto one = hold();
  const auto two = ids.next();
  acquire(two, ttl, "m");
  answer("take", {won(1)});
  pass(2s);
  const auto first = keep({one, two}), second = keep({one});
  EXPECT_EQ(said(), std::vector<std::string>{"who"});
  answer("who", {one_number(number)});
  ASSERT_EQ(first->times, 1);
  EXPECT_EQ(first->value().fates, (std::vector{fate::holding, fate::gone})) << "the other has another name";
  EXPECT_EQ(first->value().ttl, ttl);
  ASSERT_EQ(second->times, 1);
}

TEST_F(sql_session_locks, what_was_answered_a_moment_ago_is_proof_enough) {
  const auto who = hold();
  const auto before = clock.now();
  pass(ttl / 6);
  const auto t = keep({who});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->last.sent, before);
  EXPECT_TRUE(said().empty());
}

TEST_F(sql_session_locks, a_hold_counts_from_the_sending_of_what_was_answered) {
  const auto who = hold();
  pass(2s);
  const auto before = clock.now();
  const auto t = keep({who});
  pass(1s);
  answer("who", {one_number(number)});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->last.sent, before);
}

TEST_F(sql_session_locks, what_is_kept_for_longer_is_written_down_first) {
  const auto who = hold();
  const auto t = keep({who}, 2 * ttl);
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "lengthen", "who"}));
  answer("who", {answered{}, answered{}, one_number(number)});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->value().ttl, 2 * ttl);
}

TEST_F(sql_session_locks, a_hold_that_nobody_keeps_is_given_back) {
  const auto who = hold();
  pass(ttl);
  EXPECT_EQ(events.all, std::vector{who});
  EXPECT_EQ(said(), std::vector<std::string>{"give_back"});
  const auto t = keep({who});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->value().fates, std::vector{fate::gone});
}

TEST_F(sql_session_locks, with_the_connection_every_hold_is_gone) {
  const auto who = hold();
  pass(2s);
  const auto t = keep({who});
  step([&] { w.to->on_broken(kit::no(why::unknown, errc::unavailable, "reset")); });
  EXPECT_EQ(events.all, std::vector{who});
  ASSERT_EQ(t->times, 1);
  EXPECT_EQ(t->value().fates, std::vector{fate::gone});
  const auto r = release(who);
  EXPECT_EQ(r->value(), fate::gone);
  EXPECT_TRUE(said().size() == 1) << "nothing is given back in a session that does not have it";
}

// Told to the next session, the length would have been that of whoever asked first.
TEST_F(sql_session_locks, what_is_asked_while_it_is_away_waits_for_the_next_session) {
  hold(60s);
  step([&] { w.to->on_broken(kit::no(why::unknown, errc::unavailable, "reset")); });
  w.sent.clear();
  const auto one = acquire(ids.next(), 10s, "a"), two = acquire(ids.next(), 1s, "b");
  EXPECT_TRUE(said().empty());
  pass(500ms);
  greet(8);
  EXPECT_EQ(said(), (std::vector<std::string>{"who", "who"}));
  answer("who", {one_number(8)});
  answer("who", {one_number(8)});
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take", "take"}));
  EXPECT_EQ(std::get<std::int64_t>(w.sent.front().second.front().values.front()), 10'000);
}

TEST_F(sql_session_locks, another_session_behind_the_same_connection_is_left) {
  const auto who = hold();
  pass(2s);
  keep({who});
  answer("who", {one_number(number + 1)});
  EXPECT_EQ(events.all, std::vector{who});
  EXPECT_NE(events.words.find("session of the server answers"), std::string::npos);
}

TEST_F(sql_session_locks, behind_a_pooler_nothing_is_granted) {
  it.reset();
  w = {};
  w.keeps_session = false;
  make();
  step([&] { w.to->on_open(); });
  EXPECT_EQ(said(), std::vector<std::string>{"who"}) << "nothing is set that another client would find";
  answer("who", {one_number(1)});
  EXPECT_EQ(events.ups, 1) << "only the first time";
  const auto t = acquire(ids.next());
  ASSERT_TRUE(t->failed());
  EXPECT_EQ(std::get<failure>(t->last.result).kind, why::refused);
  EXPECT_NE(std::get<failure>(t->last.result).words.find("pooler"), std::string::npos);
}

TEST_F(sql_session_locks, a_server_whose_locks_are_none_is_refused_in_its_words) {
  it.reset();
  w = {};
  make();
  greet(13);
  const auto t = acquire(ids.next());
  ASSERT_TRUE(t->failed());
  EXPECT_EQ(std::get<failure>(t->last.result).words, "not here");
}

TEST_F(sql_session_locks, a_session_that_holds_nothing_is_not_ended) {
  const auto who = hold();
  release(who);
  answer("give_back", {one_number(1)});
  EXPECT_TRUE(said().empty());
  pass(ttl / 3);
  ASSERT_EQ(said(), std::vector<std::string>{"silence"});
  EXPECT_EQ(std::get<std::int64_t>(w.sent.front().second.front().values.front()), 0);
  answer("silence", {answered{}});
  acquire(ids.next());
  EXPECT_EQ(said(), (std::vector<std::string>{"silence", "take"}));
}

// Whatever is said behind it waits for it, on the one connection, and holds were lost.
TEST_F(sql_session_locks, a_look_through_a_large_table_kept_the_renewals_behind_it_waiting) {
  hold(1h);
  pass(10min);
  EXPECT_EQ(said(), std::vector<std::string>{"sweep_turn"});
  answer("sweep_turn", {one_number(1)});
  EXPECT_EQ(said(), (std::vector<std::string>{"sweep_rest", "sweep_end", "sweep"}));
  answer("sweep_end", {rows_of({{bytes_cell("the thousandth")}}), answered{}});
  EXPECT_EQ(said(), (std::vector<std::string>{"sweep_rest", "sweep_end", "sweep"})) << "and so on";
  EXPECT_EQ(std::get<std::string>(w.sent.back().second.front().values.at(0)), "the thousandth");
  answer("sweep_end", {answered{}, answered{}});
  EXPECT_EQ(said(), std::vector<std::string>{"sweep_rest"});
}

TEST_F(sql_session_locks, of_all_clients_one_looks_through_the_table) {
  hold(1h);
  pass(10min);
  answer("sweep_turn", {answered{}});
  EXPECT_TRUE(said().empty());
}

TEST_F(sql_session_locks, the_same_id_again_is_shown_once_more) {
  const auto who = hold();
  pass(1s);
  const auto before = clock.now();
  const auto t = acquire(who);
  EXPECT_EQ(said(), std::vector<std::string>{"who"});
  answer("who", {one_number(number)});
  ASSERT_TRUE(is_granted(*t));
  EXPECT_EQ(t->last.sent, before);
  EXPECT_EQ(std::get<seam::granted>(t->value()).part, 1u);
  pass(ttl - 1ms);
  EXPECT_TRUE(events.all.empty()) << "it counts from the last time";
}

}  // namespace
}  // namespace tyer::sql
