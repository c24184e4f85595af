// Locks of a session whose server is the test. It is greeted, and nothing else was said.
#pragma once

#include "engines/sql/session_locks.hpp"
#include "unit/sql/scripted_engine.hpp"

namespace tyer::sql {

inline exchange silence(milliseconds t) {
  exchange e;
  e.push_back({"silence", {}});
  e.back().values.emplace_back(std::int64_t{t.count()});
  return e;
}

inline const session_tongue scripted_sessions{
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

struct sql_session_locks : scripted_engine<session_locks> {
  static constexpr milliseconds ttl = std::chrono::seconds{6}, request_timeout = std::chrono::seconds{2};
  static constexpr std::int64_t number = 7;

  void SetUp() override {
    open(request_timeout, scripted_sessions);
    greet();
    ASSERT_EQ(events.ups, 1);
  }
  void greet(std::int64_t session = number, std::string_view run = "first") {
    step([&] { w.to->on_open(); });
    answer("session", {rows_of({{number_cell(session), bytes_cell(run)}}),
                       rows_of({{bytes_cell("1"), number_cell(1'000'000)}}), one_number(1)});
  }
  // Cut off, and connected anew half a second later.
  void come_back(std::int64_t session, std::string_view run = "first") {
    cut_off();
    w.sent.clear();
    pass(std::chrono::milliseconds{500});
    greet(session, run);
  }
  std::vector<std::string> said() const {
    std::vector<std::string> all;
    for (const auto& [n, e] : w.sent) {
      for (const auto& s : e) all.emplace_back(s.text);
    }
    return all;
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
    step([&] {
      it->acquire({.what = {who, name}, .ttl = for_so_long, .not_after = std::chrono::seconds{60}, .enqueue = true},
                  note(t));
    });
    return t;
  }
  std::shared_ptr<told<fate>> release(const seam::id& who, std::string_view name = "n") {
    auto t = std::make_shared<told<fate>>();
    step([&] { it->release({who, name}, true, note(t)); });
    return t;
  }
  std::shared_ptr<told<seam::kept>> keep(std::vector<seam::id> who, milliseconds for_so_long = ttl) {
    auto t = std::make_shared<told<seam::kept>>();
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
};

}  // namespace tyer::sql
