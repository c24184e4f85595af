// A connection that ends while nobody uses it.
#include "contract/engine/harness.hpp"
#include "contract/mysql/raw.hpp"

namespace tyer::mysql {
namespace {

using contract::event;

TEST(mysql_idle, a_connection_that_was_closed_was_noticed_only_by_who_used_it_next) {
  raw outside;
  contract::client one{"idle:"};
  const auto others =
      "FROM information_schema.processlist WHERE user = SUBSTRING_INDEX(USER(), '@', 1)"
      " AND id <> CONNECTION_ID()";
  const auto id = outside.number(std::string{"SELECT MAX(id) "} + others);
  outside.run("KILL " + std::to_string(id));
  one.pump_until([&] { return one.count(event::kind::down) > 0; }, "down()");
  one.pump_until([&] { return one.count(event::kind::up) > 1; }, "up() again");
  one.lock(one.wants("free"));
}

}  // namespace
}  // namespace tyer::mysql
