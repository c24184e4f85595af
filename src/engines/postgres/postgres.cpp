// The engine behind postgres://: the parts put together.
#include "engine/table.hpp"
#include "engines/postgres/config.hpp"
#include "engines/postgres/dialect.hpp"
#include "engines/postgres/wire.hpp"
#include "engines/sql/database.hpp"

#include <system_error>

TYER_EXPORT tyer::engine::made tyer_engine_postgres(tyer::core::uri& address, const tyer::engine::environment& e) {
  namespace pg = tyer::postgres;
  auto read = pg::read(address);
  if (read.error) return {nullptr, std::move(read.error)};
  try {
    auto box = std::make_shared<pg::poll_box>();
    const pg::dialect::setting s{e.ids->nonce(), e.request_timeout, read.value.make_tables};
    return {std::make_unique<tyer::sql::database>(
                e, tyer::sql::database::parts{.scheme = "postgres://",
                                              .says = std::make_unique<pg::dialect>(s),
                                              .by = std::make_unique<pg::wire>(std::move(read.value.hosts),
                                                                               std::move(read.value.connect), box),
                                              .box = box,
                                              .waiters_max = read.value.waiters_max}),
            {}};
  } catch (const std::system_error& no_descriptor) {
    return {nullptr, {no_descriptor.code(), "there is no file descriptor for the engine's own wake-ups"}};
  }
}
