#include "engines/mysql/config.hpp"

#include <algorithm>
#include <string>

namespace tyer::mysql {

namespace {

bool is_this_host(const core::endpoint& e) {
  return e.host == "localhost" || e.host == "::1" || e.host.starts_with("127.");
}

tyer::failure take_encryption(core::uri& u, options& to) {
  const bool near = std::ranges::all_of(to.hosts, is_this_host);
  const auto tls = u.take("tls").value_or(near ? "prefer" : "on");
  if (tls != "on" && tls != "off" && tls != "prefer") return kit::wrong_uri("?tls= must be on, off or prefer");
  to.encrypted = tls == "on" ? options::tls::required : tls == "off" ? options::tls::off : options::tls::if_offered;
  if (auto wrong = kit::take_tls(u, to.files)) return wrong;
  if (tls == "prefer") to.files.verify = false;  // who takes plain text takes any certificate
  return {};
}

}  // namespace

read_config read(core::uri& u) {
  read_config r;
  auto& to = r.value.connect;
  to.hosts = u.hosts;
  if (to.hosts.empty()) to.hosts.push_back({"127.0.0.1", 0});
  to.user = u.user;
  to.password = u.password;
  to.database = u.path;
  if (to.database.empty()) r.error = kit::wrong_uri("the URI must name a database: mysql://host/database");
  if (!r.error) r.error = take_encryption(u, to);
  if (const auto schema = u.take("schema")) {
    if (*schema != "apply") r.error = kit::wrong_uri("?schema= must be apply, or left out");
    r.value.make_tables = true;
  }
  if (!r.error) r.error = kit::take_number(u, "waiters_max", 1, 1'000'000, r.value.waiters_max);
  return r;
}

}  // namespace tyer::mysql
