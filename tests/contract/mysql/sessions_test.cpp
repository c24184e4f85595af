// A hold lives by its client's session: whoever else changes the hold has to tell that session.
#include "contract/engine/harness.hpp"
#include "contract/mysql/raw.hpp"
#include "engines/mysql/statements.hpp"

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

// What clients have left that died long ago, in names that nobody has asked for since: whoever sweeps looks at them.
TEST(mysql_sessions, a_name_whose_holder_had_died_and_that_nobody_asked_for_again_was_never_looked_at) {
  const contract::client makes_tables{"stale:"};
  raw outside;
  const std::string ago = "1", hold = raw::bytes(std::string(16, 'h'));
  const auto left = [&](const std::string& name, const std::string& session) {
    outside.run("REPLACE INTO tyer_lock (name, hold, claimed, session, token, expires) VALUES (" + raw::bytes(name) +
                ", " + hold + ", 1, " + session + ", 1, " + ago + ")");
  };
  const auto is_looked_at = [&](const std::string& name) {
    std::string text = statement::stale_names;
    text.replace(text.find("$1"), 2, "86400000000");
    text.replace(text.find("$2"), 2, raw::bytes("stale:"));
    return outside.number("SELECT COUNT(*) FROM (" + text + ") s WHERE name = " + raw::bytes(name)) == 1;
  };
  outside.run("REPLACE INTO tyer_session (id, expires, ended) VALUES (2, " + ago +
              ", 1), (4, " TYER_NOW " + 3600000000, 0)");
  left("stale:never kept", "NULL");
  left("stale:ended", "2");
  left("stale:without a session", "6");
  left("stale:lives", "4");
  for (const char* name : {"stale:never kept", "stale:ended", "stale:without a session"})
    EXPECT_TRUE(is_looked_at(name)) << name;
  EXPECT_FALSE(is_looked_at("stale:lives")) << "its client has held it for days";
  outside.run("DELETE FROM tyer_lock WHERE hold = " + hold);
  outside.run("DELETE FROM tyer_session WHERE id IN (2, 4)");
}

TEST(mysql_sessions, each_client_looked_through_the_whole_table_and_kept_its_renewals_waiting) {
  const contract::client makes_tables{"swept:"};
  raw outside;
  outside.run(
      "INSERT INTO tyer_lock (name, expires) SELECT CONCAT('swept:', LPAD(a.n * 40 + b.n, 4, '0')), 1 FROM"
      " (WITH RECURSIVE c AS (SELECT 0 n UNION ALL SELECT n + 1 FROM c WHERE n < 39) SELECT n FROM c) a,"
      " (WITH RECURSIVE c AS (SELECT 0 n UNION ALL SELECT n + 1 FROM c WHERE n < 39) SELECT n FROM c) b");
  outside.run("UPDATE tyer_lock SET hold = 'somebody' WHERE name = 'swept:0000'");
  const auto in_words = [](std::string text) {
    for (auto at = text.find("$1"); at != text.npos; at = text.find("$1")) text.replace(at, 2, "86400000000");
    for (auto at = text.find("$2"); at != text.npos; at = text.find("$2")) text.replace(at, 2, "'swept:'");
    return text;
  };
  const auto left = [&] {
    return outside.number("SELECT COUNT(*) FROM tyer_lock WHERE name >= 'swept:' AND name < 'swept;'");
  };
  outside.run(in_words(statement::sweep_names));
  EXPECT_EQ(left(), 601) << "a thousand at a time";
  outside.run("UPDATE tyer_lock SET crowd = 1, state = " TYER_MARK " WHERE name > 'swept:1500' AND name < 'swept;'");
  for (int i = 0; i < 2; ++i) {
    outside.run(in_words(statement::sweep_names));
    outside.run(in_words(statement::sweep_marked));
  }
  EXPECT_EQ(left(), 1);

  outside.run("DELETE FROM tyer_session WHERE id = 0");
  std::string turn = statement::sweep_turn;
  turn.replace(turn.find("$1"), 2, "60000000");
  const auto has_it = [&] {
    outside.run(turn);
    return outside.number("SELECT ROW_COUNT()") > 0;
  };
  EXPECT_TRUE(has_it());
  EXPECT_FALSE(has_it());
  outside.run("UPDATE tyer_session SET expires = 1 WHERE id = 0");
  EXPECT_TRUE(has_it());
  outside.run("DELETE FROM tyer_lock WHERE name >= 'swept:' AND name < 'swept;'");
}

// By default they are off. A sweep that was refused was told to nobody, and the tables grew.
TEST(mysql_sessions, where_updates_are_safe_nothing_was_ever_swept) {
  const contract::client makes_tables{"safe:"};
  raw admin;
  admin.run("SET GLOBAL sql_safe_updates = 1");
  raw outside;
  admin.run("SET GLOBAL sql_safe_updates = 0");
  outside.run(statement::mode);
  std::string text = statement::sweep_names;
  for (auto at = text.find("$1"); at != text.npos; at = text.find("$1")) text.replace(at, 2, "86400000000");
  text.replace(text.find("$2"), 2, "'safe:'");
  EXPECT_NO_THROW(outside.run(text));
}

// A hold's own time is not renewed once it lives by a session: whoever waited for one that was held for long read the name with
// every renewal of its place.
TEST(mysql_sessions, who_waited_for_a_hold_that_was_kept_looked_at_it_again_and_again) {
  contract::client holder{"looked at:"}, other{"looked at:"};
  raw outside;
  const auto kept = holder.wants("kept"), next = other.waits("kept");
  holder.lock(kept);
  ASSERT_EQ(holder.keep(kept, fate::holding, 60s), fate::holding);  // by the first it has a session
  ASSERT_EQ(holder.keep(kept, fate::holding, 60s), fate::holding);
  other.enqueue(next);
  outside.run("UPDATE tyer_lock SET expires = 1 WHERE hold = " + raw::bytes(kept.who.view()));
  const auto looks = [&] {
    std::string text = statement::extended_queue;
    const std::pair<std::string, std::string> values[]{
        {"$2", "'[\"" + core::to_hex(next.who) + "\"]'"}, {"$1", "0"}, {"w.id, w.name,", "1 AS own,"}};
    for (const auto& [from, to] : values) text.replace(text.find(from), from.size(), to);
    outside.run("SET @tyer_now = " TYER_NOW);
    text.replace(text.find(" FROM JSON_TABLE"), 1, " AS looks ");
    return outside.number("SELECT looks FROM (" + text + ") q") == 1;
  };
  EXPECT_FALSE(looks());
  outside.run("UPDATE tyer_session SET expires = 1");
  EXPECT_TRUE(looks()) << "its client is dead";
}

}  // namespace
}  // namespace tyer::mysql
