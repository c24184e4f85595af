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
  // How long it takes until the server carries out such a request, of that name if one is said; all others are refused.
  milliseconds until_it_comes(std::string_view first, std::string_view name = {}) {
    const auto since = clock.now();
    for (int n = 0; n < 10 * many && !w.sent.empty(); ++n) {
      pass(a_statement);
      const auto& served = w.sent.front().second.front();
      if (served.text == first && (name.empty() || std::get<std::string>(served.values.at(0)) == name)) break;
      answer(served.text, {no()});
    }
    return std::chrono::duration_cast<milliseconds>(clock.now() - since);
  }

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
  const auto wake = static_cast<char>('0' + static_cast<int>(kit::notice::kind::wake));
  step([&] { w.to->on_notice(std::string{own.view()} + wake); });
  EXPECT_EQ(events.woken, std::vector{own});
  for (int i = 0; i < many; ++i) want(ids.next(), std::to_string(i));
  want(own, "n");
  EXPECT_GT(until_it_comes("take", "n"), many * a_statement * 9 / 10);
}

}  // namespace
}  // namespace tyer::sql
