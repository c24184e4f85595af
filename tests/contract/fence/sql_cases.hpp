// The fences of a SQL row, and what two transactions at the same time do with them. A session is one connection:
//   run(text)               without parameters
//   affected(text, token, id, order)
//                           how many rows it counted; where parameters have no numbers, `order` says which is which: t or i.
//                           Empty: there are none
//   number(text)            the first column of the first row
//   waiting                 a query: how many sessions wait for a row
//   parameters(mode)        for the pieces of a statement
#pragma once

#include "contract/fence/cases.hpp"

#include <tyer/fence.hpp>
#include <tyer/sql_fence.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

namespace fence_contract {

inline void make_table(auto& session) {
  session.run("DROP TABLE IF EXISTS guarded");
  session.run(
      "CREATE TABLE guarded (id INT PRIMARY KEY, balance INT NOT NULL, fence BIGINT NULL, fence_by "
      "VARCHAR(34) NULL, max_exclusive BIGINT NULL, max_any BIGINT NULL, exclusive_by VARCHAR(34) NULL)");
  session.run("INSERT INTO guarded (id, balance) VALUES (1, 0), (2, 0)");
}

// How what is shown gets into the statement: by the values in its text, or by parameters.
enum class shown_by { values, parameters };

template <class Fence>
std::string statement(const Fence& fence, const tyer::sql_pass& shown) {
  return "UPDATE guarded SET " + fence.set(shown) + " WHERE id = 1 AND " + fence.where(shown);
}

template <class Session, shown_by How>
bool passes(Session& session, const auto& fence, const tyer::fence_pass& shown, std::string_view order) {
  if (How == shown_by::values) return session.affected(statement(fence, shown), 0, "", "") == 1;
  const auto text = statement(fence, Session::parameters(shown.mode));
  return session.affected(text, shown.token, shown.id.text(), order) == 1;
}

// A store for both suites. Where ids do not matter, all show the same.
template <class Store>
class with_one_id : public Store {
 public:
  bool enter_by_token(std::uint64_t token, tyer::lock_mode mode) { return in_memory(*this, token, mode); }
  static bool in_memory(auto& fence, std::uint64_t token, tyer::lock_mode mode) {
    return fence.enter({token, tyer::hold_id::from(std::string(34, 'a')), mode});
  }
};

template <class Session, shown_by How>
class of_writers {
 public:
  static constexpr bool readers = false;

  of_writers() { make_table(session); }
  void fresh() { session.run("UPDATE guarded SET fence = NULL, fence_by = NULL"); }
  bool enter(const tyer::fence_pass& shown) { return passes<Session, How>(session, fence, shown, "titti"); }

 private:
  Session session;
  const tyer::sql_fence fence{"fence", "fence_by"};
};

template <class Session, shown_by How>
class of_all {
 public:
  static constexpr bool readers = true;

  of_all() { make_table(session); }
  void fresh() { session.run("UPDATE guarded SET max_exclusive = NULL, max_any = NULL, exclusive_by = NULL"); }
  bool enter(const tyer::fence_pass& shown) {
    return passes<Session, How>(session, fence, shown, shown.mode == tyer::lock_mode::shared ? "ttt" : "ttitti");
  }

 private:
  Session session;
  const tyer::sql_shared_fence fence{"max_exclusive", "max_any", "exclusive_by"};
};

template <class... Sessions>
using all_stores = ::testing::Types<
    with_one_id<of_writers<Sessions, shown_by::parameters>>..., with_one_id<of_all<Sessions, shown_by::parameters>>...,
    with_one_id<of_writers<Sessions, shown_by::values>>..., with_one_id<of_all<Sessions, shown_by::values>>...>;

// By one who is told apart from others by its token alone.
template <class Session>
std::uint64_t rows_that_let_in(Session& s, std::uint64_t token) {
  const tyer::sql_fence fence{"fence", "fence_by"};
  return s.affected(statement(fence, Session::parameters(tyer::lock_mode::exclusive)), token, std::string(34, 'a'),
                    "titti");
}

template <class Session>
class two_transactions : public ::testing::Test {
 protected:
  void SetUp() override { make_table(first); }

  bool enter(Session& s, std::uint64_t token) { return rows_that_let_in(s, token) == 1; }

  // The second shows its token while the first has not ended yet; then the first ends as told.
  bool second_passes(std::uint64_t its_token, const char* first_ends) {
    second.run("BEGIN");
    auto passed = std::async(std::launch::async, [&] { return enter(second, its_token); });
    until_one_waits();
    first.run(first_ends);
    return passed.get();
  }
  void until_one_waits() {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (observer.number(Session::waiting) != 1) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "nobody waits";
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

  Session first, second, observer;
};
TYPED_TEST_SUITE_P(two_transactions);

TYPED_TEST_P(two_transactions, the_later_holder_waits_for_the_earlier_and_passes) {
  this->first.run("BEGIN");
  EXPECT_TRUE(this->enter(this->first, 5));
  EXPECT_TRUE(this->second_passes(7, "COMMIT"));
  this->second.run("COMMIT");
  EXPECT_EQ(this->first.number("SELECT fence FROM guarded WHERE id = 1"), 7);
}

TYPED_TEST_P(two_transactions, the_earlier_holder_waits_for_the_later_and_is_refused) {
  this->first.run("BEGIN");
  EXPECT_TRUE(this->enter(this->first, 7));
  EXPECT_FALSE(this->second_passes(5, "COMMIT"));
  this->second.run("ROLLBACK");
  EXPECT_EQ(this->first.number("SELECT fence FROM guarded WHERE id = 1"), 7);
}

TYPED_TEST_P(two_transactions, what_was_rolled_back_was_never_shown) {
  this->first.run("BEGIN");
  EXPECT_TRUE(this->enter(this->first, 7));
  EXPECT_TRUE(this->second_passes(5, "ROLLBACK"));
  this->second.run("COMMIT");
  EXPECT_EQ(this->first.number("SELECT fence FROM guarded WHERE id = 1"), 5);
}

TYPED_TEST_P(two_transactions, another_row_is_another_fence) {
  this->first.run("BEGIN");
  EXPECT_TRUE(this->enter(this->first, 7));
  EXPECT_EQ(this->second.number("SELECT COUNT(*) FROM guarded WHERE id = 2 AND fence IS NULL"), 1);
  this->first.run("COMMIT");
}

// Both add one to what they have read. Whoever shows the token first reads what is really there.
TYPED_TEST_P(two_transactions, a_token_shown_before_the_read_loses_no_update) {
  const auto add_one = [](auto& s) {
    const auto read = s.number("SELECT balance FROM guarded WHERE id = 1");
    s.run("UPDATE guarded SET balance = " + std::to_string(read + 1) + " WHERE id = 1");
  };
  this->first.run("BEGIN");
  EXPECT_TRUE(this->enter(this->first, 5));
  add_one(this->first);
  EXPECT_TRUE(this->second_passes(7, "COMMIT"));
  add_one(this->second);
  this->second.run("COMMIT");
  EXPECT_EQ(this->first.number("SELECT balance FROM guarded WHERE id = 1"), 2);
}

REGISTER_TYPED_TEST_SUITE_P(two_transactions, the_later_holder_waits_for_the_earlier_and_passes,
                            the_earlier_holder_waits_for_the_later_and_is_refused, what_was_rolled_back_was_never_shown,
                            another_row_is_another_fence, a_token_shown_before_the_read_loses_no_update);

}  // namespace fence_contract
