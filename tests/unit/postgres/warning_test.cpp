// Which warnings leave it open what came of a statement.
#include "engines/postgres/warning.hpp"

#include <gtest/gtest.h>

namespace tyer::postgres {
namespace {

TEST(postgres_warning, that_transaction_numbers_run_out_was_taken_for_a_standby_that_was_not_waited_for) {
  EXPECT_EQ(warned_of("01000", "GetNewTransactionId"), warns::of_numbers);
  EXPECT_EQ(warned_of("01000", "GetNewMultiXactId"), warns::of_numbers);
}

TEST(postgres_warning, what_is_not_known_to_mean_less_leaves_it_open_what_came_of_the_statement) {
  EXPECT_EQ(warned_of("01000", "SyncRepWaitForLSN"), warns::of_doubt);
  EXPECT_EQ(warned_of("01000", "exec_stmt_raise"), warns::of_doubt);
  EXPECT_EQ(warned_of("01000", ""), warns::of_doubt) << "something in between has left it out";
}

TEST(postgres_warning, of_another_kind_is_of_nothing_that_concerns_us) {
  EXPECT_EQ(warned_of("01007", "ExecGrantStmt_oids"), warns::of_nothing);
  EXPECT_EQ(warned_of("", ""), warns::of_nothing);
}

}  // namespace
}  // namespace tyer::postgres
