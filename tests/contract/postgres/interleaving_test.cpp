// A renewal and the end of a session, a claim of a name and its extension: each in the midst of the other. One of the two is held in
// a transaction that is not over, so that the other has to wait for the row; then that is committed, or taken back.
#include "contract/postgres/raw.hpp"
#include "engines/postgres/statements.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tyer::postgres {

using namespace std::chrono_literals;

namespace {

constexpr std::int64_t second = 1'000'000, part_max = second * second * second, places = 4;

struct interleaving : ::testing::Test {
  interleaving() {
    static std::int64_t last = 0;
    session = owner.now() + ++last;
    name = "interleaving/" + std::to_string(session);
  }
  void begin_session(std::int64_t left) { owner.run(statement::begin_session, {session, left}); }
  void await_over() { std::this_thread::sleep_for(20ms); }
  bool is_ended() { return owner.run(statement::how_sessions_are, {sql::number_list{session}}).at(0).at(2) == "t"; }
  // Taken by "holder__________", and living by the session.
  void hold(std::int64_t ttl) {
    owner.run(statement::take, {name, holder, ttl, std::int64_t{1}, std::string{"o"}, second * second, places});
    owner.run(statement::extend, {session, ttl, sql::bytes_list{holder + name}, sql::number_list{session}});
  }
  std::int64_t version() {
    return std::stoll(owner.run("SELECT version FROM tyer_lock WHERE name = $1::bytea", {name}).at(0).at(0));
  }
  std::vector<sql::value> take_over(std::int64_t guard) {
    return {name,
            guard,
            other,
            std::int64_t{1},
            std::int64_t{1} << 52,
            owner_now + 60 * second,
            sql::null{},
            std::string{"t"},
            sql::null{},
            std::int64_t{0},
            std::int64_t{0},
            sql::bytes_list{},
            sql::number_list{},
            sql::null{},
            sql::null{},
            sql::null{}};
  }

  raw owner, taker;
  std::int64_t session = 0, owner_now = owner.now();
  std::string name, holder = "holder__________", other = "other___________";
};

}  // namespace

TEST_F(interleaving, an_end_that_waits_for_a_renewal_finds_the_session_alive) {
  begin_session(1000);
  await_over();
  owner.run("BEGIN");
  EXPECT_EQ(owner.run(statement::renew_session, {session, 60 * second}).size(), 1u);
  taker.begin(statement::end_sessions, {sql::number_list{session}});
  EXPECT_TRUE(taker.waits());
  owner.run("COMMIT");
  taker.end();
  EXPECT_FALSE(is_ended());
}

TEST_F(interleaving, a_renewal_that_waits_for_an_end_renews_nothing) {
  begin_session(1000);
  await_over();
  taker.run("BEGIN");
  taker.run(statement::end_sessions, {sql::number_list{session}});
  owner.begin(statement::renew_session, {session, 60 * second});
  EXPECT_TRUE(owner.waits());
  taker.run("COMMIT");
  EXPECT_TRUE(owner.end().empty());
  EXPECT_TRUE(is_ended());
}

TEST_F(interleaving, a_renewal_that_waits_for_an_end_that_is_taken_back_renews) {
  begin_session(1000);
  await_over();
  taker.run("BEGIN");
  taker.run(statement::end_sessions, {sql::number_list{session}});
  owner.begin(statement::renew_session, {session, 60 * second});
  EXPECT_TRUE(owner.waits());
  taker.run("ROLLBACK");
  EXPECT_EQ(owner.end().size(), 1u);
  taker.run(statement::end_sessions, {sql::number_list{session}});
  EXPECT_FALSE(is_ended());
}

TEST_F(interleaving, an_end_after_a_renewal_that_waited_past_the_expiry_ends_nothing) {
  begin_session(60'000);
  taker.run("BEGIN");
  taker.run("SELECT 1 FROM tyer_session WHERE id = $1::bigint FOR UPDATE", {session});
  owner.begin(statement::renew_session, {session, 60 * second});
  EXPECT_TRUE(owner.waits());
  std::this_thread::sleep_for(80ms);  // over by now
  taker.run("COMMIT");
  EXPECT_EQ(owner.end().size(), 1u);
  taker.run(statement::end_sessions, {sql::number_list{session}});
  EXPECT_FALSE(is_ended());
}

TEST_F(interleaving, a_take_over_that_waits_for_an_extension_is_refused) {
  begin_session(60 * second);
  hold(60 * second);
  const auto seen = version();
  owner.run("BEGIN");
  EXPECT_EQ(
      owner.run(statement::extend, {session, 60 * second, sql::bytes_list{holder + name}, sql::number_list{session}})
          .size(),
      1u);
  taker.begin(statement::write, take_over(seen));
  EXPECT_TRUE(taker.waits());
  owner.run("COMMIT");
  EXPECT_TRUE(taker.end().empty());
}

TEST_F(interleaving, an_extension_that_waits_for_a_take_over_extends_nothing) {
  begin_session(60 * second);
  hold(60 * second);
  const auto seen = version();
  taker.run("BEGIN");
  EXPECT_EQ(taker.run(statement::write, take_over(seen)).size(), 1u);
  owner.begin(statement::extend, {session, 60 * second, sql::bytes_list{holder + name}, sql::number_list{session}});
  EXPECT_TRUE(owner.waits());
  taker.run("COMMIT");
  EXPECT_TRUE(owner.end().empty());
}

TEST_F(interleaving, a_take_judges_the_time_when_it_has_the_row) {
  owner.run(statement::take, {name, holder, std::int64_t{50'000}, std::int64_t{1}, std::string{"o"}, part_max, places});
  owner.run("BEGIN");
  owner.run("SELECT 1 FROM tyer_lock WHERE name = $1::bytea FOR UPDATE", {name});
  taker.begin(statement::take, {name, other, 60 * second, std::int64_t{1}, std::string{"t"}, part_max, places});
  EXPECT_TRUE(taker.waits());
  std::this_thread::sleep_for(80ms);  // over by now
  owner.run("COMMIT");
  const auto said = taker.end();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0][0], "4");
}

TEST_F(interleaving, a_take_that_finds_another_tells_what_there_is) {
  hold(60 * second);
  const auto said =
      taker.run(statement::take, {name, other, second, std::int64_t{1}, std::string{"t"}, part_max, places});
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0][0], "0");
  EXPECT_EQ(said[0][2], std::to_string(version()));
  EXPECT_EQ(said[1][0], "3");
}

// Its snapshot shows the holder: whoever believed it would wait for one who has gone, and nobody would wake it.
TEST_F(interleaving, a_join_that_waited_for_a_release_tells_another_version_than_it_shows) {
  hold(60 * second);
  owner.run("BEGIN");
  EXPECT_EQ(owner.run(statement::give_back, {name, holder, sql::number_list{session}, places}).at(0).at(0), "4");
  taker.begin(statement::join, {name, other, 60 * second, std::string{"body"}, places});
  EXPECT_TRUE(taker.waits());
  owner.run("COMMIT");
  const auto said = taker.end();
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[0][0], "0");
  EXPECT_EQ(said[2][0], "5");
  EXPECT_NE(said[0][2], said[2][4]);
  EXPECT_EQ(said[2][4], std::to_string(version()));
}

// A join changes no version; but the release that has not seen it must not take the crowd away.
TEST_F(interleaving, a_release_that_waited_for_a_join_is_not_done_blindly) {
  hold(60 * second);
  taker.run("BEGIN");
  taker.run(statement::join, {name, other, 60 * second, std::string{"body"}, places});
  owner.begin(statement::give_back, {name, holder, sql::number_list{session}, places});
  EXPECT_TRUE(owner.waits());
  taker.run("COMMIT");
  const auto said = owner.end();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said[0][0], "0");
}

TEST_F(interleaving, of_two_who_want_to_sweep_one_has_the_turn) {
  owner.run("DELETE FROM tyer_session WHERE id = 0");
  owner.run("BEGIN");
  EXPECT_EQ(owner.run(statement::sweep_turn, {60 * second}).size(), 1u);
  taker.begin(statement::sweep_turn, {60 * second});
  EXPECT_TRUE(taker.waits());
  owner.run("COMMIT");
  EXPECT_TRUE(taker.end().empty());
}

TEST_F(interleaving, whoever_evicts_raises_the_generation_in_the_same_statement) {
  begin_session(60 * second);
  hold(60 * second);
  auto evict = take_over(version());
  evict[12] = sql::number_list{session};
  taker.run("BEGIN");
  EXPECT_EQ(taker.run(statement::write, evict).size(), 1u);
  owner.begin(statement::renew_session, {session, 60 * second});
  EXPECT_TRUE(owner.waits());
  taker.run("COMMIT");
  EXPECT_EQ(owner.end().at(0).at(0), "1");
}

}  // namespace tyer::postgres
