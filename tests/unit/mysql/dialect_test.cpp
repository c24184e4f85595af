// What an answer of MySQL means, and which statements leave together.
#include "engines/mysql/dialect.hpp"

#include "engines/mysql/statements.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tyer::mysql {
namespace {

using namespace std::chrono_literals;

const dialect says{{.nonce = 7, .request_timeout = 1s}};

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

std::vector<const char*> texts(const exchange& e) {
  std::vector<const char*> all;
  for (const auto& s : e) all.push_back(s.text);
  return all;
}

id who(char c) { return id::from(std::string(16, c)); }

TEST(mysql_dialect, an_error_is_never_taken_for_a_verdict) {
  EXPECT_EQ(says.what(error("1213")), meaning::again);
  EXPECT_EQ(says.what(error("1205")), meaning::again);
  EXPECT_EQ(says.what(error("1290")), meaning::other_server);
  EXPECT_EQ(says.what(error("1053")), meaning::lost);
  EXPECT_EQ(says.what(error("1142")), meaning::refused);
}

TEST(mysql_dialect, a_row_that_was_changed_tells_its_number_and_one_that_was_not_is_busy) {
  EXPECT_EQ(says.taken({changed(1, 42)}), 42u);
  EXPECT_EQ(says.taken({changed(0, 42)}), std::nullopt);
  EXPECT_EQ(says.renewed({changed(1, 0)}), 0);
  EXPECT_FALSE(says.given_back({changed(0, 0)}));
}

// The generation is raised before the write: an owner that renews in between looks at its hold, and the write finds another version.
TEST(mysql_dialect, a_write_raises_generations_first_and_clears_places_last) {
  const change c{.name = "n", .guard = 3, .gone = {who('a')}, .bumped = {5}};
  const auto e = says.write(c);
  EXPECT_EQ(texts(e), (std::vector<const char*>{statement::bump, statement::write, statement::clear}));
  EXPECT_TRUE(e.back().minor);
}

TEST(mysql_dialect, the_joins_are_the_writes_and_not_those_of_its_neighbours) {
  const answers all{changed(1, 1, statement::bump), changed(2, 9, statement::write), changed(1, 0, statement::clear)};
  EXPECT_EQ(says.written(all), 9u);
  const answers late{changed(1, 1, statement::bump), changed(0, 9, statement::write), changed(0, 0, statement::clear)};
  EXPECT_EQ(says.written(late), std::nullopt);
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
  EXPECT_EQ(std::get<std::int64_t>(says.forget_bells({found}).at(0).values.at(1)), 17);
  EXPECT_TRUE(says.forget_bells({answered{}}).empty());
}

}  // namespace
}  // namespace tyer::mysql
