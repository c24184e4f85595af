// How a hold that is not plain is kept.
#include "contract/engine/harness.hpp"
#include "contract/postgres/raw.hpp"

namespace tyer::postgres {
namespace {

using namespace std::chrono_literals;
using contract::fate;

// The decider would write the whole row, and when something of it is over.
TEST(postgres_keeping, a_shared_hold_is_kept_where_it_lies_and_nothing_else_of_the_row_is_written) {
  contract::client holder{"where it lies:"};
  raw outside;
  const auto first = holder.wants("shared", contract::mode::shared),
             second = holder.wants("shared", contract::mode::shared);
  holder.lock(first);
  holder.lock(second);
  const auto row = [&](const char* of) {
    return std::stoll(outside.run(of, {std::string{"where it lies:shared"}}).at(0).at(0));
  };
  constexpr auto expires = "SELECT expires FROM tyer_lock WHERE name = $1::bytea";
  constexpr auto version = "SELECT version FROM tyer_lock WHERE name = $1::bytea";
  const auto until = row(expires), written = row(version);
  EXPECT_EQ(holder.keep_all({first, second}, fate::holding, 90s), (std::vector{fate::holding, fate::holding}));
  EXPECT_EQ(row(expires), until);
  EXPECT_EQ(row(version), written + 2);
  EXPECT_EQ(holder.keep_all({first, second}, fate::holding, 90s), (std::vector{fate::holding, fate::holding}));
  EXPECT_EQ(row(version), written + 4) << "and live by a session from now on";
  EXPECT_EQ(holder.keep_all({first, second}, fate::holding, 90s), (std::vector{fate::holding, fate::holding}));
  EXPECT_EQ(row(version), written + 4);
  EXPECT_EQ(holder.release(first), fate::holding);
  EXPECT_EQ(holder.keep(second, fate::holding, 90s), fate::holding);
  EXPECT_EQ(holder.release(second), fate::holding);
}

}  // namespace
}  // namespace tyer::postgres
