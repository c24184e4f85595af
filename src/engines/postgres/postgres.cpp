// The engine behind postgres://: the parts put together.
#include "engines/postgres/config.hpp"
#include "engines/postgres/dialect.hpp"
#include "engines/postgres/sessions.hpp"
#include "engines/sql/assemble.hpp"

TYER_EXPORT tyer::engine::made tyer_engine_postgres(tyer::core::uri& address, const tyer::engine::environment& e) {
  namespace pg = tyer::postgres;
  auto made = tyer::sql::assemble<pg::poll_box, pg::wire>("postgres://", pg::own_tongue, pg::own_sessions,
                                                          pg::read(address), e);
  made.place = address.place() + ' ' + address.user;  // two users may have a schema each, and so tables of their own
  return made;
}
