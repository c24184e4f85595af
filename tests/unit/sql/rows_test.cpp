// What statements answer, read: also where one statement tells what it has done and what there was before.
#include "engines/sql/rows.hpp"

#include <gtest/gtest.h>

namespace tyer::sql {

namespace {

cell number(std::int64_t n) { return {false, n, {}}; }
cell bytes(std::string b) { return {false, 0, std::move(b)}; }
std::string who(char c) { return std::string(16, c); }

row of_name(std::int64_t version, std::int64_t joins) {
  return {number(0), bytes("n"), number(version), number(joins), number(9), number(50),
          number(0), number(1),  bytes(who('h')), bytes("o"),    {}};
}
row of_place(std::int64_t kind, char id, std::int64_t order, std::int64_t ahead_or_version) {
  row r{number(kind), {},        number(order),  number(0), number(0),    number(60),
        number(0),    number(0), bytes(who(id)), {},        bytes("body")};
  r[kind == 5 ? 4 : 3].number = ahead_or_version;
  return r;
}
row of_all(std::int64_t places) {
  return {number(3), {}, number(places), number(0), number(40), number(0), number(0), number(0), {}, {}, {}};
}
row of_done(std::int64_t n) {
  return {number(4), {}, number(0), number(0), number(n), number(0), number(0), number(0), {}, {}, {}};
}

answers said(std::vector<row> rows) {
  answers a(1);
  a[0].rows = std::move(rows);
  return a;
}

}  // namespace

TEST(sql_rows, what_was_done_has_a_number_and_tells_nothing_of_the_name) {
  const auto a = said({of_done(77)});
  EXPECT_EQ(done(a[0].rows[0]), 77);
  EXPECT_FALSE(beside(a));
}

TEST(sql_rows, what_was_not_done_tells_what_there_is) {
  const auto a = said({of_name(7, 3), of_place(1, 'a', 1, 0), of_all(1)});
  EXPECT_FALSE(done(a[0].rows[0]));
  const auto r = beside(a);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->version, 7);
  EXPECT_EQ(r->places.size(), 1u);
}

TEST(sql_rows, an_answer_without_rows_tells_nothing) { EXPECT_FALSE(beside(said({}))); }

TEST(sql_rows, a_new_place_is_the_last_and_its_join_is_counted) {
  const auto r = reading(said({of_name(7, 3), of_place(1, 'a', 1, 0), of_all(1), of_place(5, 'b', 2, 7)}));
  EXPECT_FALSE(r.stale);
  EXPECT_EQ(r.joins, 4);
  ASSERT_EQ(r.places.size(), 2u);
  EXPECT_EQ(r.places[1].who, id::from(who('b')));
  EXPECT_FALSE(r.has_own);
  EXPECT_EQ(r.total, 2u);
}

TEST(sql_rows, a_new_place_behind_those_that_were_read_knows_how_many_are_ahead) {
  const auto r = reading(said({of_name(7, 3), of_place(1, 'a', 1, 0), of_all(5), of_place(5, 'b', 9, 7)}));
  EXPECT_TRUE(r.has_own);
  EXPECT_EQ(r.ahead, 5u);
  EXPECT_EQ(r.total, 6u);
}

TEST(sql_rows, a_place_that_was_there_before_is_not_counted_twice) {
  const auto r =
      reading(said({of_name(7, 3), of_place(1, 'b', 1, 0), of_place(2, 'b', 1, 0), of_all(1), of_place(5, 'b', 1, 7)}));
  EXPECT_EQ(r.places.size(), 1u);
  EXPECT_EQ(r.total, 1u);
  EXPECT_EQ(r.joins, 4);
}

TEST(sql_rows, a_name_that_was_written_since_is_to_be_read_again) {
  EXPECT_TRUE(reading(said({of_name(7, 3), of_all(0), of_place(5, 'b', 2, 8)})).stale);
  EXPECT_TRUE(reading(said({of_all(0), of_place(5, 'b', 2, 1)})).stale);
}

// Where many come and go each join found that somebody else had the name by then: a statement more for each.
TEST(sql_rows, a_name_that_another_holds_since_was_read_again) {
  const auto made = [](bool is_held) {
    auto r = of_place(5, 'b', 2, 8);
    r[7].number = is_held ? 1 : 0;
    return r;
  };
  const auto r = reading(said({of_name(7, 3), of_place(1, 'a', 1, 0), of_all(1), made(true)}));
  EXPECT_FALSE(r.stale);
  EXPECT_EQ(r.version, 7) << "so whoever writes because of it begins again";
  EXPECT_EQ(r.total, 2u);
  EXPECT_TRUE(reading(said({of_name(7, 3), of_all(0), made(false)})).stale) << "nobody would wake it";
  EXPECT_TRUE(reading(said({of_all(0), made(true)})).stale) << "it was free";
}

TEST(sql_rows, a_name_that_the_join_has_made_is_there_and_free) {
  const auto r = reading(said({of_all(0), of_place(5, 'b', 2, 0)}));
  EXPECT_FALSE(r.stale);
  EXPECT_TRUE(r.exists);
  EXPECT_EQ(r.joins, 1);
  EXPECT_FALSE(r.hold);
}

}  // namespace tyer::sql
