#include "engines/etcd/config.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>

namespace tyer::etcd {

namespace {

constexpr std::uint16_t default_port = 2379;
constexpr std::uint32_t waiters_most = 1'000'000;

failure wrong(std::string words) { return {errc::invalid_uri, std::move(words)}; }

failure read_where(const core::uri& u, config& c) {
  if (!u.path.empty()) return wrong(u.scheme + ":// takes hosts and nothing behind them");
  c.servers = u.hosts;
  if (c.servers.empty()) c.servers.push_back({"127.0.0.1", 0});
  for (auto& s : c.servers) {
    if (s.port == 0) s.port = default_port;
  }
  c.user = u.user;
  c.password = u.password;
  if (c.user.empty() != c.password.empty()) return wrong("a user and a password belong together: user:password@host");
  return {};
}

failure read_limits(core::uri& u, config& c) {
  const auto text = u.take("waiters_max");
  if (!text) return {};
  const auto* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, c.waiters_max);
  if (error != std::errc{} || at != end || c.waiters_max == 0 || c.waiters_max > waiters_most) {
    return wrong("?waiters_max= must be 1 to 1000000");
  }
  return {};
}

// False, and `out` is left as it was: it cannot be read as PEM.
bool read_pem(const std::string& path, std::string& out) {
  std::ifstream file{path, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file || text.find("-----BEGIN ") == text.npos) return false;
  out = std::move(text);
  return true;
}

failure read_file(core::uri& u, const char* option, std::string& path, std::string& out) {
  const auto given = u.take(option);
  if (!given) return {};
  path = *given;
  if (!read_pem(path, out)) return wrong('?' + std::string{option} + '=' + path + " cannot be read as PEM");
  return {};
}

bool has(const core::uri& u, std::string_view option) {
  return std::ranges::any_of(u.query, [&](const auto& o) { return o.first == option; });
}

// Under etcd:// these stay in the query, so that somebody who forgot the second s is told.
failure read_tls(core::uri& u, config& c) {
  c.tls = u.scheme == "etcds";
  if (!c.tls) return {};
  if (has(u, "cert") != has(u, "key")) return wrong("?cert= and ?key= belong together");
  if (auto f = read_file(u, "ca", c.ca_file, c.ca)) return f;
  if (auto f = read_file(u, "cert", c.cert_file, c.cert)) return f;
  if (auto f = read_file(u, "key", c.key_file, c.key)) return f;
  if (const auto verify = u.take("verify")) {
    if (*verify != "none" && *verify != "peer") return wrong("?verify= must be peer (the default) or none");
    c.verify = *verify != "none";
  }
  return {};
}

}  // namespace

read_config read(core::uri& u) {
  read_config r;
  r.error = read_where(u, r.value);
  if (!r.error) r.error = read_limits(u, r.value);
  if (!r.error) r.error = read_tls(u, r.value);
  return r;
}

config with_files_of_now(config c) {
  if (!c.ca_file.empty()) read_pem(c.ca_file, c.ca);
  if (!c.cert_file.empty()) read_pem(c.cert_file, c.cert);
  if (!c.key_file.empty()) read_pem(c.key_file, c.key);
  return c;
}

}  // namespace tyer::etcd
