// A client that wants much at once, on virtual time: a server that carries out one request each millisecond.
#include "unit/sql/scripted_database.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;

struct sql_crowded : scripted_database {
  static constexpr auto a_statement = 1ms;
  static constexpr int many = 1000;

  void want(const seam::id& who, std::string_view name) {
    step([&] {
      it->acquire({.what = {who, name, mode::exclusive},
                   .ttl = ttl,
                   .waiter_ttl = ttl / 3,
                   .not_after = request_timeout,
                   .enqueue = true},
                  [](seam::outcome<seam::answer>&&) {});
    });
  }
  void hold(const seam::id& who, std::string_view name) {
    want(who, name);
    answer("take", {one_number(7)});
  }
  // Behind somebody else who holds "n".
  void line_up(const seam::id& who) {
    seat holder, waiter;
    holder.who = others.next();
    holder.part = 1;
    holder.expires = at_micros(now + micros(1h));
    waiter.ttl = ttl;
    waiter.waiter_ttl = ttl / 3;
    const auto name = name_row(1, write_seats({holder}));
    want(who, "n");
    answer("take", {rows_of({name, all_row(0, now)})});
    answer("join", {rows_of({name, place_row(who, 1, now + micros(1h), write_place(waiter)), all_row(1, now)})});
  }
  void ring(const seam::id& who) {
    const auto wake = static_cast<char>('0' + static_cast<int>(kit::notice::kind::wake));
    step([&] { w.to->on_notice(std::string{who.view()} + wake); });
  }
  void keep_place(const seam::id& who) {
    const seam::target t{who, "n"};
    step([&] { it->keep({&t, 1}, fate::waiting, ttl / 3, [](seam::outcome<seam::kept>&&) {}); });
    answer("extend_places", {rows_of({{bytes_cell(who.view()), bytes_cell("n"), number_cell(0)}})});
  }
  // How long it takes until the server carries out such a request, of that name or id if one is said; all others are refused.
  milliseconds until_it_comes(std::string_view first, std::string_view name = {}, const seam::id& who = {}) {
    const auto since = clock.now();
    for (int n = 0; n < 10 * many && !w.sent.empty(); ++n) {
      pass(a_statement);
      const auto& served = w.sent.front().second.front();
      const auto is = [&](std::size_t at, std::string_view what) {
        return what.empty() || std::get<std::string>(served.values.at(at)) == what;
      };
      if (served.text == first && is(0, name) && (!who || is(1, who.view()))) break;
      answer(served.text, {no()});
    }
    return std::chrono::duration_cast<milliseconds>(clock.now() - since);
  }

  core::random_ids others;
  const seam::id own = ids.next();
};

TEST_F(sql_crowded, a_renewal_came_behind_all_that_its_client_had_asked_for) {
  hold(own, "n");
  for (int i = 0; i < many; ++i) want(ids.next(), std::to_string(i));
  const seam::target t{own, "n"};
  step([&] { it->keep({&t, 1}, fate::holding, ttl, [](seam::outcome<seam::kept>&&) {}); });
  EXPECT_LE(until_it_comes("extend"), 70ms);
}

TEST_F(sql_crowded, who_let_go_came_behind_all_who_want_the_same_name) {
  hold(own, "n");
  for (int i = 0; i < many; ++i) want(ids.next(), "n");
  step([&] { it->release({own, "n"}, true, [](seam::outcome<fate>&&) {}); });
  EXPECT_LE(until_it_comes("give_back"), 5ms);
}

// So with each place whose turn came when it was given up, the client had one id more for good, and any that came again went before all
// others.
TEST_F(sql_crowded, a_late_wake_up_of_a_place_that_is_gone_was_remembered) {
  ring(own);
  EXPECT_EQ(events.woken, std::vector{own});
  for (int i = 0; i < many; ++i) want(ids.next(), std::to_string(i));
  want(own, "n");
  EXPECT_GT(until_it_comes("take", "n"), many * a_statement * 9 / 10);
}

// It was forgotten that its turn had come, so whoever was handed the name let everybody wait behind all of its own client.
TEST_F(sql_crowded, a_claim_that_had_failed_was_asked_again_behind_all_who_want_the_same_name) {
  line_up(own);
  ring(own);
  want(own, "n");
  answer("take", {no()});
  for (int i = 0; i < many; ++i) want(ids.next(), "n");
  want(own, "n");
  EXPECT_LE(until_it_comes("take", "n", own), 5ms);
}

TEST_F(sql_crowded, one_whose_call_was_over_before_its_claim_was_answered_is_as_urgent) {
  line_up(own);
  ring(own);
  want(own, "n");
  pass(request_timeout - 1s);
  keep_place(own);  // so the server is not silent
  pass(1s);
  w.sent.clear();
  for (int i = 0; i < many; ++i) want(ids.next(), "n");
  want(own, "n");
  EXPECT_LE(until_it_comes("take", "n", own), 5ms);
}

TEST_F(sql_crowded, whoever_was_answered_that_its_turn_has_not_come_is_not_urgent) {
  line_up(own);
  ring(own);
  want(own, "n");
  seat holder;
  holder.who = others.next();
  holder.part = 1;
  holder.expires = at_micros(now + micros(1h));
  answer("take", {rows_of({name_row(1, write_seats({holder})), place_row(own, 1, now + micros(1h), write_place({})),
                           all_row(1, now)})});
  for (int i = 0; i < many; ++i) want(ids.next(), "n");
  want(own, "n");
  EXPECT_GT(until_it_comes("take", "n", own), 50ms);
}

}  // namespace
}  // namespace tyer::sql
