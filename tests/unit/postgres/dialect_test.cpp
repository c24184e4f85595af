// What the doctor makes of PostgreSQL's settings.
#include "engines/postgres/dialect.hpp"

#include <gtest/gtest.h>

namespace tyer::postgres {
namespace {

using namespace tyer::sql;

cell text(std::string t) { return {false, 0, std::move(t)}; }
cell number(std::int64_t n) { return {false, n, {}}; }

// Of a server that is well, but that it has used so many numbers of transactions.
std::vector<seam::finding> found_after(std::int64_t transactions) {
  return own_tongue.findings({{.rows = {{text("on"), text("on"), text(""), number(0), text("on"), cell{},
                                         text("read committed"), number(0), number(0), number(transactions)}}}});
}

TEST(postgres_findings, nobody_was_told_of_transaction_numbers_before_they_ran_out) {
  EXPECT_TRUE(found_after(200'000'000).empty()) << "from there on PostgreSQL vacuums by itself";
  const auto all = found_after(2'100'000'000);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_NE(all[0].what.find("47 million numbers left"), std::string::npos) << all[0].what;
  EXPECT_NE(all[0].advice.find("VACUUM"), std::string::npos) << all[0].advice;
}

}  // namespace
}  // namespace tyer::postgres
