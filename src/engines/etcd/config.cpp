#include "engines/etcd/config.hpp"

#include "engines/kit/options.hpp"

#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace tyer::etcd {

namespace {

constexpr std::uint16_t default_port = 2379;
constexpr std::uint32_t waiters_most = 1'000'000;

failure wrong(std::string words) { return kit::wrong_uri(std::move(words)); }

failure read_where(core::uri& u, config& c) {
  if (!u.path.empty()) return wrong(u.scheme + ":// takes hosts and nothing behind them");
  c.servers = u.hosts;
  if (c.servers.empty()) c.servers.push_back({"127.0.0.1", 0});
  for (auto& s : c.servers) {
    if (s.port == 0) s.port = default_port;
  }
  u.hosts = c.servers;
  c.user = u.user;
  c.password = u.password;
  if (c.user.empty() != c.password.empty()) return wrong("a user and a password belong together: user:password@host");
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

failure read_file(const char* option, const std::string& path, std::string& out) {
  if (path.empty() || read_pem(path, out)) return {};
  return wrong('?' + std::string{option} + '=' + path + " cannot be read as PEM");
}

failure read_tls(core::uri& u, config& c) {
  c.tls = u.scheme == "etcds";
  if (!c.tls) return kit::refuse_tls(u);
  kit::tls_options o;
  if (auto f = kit::take_tls(u, o)) return f;
  c.ca_file = std::move(o.ca);
  c.cert_file = std::move(o.cert);
  c.key_file = std::move(o.key);
  c.verify = o.verify;
  if (auto f = read_file("ca", c.ca_file, c.ca)) return f;
  if (auto f = read_file("cert", c.cert_file, c.cert)) return f;
  return read_file("key", c.key_file, c.key);
}

}  // namespace

read_config read(core::uri& u) {
  read_config r;
  r.error = read_where(u, r.value);
  if (!r.error) r.error = kit::take_number(u, "waiters_max", 1, waiters_most, r.value.waiters_max);
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
