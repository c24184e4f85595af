// What an answer of MySQL means, and which statements leave together.
#include "engines/mysql/dialect.hpp"

#include "engines/mysql/statements.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tyer::mysql {
namespace {

using namespace std::chrono_literals;

using namespace tyer::sql;

const dialect says{{.nonce = 7, .request_timeout = 1s}, own_tongue};

answered error(std::string code) {
  answered a;
  a.failed = true;
  a.code = std::move(code);
  return a;
}

answered changed(std::uint64_t rows, std::uint64_t number, const char* by = nullptr) {
  answered a;
  a.by = by;
  a.affected = rows;
  a.insert_id = number;
  return a;
}

std::vector<std::string_view> texts(const exchange& e) {
  std::vector<std::string_view> all;
  for (const auto& s : e) all.push_back(s.text);
  return all;
}

id who(char c) { return id::from(std::string(16, c)); }

TEST(mysql_dialect, an_error_is_never_taken_for_a_verdict) {
  EXPECT_EQ(says.what(error("1213")), meaning::again);
  EXPECT_EQ(says.what(error("1205")), meaning::again);
  EXPECT_EQ(says.what(error("1290")), meaning::other_server);
  EXPECT_EQ(says.what(error("4031")), meaning::other_server) << "was idle for too long";
  EXPECT_EQ(says.what(error("1020")), meaning::again);
  EXPECT_EQ(says.what(error("1615")), meaning::again);
  EXPECT_EQ(says.what(error("1053")), meaning::lost);
  EXPECT_EQ(says.what(error("1142")), meaning::refused);
}

TEST(mysql_dialect, a_row_that_was_changed_tells_its_number_and_one_that_was_not_is_busy) {
  EXPECT_EQ(says.taken({changed(1, 42)}), 42u);
  EXPECT_EQ(says.taken({changed(0, 42)}), std::nullopt);
  EXPECT_EQ(says.renewed({changed(1, 0)}), 0);
  EXPECT_FALSE(says.given_back({changed(0, 0)}));
}

// Statements of a pipeline are carried out whether or not those before them failed.
TEST(mysql_dialect, a_write_was_carried_out_although_the_statement_that_raises_generations_had_failed) {
  const change c{.name = "n", .guard = 3, .gone = {who('a')}, .bumped = {5}};
  const auto e = says.write(c);
  EXPECT_EQ(texts(e), (std::vector<std::string_view>{statement::write, statement::clear}));
  EXPECT_EQ(std::get<number_list>(e.front().values.at(12)), number_list{5}) << "raised by the write itself";
  EXPECT_TRUE(e.back().minor);
  EXPECT_TRUE(e.front().decides) << "it is not said once more, whatever comes of the others";
}

// A deadlock of that one cost the place its time, and the write was told as done.
TEST(mysql_dialect, a_place_was_given_time_by_a_statement_beside_the_write_that_could_fail_by_itself) {
  const auto e = says.write({.name = "n", .guard = 3, .extended = place{who('p'), 1, at_micros(99), "body"}});
  ASSERT_EQ(texts(e), std::vector<std::string_view>{statement::write});
  EXPECT_EQ(std::get<std::string>(e.front().values.at(13)), who('p').view());
  EXPECT_EQ(std::get<std::int64_t>(e.front().values.at(14)), 99);
  EXPECT_EQ(std::get<std::string>(e.front().values.at(15)), "body");
}

// A statement is known by the address of its text, which is another in this file.
TEST(mysql_dialect, the_joins_are_the_writes_and_not_those_of_its_neighbours) {
  const auto e = says.write({.name = "n", .exists = false, .gone = {who('a')}});
  ASSERT_EQ(texts(e), (std::vector<std::string_view>{statement::create, statement::write, statement::clear}));
  const auto by = [&](std::size_t i) { return e.at(i).text; };
  EXPECT_EQ(says.written({changed(1, 1, by(0)), changed(2, 9, by(1)), changed(1, 0, by(2))}), 9u);
  EXPECT_EQ(says.written({changed(1, 1, by(0)), changed(0, 9, by(1)), changed(0, 0, by(2))}), std::nullopt);
}

TEST(mysql_dialect, holds_are_extended_in_the_order_of_their_names) {
  const std::vector<named> all{{who('x'), "b"}, {who('y'), "a"}};
  const auto e = says.extend(1, {1}, 1s, all);
  const auto& list = std::get<bytes_list>(e.at(1).values.at(2));
  EXPECT_EQ(list, (bytes_list{std::string(16, 'y') + "a", std::string(16, 'x') + "b"}));
}

TEST(mysql_dialect, a_bell_comes_back_as_it_was_rung) {
  const std::vector<bell> rung{{who('a'), kit::notice::kind::asked, "please"}};
  const auto payload = std::get<bytes_list>(says.ring(rung).at(0).values.at(0)).at(0);
  answered found;
  found.rows.push_back({cell{false, 0, payload}, cell{false, 17, {}}});
  const auto heard = dialect::bells({found});
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].who, who('a'));
  EXPECT_EQ(heard[0].what, kit::notice::kind::asked);
  EXPECT_EQ(heard[0].reason, "please");
  EXPECT_EQ(std::get<number_list>(says.forget_bells({17, 18}).at(0).values.at(1)), (number_list{17, 18}));
}

TEST(mysql_dialect, each_greeting_made_the_tables_that_were_there) {
  const dialect makes{{.nonce = 7, .request_timeout = 1s, .make_tables = true}, own_tongue};
  const auto usual = makes.greeting(true).size();
  server s;
  EXPECT_TRUE(makes.greeted({error("1146")}, s));
  EXPECT_GT(makes.greeting(true).size(), usual);
  EXPECT_TRUE(makes.greeted({error("1213")}, s));
  EXPECT_EQ(makes.greeting(true).size(), usual) << "the tables were not what was missing";
}

// Whoever made them was interrupted before it said of which version they are.
TEST(mysql_dialect, tables_that_were_left_half_made_were_told_as_those_of_another_version) {
  const dialect makes{{.nonce = 7, .request_timeout = 1s, .make_tables = true}, own_tongue};
  answered facts;
  facts.rows.push_back(
      {cell{false, 0, "11"}, cell{false, 1, {}}, cell{false, 0, {}}, cell{false, 0, "h:1"}, cell{false, 5, {}}});
  const auto usual = makes.greeting(true).size();
  server s;
  const auto wrong = makes.greeted({facts, answered{}}, s);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->kind, kit::why::not_sent) << "it is tried again";
  EXPECT_GT(makes.greeting(true).size(), usual);
}

answered told(std::initializer_list<std::pair<const char*, const char*>> variables) {
  answered a;
  for (const auto& [name, value] : variables) a.rows.push_back({cell{false, 0, name}, cell{false, 0, value}});
  return a;
}

std::vector<int> severities(const answered& a) {
  std::vector<int> all;
  for (const auto& f : says.findings({a}, true)) all.push_back(f.severity);
  return all;
}

TEST(mysql_dialect, the_doctor_finds_what_loses_grants_and_nothing_at_a_server_that_is_well) {
  EXPECT_TRUE(severities(told({})).empty());
  EXPECT_TRUE(
      severities(told({{"innodb_flush_log_at_trx_commit", "1"}, {"log_bin", "OFF"}, {"wsrep_on", "OFF"}})).empty());
  EXPECT_EQ(severities(told({{"innodb_flush_log_at_trx_commit", "2"}})), std::vector{2});
  EXPECT_EQ(severities(told({{"wsrep_on", "ON"}})), std::vector{1});
  EXPECT_EQ(severities(told({{"group_replication_group_name", ""}})), std::vector<int>{});
  EXPECT_EQ(severities(told({{"group_replication_group_name", "x"}})), std::vector{1});
  EXPECT_EQ(severities(told({{"log_bin", "ON"}, {"sync_binlog", "1"}, {"rpl_semi_sync_source_enabled", "ON"}})),
            std::vector<int>{});
  EXPECT_EQ(severities(told({{"log_bin", "ON"}, {"sync_binlog", "0"}, {"binlog_format", "STATEMENT"}})),
            (std::vector{3, 1, 0}));
}

TEST(mysql_dialect, the_doctor_did_not_see_that_semi_synchronous_replication_had_fallen_back) {
  const auto waits = told({{"log_bin", "ON"}, {"sync_binlog", "1"}, {"rpl_semi_sync_master_enabled", "ON"}});
  EXPECT_TRUE(says.findings({waits, told({{"Rpl_semi_sync_master_status", "ON"}})}, true).empty());
  const auto found = says.findings({waits, told({{"Rpl_semi_sync_master_status", "OFF"}})}, true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].what.find("fallen back"), std::string::npos);
}

TEST(mysql_dialect, the_doctor_did_not_see_which_rights_are_missing) {
  answered grants;
  grants.rows.push_back({cell{false, 0, "DELETE on tyer_bell"}});
  const auto found = says.findings({told({}), told({}), grants}, true);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].what, "rights are missing: DELETE on tyer_bell");
  grants.rows = {{cell{}}};
  EXPECT_TRUE(says.findings({told({}), told({}), grants}, true).empty());
}

}  // namespace
}  // namespace tyer::mysql
