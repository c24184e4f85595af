#include "contract/postgres/raw.hpp"
#include "contract/sessions/database.hpp"
#include "engines/postgres/statements.hpp"

#include <memory>
#include <thread>

namespace tyer::contract::beside {

#define TYER_NAME "convert_to($1, 'UTF8')"

void end_session_of(const std::string& name) {
  postgres::raw{}.run(
      "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
      " AND ((classid::bigint << 32) | objid::bigint) = " TYER_KEY(TYER_NAME),
      {name});
}

void grant_was_before_the_start(const std::string& name, std::chrono::milliseconds t) {
  postgres::raw{}.run("UPDATE tyer_lock SET expires = " TYER_NOW " + 3600000000, session = " TYER_NOW
                      " - " TYER_SESSIONS_SINCE " + $2::bigint * 1000, state = " TYER_MARK
                      " || '1/2' WHERE name = " TYER_NAME,
                      {name, std::int64_t{t.count()}});
}

std::jthread lock_row(const std::string& name, std::chrono::milliseconds t) {
  auto blocker = std::make_shared<postgres::raw>();
  blocker->run("BEGIN");
  blocker->run("SELECT 1 FROM tyer_lock WHERE name = " TYER_NAME " FOR UPDATE", {name});
  return std::jthread{[blocker, t] {
    std::this_thread::sleep_for(t);
    blocker->run("ROLLBACK");
  }};
}

}  // namespace tyer::contract::beside
