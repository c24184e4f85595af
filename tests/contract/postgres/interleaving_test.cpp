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

constexpr std::int64_t second = 1'000'000;

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
  // As sql/seats.hpp has it, as far as it matters: two holds, each with something behind it.
  std::string head(std::size_t of) const { return (of == 0 ? holder : other) + std::string(26, of == 0 ? 'a' : 'b'); }
  std::string shared() const { return "\1\2\3\3\3" + head(0) + "rest" + head(1) + "more"; }
  void share() {
    owner.run(statement::create, {name});
    owner.run("UPDATE tyer_lock SET state = $2::bytea, crowd = true WHERE name = $1::bytea", {name, shared()});
  }
  std::vector<sql::value> extension(std::size_t of = 0) {
    return {name, head(of), owner_now + 60 * second, std::string{"\1\2\3\4\5\6\7\10"}, 60 * second, std::int64_t{1}};
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

TEST_F(interleaving, a_take_over_that_waits_for_an_extension_of_a_hold_that_is_not_plain_is_refused) {
  share();
  const auto seen = version();
  owner.run("BEGIN");
  EXPECT_EQ(owner.run(statement::extend_seat, extension()).size(), 1u);
  taker.begin(statement::write, take_over(seen));
  EXPECT_TRUE(taker.waits());
  owner.run("COMMIT");
  EXPECT_TRUE(taker.end().empty());
}

TEST_F(interleaving, an_extension_of_a_hold_that_is_not_plain_that_waits_for_a_take_over_extends_nothing) {
  share();
  const auto seen = version();
  taker.run("BEGIN");
  EXPECT_EQ(taker.run(statement::write, take_over(seen)).size(), 1u);
  owner.begin(statement::extend_seat, extension());
  EXPECT_TRUE(owner.waits());
  taker.run("COMMIT");
  EXPECT_TRUE(owner.end().empty());
}

// Of two that share a name neither undoes what the other has written.
TEST_F(interleaving, extensions_of_two_holds_of_one_name_wait_for_each_other_and_both_stand) {
  share();
  owner.run("BEGIN");
  EXPECT_EQ(owner.run(statement::extend_seat, extension(0)).size(), 1u);
  taker.begin(statement::extend_seat, extension(1));
  EXPECT_TRUE(taker.waits());
  owner.run("COMMIT");
  EXPECT_EQ(taker.end().size(), 1u);
  const auto lies = owner.run("SELECT encode(state, 'hex') FROM tyer_lock WHERE name = $1::bytea", {name}).at(0).at(0);
  EXPECT_EQ(lies.size(), 2 * shared().size());
  EXPECT_EQ(lies.substr(2 * (5 + 34), 16), "0102030405060708");
  EXPECT_EQ(lies.substr(2 * (5 + 42 + 4 + 34), 16), "0102030405060708");
}

TEST_F(interleaving, a_hold_whose_own_time_is_over_is_not_extended_where_it_lies) {
  share();
  auto over = extension();
  over.at(2) = owner.now();
  EXPECT_TRUE(owner.run(statement::extend_seat, over).empty());
  over.at(2) = owner.now() + second;
  over.at(5) = std::int64_t{2};
  EXPECT_TRUE(owner.run(statement::extend_seat, over).empty()) << "a later version of Tyer has written it";
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
  EXPECT_EQ(said[2][7], "f") << "and that nobody has it";
}

// Who does not matter: whoever lets go finds the place.
TEST_F(interleaving, a_join_that_waited_for_a_hand_over_tells_that_somebody_has_it) {
  hold(60 * second);
  owner.run("BEGIN");
  EXPECT_EQ(owner.run(statement::write, take_over(version())).size(), 1u);
  taker.begin(statement::join, {name, "third___________", 60 * second, std::string{"body"}, places});
  EXPECT_TRUE(taker.waits());
  owner.run("COMMIT");
  const auto said = taker.end();
  ASSERT_EQ(said.size(), 3u);
  EXPECT_NE(said[0][2], said[2][4]);
  EXPECT_EQ(said[2][7], "t");
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
  const auto before = std::stoll(owner.run(statement::renew_session, {session, 60 * second}).at(0).at(0));
  taker.run("BEGIN");
  EXPECT_EQ(taker.run(statement::write, evict).size(), 1u);
  owner.begin(statement::renew_session, {session, 60 * second});
  EXPECT_TRUE(owner.waits());
  taker.run("COMMIT");
  EXPECT_EQ(std::stoll(owner.end().at(0).at(0)), before + 1);
}

}  // namespace
}  // namespace tyer::postgres
