// The rungs on MySQL and MariaDB.
#include "rungs.hpp"

#include <mysql.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

namespace ladder {

namespace {

// "mysql://user:password@host:port/database"
class database {
 public:
  explicit database(const std::string& uri) : link_(mysql_init(nullptr), mysql_close) {
    const auto at = uri.rfind('@'), login = uri.find("://") + 3, colon = uri.find(':', login);
    const auto slash = uri.find('/', at);
    const stories::address a{"mysql://" + uri.substr(at + 1, slash - at - 1)};
    if (mysql_real_connect(link_.get(), a.host.c_str(), uri.substr(login, colon - login).c_str(),
                           uri.substr(colon + 1, at - colon - 1).c_str(), uri.substr(slash + 1).c_str(),
                           static_cast<unsigned>(a.port), nullptr, 0) == nullptr) {
      throw std::runtime_error(mysql_error(link_.get()));
    }
  }

  // False: the database says no. Gives the first field of the first row, if there is one.
  bool run(const std::string& statement, std::string* field = nullptr) {
    if (mysql_query(link_.get(), statement.c_str()) != 0) return false;
    const std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)> rows{mysql_store_result(link_.get()), mysql_free_result};
    if (const MYSQL_ROW row = rows ? mysql_fetch_row(rows.get()) : nullptr; row != nullptr && field) *field = row[0];
    return true;
  }

 private:
  std::unique_ptr<MYSQL, void (*)(MYSQL*)> link_;
};

}  // namespace

// [unique_index]
bool unique_index(workplace& w) {
  static database db{w.database};
  while (!db.run("INSERT INTO locks (name, owner) VALUES ('ticket', '" + w.me + "')")) std::this_thread::sleep_for(5ms);
  const bool sold = w.tickets.sell();  // killed here: the row stays
  std::string whose = w.me;
  db.run("DELETE FROM locks WHERE name = 'ticket' RETURNING owner", &whose);
  if (whose != w.me) w.tickets.count("deleted");
  return sold;
}
// [unique_index]

// [for_update]
bool for_update(workplace& w) try {
  database db{w.database};  // whoever waits has a connection, and a transaction in it
  db.run("BEGIN");
  if (!db.run("SELECT * FROM row_locks WHERE name = 'ticket' FOR UPDATE")) return true;  // waited for too long: again
  const bool sold = w.tickets.sell();
  db.run("COMMIT");
  return sold;
} catch (const std::runtime_error&) {  // "Too many connections"
  w.tickets.count("turned_away");
  std::this_thread::sleep_for(100ms);
  return true;
}
// [for_update]

}  // namespace ladder
