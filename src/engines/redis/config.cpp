#include "engines/redis/config.hpp"

#include <string_view>
#include <utility>

namespace tyer::redis {

namespace {

constexpr std::uint16_t default_port = 6379, default_sentinel_port = 26379;
constexpr std::uint32_t replicas_max = 100;

using kit::take_number;

failure wrong(std::string words) { return kit::wrong_uri(std::move(words)); }

failure read_database(std::string_view text, config& c) {
  std::uint32_t database = 0;
  if (!text.empty() && !kit::read_number(text, 0, 65535, database))
    return wrong("the path after the host must be the number of the database");
  c.database = static_cast<int>(database);
  return {};
}

failure read_login(const core::uri& u, config& c) {
  c.user = u.user;
  c.password = u.password;
  if (!c.user.empty() && c.password.empty()) return wrong("a user without a password: write user:password@host");
  return {};
}

failure read_server(const core::uri& u, config& c) {
  if (u.hosts.size() > 1) return wrong(u.scheme + ":// takes one host");
  c.server = u.hosts.empty() ? core::endpoint{"127.0.0.1", 0} : u.hosts.front();
  if (c.server.port == 0) c.server.port = default_port;
  return read_database(u.path, c);
}

failure read_sentinels(core::uri& u, config& c) {
  if (u.hosts.empty()) return wrong(u.scheme + ":// needs the sentinels: " + u.scheme + "://host,host,host/master");
  c.seeds = u.hosts;
  for (auto& s : c.seeds) {
    if (s.port == 0) s.port = default_sentinel_port;
  }
  const auto cut = u.path.find('/');
  c.master = u.path.substr(0, cut);
  if (c.master.empty())
    return wrong("the path after the sentinels must be the name of the master: host,host,host/master");
  c.sentinel_user = u.take("sentinel_user").value_or("");
  c.sentinel_password = u.take("sentinel_password").value_or("");
  if (!c.sentinel_user.empty() && c.sentinel_password.empty())
    return wrong("?sentinel_user= needs ?sentinel_password= too");
  return read_database(cut == u.path.npos ? std::string_view{} : std::string_view{u.path}.substr(cut + 1), c);
}

failure read_cluster(const core::uri& u, config& c) {
  if (u.hosts.empty()) return wrong(u.scheme + ":// needs nodes of the cluster: " + u.scheme + "://host,host,host");
  if (!u.path.empty()) return wrong("a cluster has no numbered databases: remove the path after the hosts");
  c.seeds = u.hosts;
  for (auto& s : c.seeds) {
    if (s.port == 0) s.port = default_port;
  }
  return {};
}

failure read_where(core::uri& u, config& c) {
  if (auto f = read_login(u, c)) return f;
  if (u.scheme.ends_with("+sentinel")) {
    c.deployment = shape::sentinel;
    return read_sentinels(u, c);
  }
  if (u.scheme.ends_with("+cluster")) {
    c.deployment = shape::cluster;
    return read_cluster(u, c);
  }
  return read_server(u, c);
}

failure read_limits(core::uri& u, config& c) {
  constexpr std::uint32_t year_s = 366 * 24 * 3600, most = 10'000'000;
  auto seconds = static_cast<std::uint32_t>(std::chrono::floor<std::chrono::seconds>(c.tombstone_ttl).count());
  if (auto f = take_number(u, "tombstone_ttl", 1, year_s, seconds, "seconds, ")) return f;
  c.tombstone_ttl = std::chrono::seconds{seconds};
  if (auto f = take_number(u, "waiters_max", 1, most, c.waiters_max)) return f;
  if (auto f = take_number(u, "in_flight_max", 1, most, c.in_flight_max)) return f;
  return take_number(u, "replicas", 0, replicas_max, c.replicas);
}

failure read_tls(core::uri& u, config& c) {
  c.tls = u.scheme.starts_with("rediss");
  return c.tls ? kit::take_tls(u, c) : kit::refuse_tls(u);
}

}  // namespace

config config::at(const core::endpoint& e) const {
  config c = *this;
  c.server = e;
  c.shown = (tls ? "rediss://" : "redis://") + e.host + ':' + std::to_string(e.port);
  return c;
}

namespace {

void write_back(const config& c, core::uri& u) {
  const auto database = c.database == 0 ? "" : std::to_string(c.database);
  u.hosts = c.deployment == shape::one_server ? std::vector{c.server} : c.seeds;
  u.path = c.deployment == shape::sentinel && !database.empty() ? c.master + '/' + database : c.master + database;
}

}  // namespace

read_config read(core::uri& u) {
  read_config r;
  r.error = read_where(u, r.value);
  if (!r.error) r.error = read_limits(u, r.value);
  if (!r.error) r.error = read_tls(u, r.value);
  r.value.shown = u.shown();
  if (!r.error) write_back(r.value, u);
  return r;
}

}  // namespace tyer::redis
