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

}  // namespace
}  // namespace tyer::mysql
