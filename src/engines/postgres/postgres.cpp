// The engine behind postgres://: the parts put together.
#include "engines/postgres/config.hpp"
#include "engines/postgres/dialect.hpp"
#include "engines/postgres/sessions.hpp"
#include "engines/sql/assemble.hpp"

#include <utility>

TYER_EXPORT tyer::engine::made tyer_engine_postgres(tyer::core::uri& address, const tyer::engine::environment& e) {
  namespace pg = tyer::postgres;
  auto read = pg::read(address);
  const bool by_session = read.value.by_session;
  auto made =
      tyer::sql::assemble<pg::poll_box, pg::wire>("postgres://", pg::own_tongue, pg::own_sessions, std::move(read), e);
  // Two users may have a schema each, and so tables of their own; pg_advisory_lock locks for all of a database.
  made.place = address.place() + (by_session ? "" : ' ' + address.user);
  return made;
}
