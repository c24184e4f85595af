// The engine behind mysql:// and mariadb://: the parts put together.
#include "engine/table.hpp"
#include "engines/mysql/config.hpp"
#include "engines/mysql/dialect.hpp"
#include "engines/mysql/wire.hpp"
#include "engines/sql/database.hpp"

#include <boost/system/system_error.hpp>

TYER_EXPORT tyer::engine::made tyer_engine_mysql(tyer::core::uri& address, const tyer::engine::environment& e) {
  namespace my = tyer::mysql;
  auto read = my::read(address);
  if (read.error) return {nullptr, std::move(read.error)};
  try {
    auto box = std::make_shared<my::asio_box>();
    read.value.connect.texts = my::said_behind_an_answer();
    const my::dialect::setting s{e.ids->nonce(), e.request_timeout, read.value.make_tables};
    return {std::make_unique<tyer::sql::database>(
                e, tyer::sql::database::parts{.scheme = "mysql://",
                                              .says = std::make_unique<my::dialect>(s),
                                              .by = std::make_unique<my::wire>(std::move(read.value.connect), box),
                                              .box = box,
                                              .waiters_max = read.value.waiters_max}),
            {}};
  } catch (const boost::system::system_error& no_descriptor) {
    return {nullptr,
            {std::error_code{no_descriptor.code()}, "there is no file descriptor for the engine's own wake-ups"}};
  }
}
