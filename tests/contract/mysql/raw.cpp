#include "contract/mysql/raw.hpp"

#include "core/uri.hpp"

#include <cstdlib>
#include <stdexcept>

namespace tyer::mysql {

raw::raw() : connection_(mysql_init(nullptr), mysql_close) {
  const auto to = core::parse_uri(std::getenv("TYER_URI")).value;
  const auto& host = to.hosts.at(0);
  if (mysql_real_connect(connection_.get(), host.host.c_str(), to.user.c_str(), to.password.c_str(), to.path.c_str(),
                         host.port, nullptr, 0) == nullptr) {
    throw std::runtime_error(mysql_error(connection_.get()));
  }
}

void raw::run(const std::string& text) {
  if (mysql_query(connection_.get(), text.c_str()) != 0) throw std::runtime_error(mysql_error(connection_.get()));
  mysql_free_result(mysql_store_result(connection_.get()));
}

std::int64_t raw::number(const std::string& text) {
  if (mysql_query(connection_.get(), text.c_str()) != 0) throw std::runtime_error(mysql_error(connection_.get()));
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{mysql_store_result(connection_.get()),
                                                                      mysql_free_result};
  const auto row = mysql_fetch_row(rows.get());
  if (row == nullptr || row[0] == nullptr) throw std::runtime_error("nothing was found by: " + text);
  return std::stoll(row[0]);
}

std::string raw::bytes(std::string_view all) { return "X'" + core::to_hex(all) + "'"; }

}  // namespace tyer::mysql
