// By the statements that were prepared, which all of the engine's are that have a value.
#include "contract/mysql/raw.hpp"
#include "contract/requests/counter.hpp"

namespace tyer::contract {

namespace {

struct counted_by_mysql final : request_counter::source {
  std::uint64_t requests() override {
    return static_cast<std::uint64_t>(
        server.number("SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS"
                      " WHERE VARIABLE_NAME = 'COM_STMT_EXECUTE'"));
  }
  mysql::raw server;
};

}  // namespace

std::unique_ptr<request_counter::source> mysql_requests() { return std::make_unique<counted_by_mysql>(); }

}  // namespace tyer::contract
