#include "engines/postgres/config.hpp"

#include "engines/kit/options.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace tyer::postgres {

namespace {

constexpr std::uint16_t default_port = 5432;

bool is_this_host(const core::endpoint& e) {
  return e.host == "localhost" || e.host == "::1" || e.host.starts_with("127.") || e.host.starts_with('/');
}

}  // namespace

read_config read(core::uri& u) {
  read_config r;
  auto& hosts = r.value.hosts;
  hosts = u.hosts;
  if (hosts.empty()) hosts.push_back({"127.0.0.1", 0});
  for (auto& h : hosts) h.port = h.port != 0 ? h.port : default_port;
  auto& to = r.value.connect;
  to = {{"target_session_attrs", "read-write"}, {"client_encoding", "UTF8"}};
  if (!u.user.empty()) to.emplace_back("user", u.user);
  if (!u.password.empty()) to.emplace_back("password", u.password);
  if (!u.path.empty()) to.emplace_back("dbname", u.path);
  to.emplace_back("application_name", u.take("application_name").value_or("tyer"));
  const bool near = std::ranges::all_of(hosts, is_this_host);
  to.emplace_back("sslmode", u.take("sslmode").value_or(near ? "prefer" : "verify-full"));
  for (const char* key : {"sslrootcert", "sslcert", "sslkey"}) {
    if (auto v = u.take(key)) to.emplace_back(key, *v);
  }
  if (const auto schema = u.take("schema")) {
    if (*schema != "apply") r.error = kit::wrong_uri("?schema= must be apply, or left out");
    r.value.make_tables = true;
  }
  if (!r.error) r.error = kit::take_number(u, "waiters_max", 1, 1'000'000, r.value.waiters_max);
  return r;
}

}  // namespace tyer::postgres
