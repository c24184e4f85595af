#include "engines/redis/config.hpp"

#include <charconv>
#include <string_view>

namespace tyer::redis {

namespace {

constexpr std::uint16_t default_port = 6379;

failure wrong(std::string words) { return {errc::invalid_uri, std::move(words)}; }

bool number(std::string_view text, std::uint32_t least, std::uint32_t most, std::uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out >= least && out <= most;
}

failure read_server(const core::uri& u, config& c) {
  if (u.hosts.size() > 1) return wrong(u.scheme + ":// takes one host");
  c.server = u.hosts.empty() ? core::endpoint{"127.0.0.1", 0} : u.hosts.front();
  if (c.server.port == 0) c.server.port = default_port;
  c.user = u.user;
  c.password = u.password;
  if (!c.user.empty() && c.password.empty()) return wrong("a user without a password: write user:password@host");
  std::uint32_t database = 0;
  if (!u.path.empty() && !number(u.path, 0, 65535, database))
    return wrong("after the host comes the number of the database");
  c.database = static_cast<int>(database);
  return {};
}

failure read_limits(core::uri& u, config& c) {
  constexpr std::uint32_t year_s = 366 * 24 * 3600;
  if (const auto text = u.take("tombstone_ttl")) {
    std::uint32_t seconds = 0;
    if (!number(*text, 1, year_s, seconds)) return wrong("?tombstone_ttl= must be seconds, 1 to 31622400");
    c.tombstone_ttl = std::chrono::seconds{seconds};
  }
  if (const auto text = u.take("waiters_max")) {
    if (!number(*text, 1, 10'000'000, c.waiters_max)) return wrong("?waiters_max= must be 1 to 10000000");
  }
  if (const auto text = u.take("in_flight_max")) {
    if (!number(*text, 1, 10'000'000, c.in_flight_max)) return wrong("?in_flight_max= must be 1 to 10000000");
  }
  return {};
}

// Under redis:// these stay in the query, so that somebody who forgot the second s is told.
failure read_tls(core::uri& u, config& c) {
  c.tls = u.scheme == "rediss";
  if (!c.tls) return {};
  c.ca = u.take("ca").value_or("");
  c.cert = u.take("cert").value_or("");
  c.key = u.take("key").value_or("");
  if (c.cert.empty() != c.key.empty()) return wrong("?cert= and ?key= belong together");
  if (const auto verify = u.take("verify")) {
    if (*verify != "none" && *verify != "peer") return wrong("?verify= must be peer (the default) or none");
    c.verify = *verify != "none";
  }
  return {};
}

}  // namespace

read_config read(core::uri& u) {
  read_config r;
  r.error = read_server(u, r.value);
  if (!r.error) r.error = read_limits(u, r.value);
  if (!r.error) r.error = read_tls(u, r.value);
  r.value.shown = u.shown();
  return r;
}

}  // namespace tyer::redis
