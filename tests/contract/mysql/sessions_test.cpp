// A hold lives by its client's session: whoever else changes the hold has to tell that session.
#include "contract/engine/harness.hpp"
#include "contract/mysql/raw.hpp"

namespace tyer::mysql {
namespace {

using namespace std::chrono_literals;
using contract::fate;

TEST(mysql_sessions, a_hold_was_taken_away_while_its_session_could_not_be_told_and_went_on_to_be_renewed) {
  contract::client holder{"sessions:"}, other{"sessions:", 2500ms};
  raw outside;
  outside.run("DELETE FROM tyer_session");
  const auto kept = holder.wants("kept");
  holder.lock(kept);
  ASSERT_EQ(holder.keep(kept, fate::holding, 60s), fate::holding);  // by the first it has a session
  ASSERT_EQ(holder.keep(kept, fate::holding, 60s), fate::holding);
  const auto attached =
      "SELECT COUNT(*) FROM tyer_lock WHERE session IS NOT NULL AND hold = " + raw::bytes(kept.who.view());
  ASSERT_EQ(outside.number(attached), 1);

  raw blocker;
  blocker.run("START TRANSACTION");
  blocker.run("UPDATE tyer_session SET generation = generation");
  bool answered = false;
  other.raw().evict(kept.target(), "test", [&](auto&&) { answered = true; });
  other.pump_until([&] { return answered; }, "an answer");  // long after a statement has given the row up
  EXPECT_EQ(outside.number(attached), 1) << "its session knows nothing of it";
  blocker.run("ROLLBACK");

  other.evict(kept);  // its last try may have come through
  EXPECT_EQ(holder.keep(kept, fate::holding, 60s), fate::gone);
}

// The decider would write the whole row, and when something of it is over.
TEST(mysql_sessions, a_shared_hold_is_kept_where_it_lies_and_nothing_else_of_the_row_is_written) {
  contract::client holder{"where it lies:"};
  raw outside;
  const auto first = holder.wants("shared", contract::mode::shared),
             second = holder.wants("shared", contract::mode::shared);
  holder.lock(first);
  holder.lock(second);
  const auto row = [&](const std::string& what) {
    return outside.number("SELECT " + what + " FROM tyer_lock WHERE name = " + raw::bytes("where it lies:shared"));
  };
  const auto until = row("expires"), written = row("version");
  EXPECT_EQ(holder.keep_all({first, second}, fate::holding, 90s), (std::vector{fate::holding, fate::holding}));
  EXPECT_EQ(row("expires"), until);
  EXPECT_EQ(row("version"), written + 2);
  EXPECT_EQ(holder.keep_all({first, second}, fate::holding, 90s), (std::vector{fate::holding, fate::holding}));
  EXPECT_EQ(row("version"), written + 4) << "and live by a session from now on";
  EXPECT_EQ(holder.keep_all({first, second}, fate::holding, 90s), (std::vector{fate::holding, fate::holding}));
  EXPECT_EQ(row("version"), written + 4);
  EXPECT_EQ(holder.release(first), fate::holding);
  EXPECT_EQ(holder.keep(second, fate::holding, 90s), fate::holding);
  EXPECT_EQ(holder.release(second), fate::holding);
}

}  // namespace
}  // namespace tyer::mysql
