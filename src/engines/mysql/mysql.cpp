// The engine behind mysql:// and mariadb://: the parts put together.
#include "engines/mysql/config.hpp"
#include "engines/mysql/dialect.hpp"
#include "engines/mysql/sessions.hpp"
#include "engines/sql/assemble.hpp"

TYER_EXPORT tyer::engine::made tyer_engine_mysql(tyer::core::uri& address, const tyer::engine::environment& e) {
  namespace my = tyer::mysql;
  return tyer::sql::assemble<my::asio_box, my::wire>("mysql://", my::own_tongue, my::own_sessions, my::read(address),
                                                     e);
}
