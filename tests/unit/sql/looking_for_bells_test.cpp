// A database that rings no bells, so whoever has something there looks for them; and who has nothing does not.
#include "unit/sql/scripted_database.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tyer::sql {
namespace {

using namespace std::chrono_literals;

struct sql_looking_for_bells : scripted_database {
  static constexpr std::array<const char*, 1> look{"look"};

  sql_looking_for_bells() {
    mute.say.look_for_bells = look;
    mute.say.forget_bells = "forget";
    mute.learn = [](const row&, server& s) {
      s.id = "a server";
      s.rings = false;
      return std::string{};
    };
    speaks = &mute;
  }

  int looks_in(milliseconds d) {
    int looks = 0;
    for (const auto end = clock.now() + d; clock.now() < end; pass(50ms)) {
      for (; how_often("look") > 0; ++looks) answer("look", {nothing()});
    }
    return looks;
  }
  void hold(const seam::id& who) {
    acquire(who, mode::exclusive);
    answer("take", {one_number(7)});
  }
  void release(const seam::id& who) {
    step([&] { it->release({who, "n"}, true, [](seam::outcome<fate>&&) {}); });
  }

  tongue mute = scripted;
};

TEST_F(sql_looking_for_bells, who_has_nothing_does_not) {
  const auto own = ids.next();
  EXPECT_EQ(looks_in(10s), 0);
  hold(own);
  EXPECT_GE(looks_in(10s), 10);
  release(own);
  answer("give_back", {one_number(1)});
  looks_in(2s);
  EXPECT_EQ(looks_in(10s), 0);
}

// It was: what had failed to be given back, and was given up, was looked after until the client was closed.
TEST_F(sql_looking_for_bells, who_had_something_that_could_not_be_given_back_did_so_for_ever) {
  const auto own = ids.next();
  hold(own);
  release(own);
  answer("give_back", {no()});
  looks_in(2s);
  EXPECT_EQ(looks_in(10s), 0);
}

}  // namespace
}  // namespace tyer::sql
