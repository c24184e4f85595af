// What a server tells of the run that its sessions are in.
#include "engines/mysql/sessions.hpp"

#include <gtest/gtest.h>

namespace tyer::mysql {
namespace {

using namespace tyer::sql;

// By its clock, which shows this second; for how long it runs; and what its UUIDs have in common.
session_facts learned(std::int64_t second, const std::string& uptime, const std::string& uuids) {
  const cell of_uptime{false, 0, uptime}, of_uuids{false, 0, uuids};
  const answers all{{.rows = {{cell{false, 7, {}}}}}, {.rows = {{cell{false, second, {}}, of_uptime, of_uuids}}}, {}};
  session_facts f;
  EXPECT_EQ(own_sessions.learn(all, server{}, f), "");
  return f;
}

TEST(mysql_session_facts, a_server_runs_since_the_same_second_whenever_it_is_asked) {
  const auto f = learned(1'000'100, "100", "9a1f");
  EXPECT_EQ(f.number, 7);
  EXPECT_EQ(f.started, 1'000'001'000'000) << "or a moment before: seconds are whole";
  EXPECT_EQ(learned(1'000'700, "700", "9a1f").run, f.run);
}

TEST(mysql_session_facts, a_clock_that_was_set_back_to_before_the_start_made_it_another_run) {
  const auto f = learned(1'000'100, "100", "9a1f");
  for (const char* less_than_nothing : {"-400", "18446744073709551216"}) {
    const auto now = learned(999'600, less_than_nothing, "9a1f");
    EXPECT_EQ(now.run, f.run) << less_than_nothing;
    EXPECT_EQ(now.started, f.started) << less_than_nothing;
  }
}

TEST(mysql_session_facts, a_start_in_the_same_second_of_a_clock_that_was_set_back_was_taken_for_the_last_one) {
  EXPECT_NE(learned(1'000'100, "100", "9a1f").run, learned(1'000'005, "5", "b203").run);
}

TEST(mysql_session_facts, a_server_that_does_not_tell_is_refused_in_words) {
  const answers all{{.rows = {{cell{false, 7, {}}}}}, {}, {}};
  session_facts f;
  EXPECT_NE(own_sessions.learn(all, server{}, f), "");
}

}  // namespace
}  // namespace tyer::mysql
