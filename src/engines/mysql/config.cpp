#include "engines/mysql/config.hpp"

#include "engines/mysql/dialect.hpp"

namespace tyer::mysql {

namespace {

constexpr std::uint16_t default_port = 3306;

tyer::failure take_encryption(core::uri& u, options& to) {
  const auto tls = u.take("tls").value_or(sql::are_this_host(to.hosts) ? "prefer" : "on");
  if (tls != "on" && tls != "off" && tls != "prefer") return kit::wrong_uri("?tls= must be on, off or prefer");
  to.encrypted = tls == "on" ? options::tls::required : tls == "off" ? options::tls::off : options::tls::if_offered;
  if (auto wrong = kit::take_tls(u, to.files)) return wrong;
  if (tls == "prefer") to.files.verify = false;  // who takes plain text takes any certificate
  return {};
}

}  // namespace

sql::read_config<options> read(core::uri& u) {
  sql::read_config<options> r;
  auto& to = r.connect;
  to.hosts = u.hosts = sql::hosts_of(u, default_port);
  u.scheme = "mysql";  // also mariadb://
  to.user = u.user;
  to.password = u.password;
  to.database = u.path;
  to.texts = said_behind_an_answer();
  if (to.database.empty()) r.error = kit::wrong_uri("the URI must name a database: mysql://host/database");
  if (!r.error) r.error = take_encryption(u, to);
  if (to.encrypted == options::tls::required && !to.files.verify)
    r.warning = "?verify=none, anybody can pose as the server";
  if (!r.error) r.error = sql::take_settings(u, r.value);
  return r;
}

}  // namespace tyer::mysql
