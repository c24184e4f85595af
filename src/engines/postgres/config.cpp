#include "engines/postgres/config.hpp"

namespace tyer::postgres {

namespace {

constexpr std::uint16_t default_port = 5432;

}  // namespace

sql::read_config<options> read(core::uri& u) {
  sql::read_config<options> r;
  r.connect.hosts = u.hosts = sql::hosts_of(u, default_port);
  u.scheme = "postgres";                // also postgresql://
  if (u.path.empty()) u.path = u.user;  // as libpq has it
  auto& to = r.connect.words;
  // libpq would ask a Kerberos server first, and stop the client's thread meanwhile.
  to = {{"target_session_attrs", "read-write"}, {"client_encoding", "UTF8"}, {"gssencmode", "disable"}};
  if (!u.user.empty()) to.emplace_back("user", u.user);
  if (!u.password.empty()) to.emplace_back("password", u.password);
  if (!u.path.empty()) to.emplace_back("dbname", u.path);
  to.emplace_back("application_name", u.take("application_name").value_or("tyer"));
  const auto mode = u.take("sslmode");
  if (mode && !mode->starts_with("verify-")) r.warning = "?sslmode=" + *mode + ", anybody can pose as the server";
  to.emplace_back("sslmode", mode.value_or(sql::are_this_host(r.connect.hosts) ? "prefer" : "verify-full"));
  for (const char* key : {"sslrootcert", "sslcert", "sslkey"}) {
    if (auto v = u.take(key)) to.emplace_back(key, *v);
  }
  r.error = sql::take_settings(u, r.value);
  return r;
}

}  // namespace tyer::postgres
