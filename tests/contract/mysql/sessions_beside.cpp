#include "contract/mysql/raw.hpp"
#include "contract/sessions/database.hpp"
#include "engines/mysql/statements.hpp"

#include <memory>
#include <thread>

namespace tyer::contract::beside {

using mysql::raw;

void end_session_of(const std::string& name) {
  raw outside;
  outside.run("KILL " + std::to_string(outside.number("SELECT IS_USED_LOCK(SHA2(" + raw::bytes(name) + ", 256))")));
}

void grant_was_before_the_start(const std::string& name, std::chrono::milliseconds t) {
  raw outside;
  const auto up = outside.number(
      "SELECT CAST(VARIABLE_VALUE AS SIGNED) FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME'");
  outside.run(
      "UPDATE tyer_lock SET expires = " TYER_NOW " + 3600000000, state = CONCAT(" TYER_MARK ", '1/2'), session = " +
      std::to_string(up * 1'000'000 + std::chrono::microseconds{t}.count()) + " WHERE name = " + raw::bytes(name));
}

std::jthread lock_row(const std::string& name, std::chrono::milliseconds t) {
  auto blocker = std::make_shared<raw>();
  blocker->run("START TRANSACTION");
  blocker->run("SELECT 1 FROM tyer_lock WHERE name = " + raw::bytes(name) + " FOR UPDATE");
  return std::jthread{[blocker, t] {
    std::this_thread::sleep_for(t);
    blocker->run("ROLLBACK");
  }};
}

}  // namespace tyer::contract::beside
