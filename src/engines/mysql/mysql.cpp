// The engine behind mysql:// and mariadb://: the parts put together.
#include "engines/mysql/config.hpp"
#include "engines/mysql/dialect.hpp"
#include "engines/mysql/sessions.hpp"
#include "engines/sql/assemble.hpp"

#include <utility>

TYER_EXPORT tyer::engine::made tyer_engine_mysql(tyer::core::uri& address, const tyer::engine::environment& e) {
  namespace my = tyer::mysql;
  auto read = my::read(address);
  auto whole = address;
  if (read.value.by_session) whole.path.clear();  // GET_LOCK locks for all databases of a server
  auto made =
      tyer::sql::assemble<my::asio_box, my::wire>("mysql://", my::own_tongue, my::own_sessions, std::move(read), e);
  made.place = whole.place();
  return made;
}
