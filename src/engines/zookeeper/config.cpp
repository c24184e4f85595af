#include "engines/zookeeper/config.hpp"

#include "engines/kit/options.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tyer::zookeeper {

namespace {

bool is_base(const std::string& path) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '/';
  };
  return std::ranges::all_of(path, plain) && !path.ends_with('/') && path.find("//") == path.npos &&
         !path.starts_with("zookeeper");
}

tyer::failure read_login(core::uri& u, config& c) {
  c.servers.who.user = u.user;
  c.servers.who.password = u.password;
  if (u.user.empty() != u.password.empty())
    return kit::wrong_uri("a user and a password belong together: user:password@host");
  const auto how = u.take("auth").value_or("digest");
  if (how != "digest" && how != "sasl") return kit::wrong_uri("?auth= must be digest (the default) or sasl");
  c.servers.who.sasl = how == "sasl";
  if (c.servers.who.sasl && u.user.empty()) return kit::wrong_uri("?auth=sasl needs user and password in the URI");
  // The creator alone, whoever that is: everybody with the same credentials.
  c.rights.push_back(c.servers.who ? wire::acl{31, "auth", ""} : wire::acl{});
  return {};
}

// Where others are, names are paths.
tyer::failure read_protocol(core::uri& u, config& c) {
  const auto name = u.take("protocol");
  if (!name) {
    c.base = "/tyer";
    return {};
  }
  const std::array known{std::pair{"curator", protocol::curator}, std::pair{"curator-rw", protocol::curator_rw},
                         std::pair{"kazoo", protocol::kazoo}};
  const auto at = std::ranges::find(known, *name, [](const auto& k) { return std::string_view{k.first}; });
  if (at == known.end()) return kit::wrong_uri("?protocol= must be curator, curator-rw or kazoo, or left out");
  c.layout = at->second;
  return {};
}

}  // namespace

read_config read(core::uri& u) {
  config c;
  c.shown = u.shown();
  for (auto& h : u.hosts) h.port = h.port != 0 ? h.port : wire::default_port;
  c.servers.hosts = u.hosts;
  c.servers.tls = u.scheme == "zks";
  if (u.hosts.empty()) return {{}, kit::wrong_uri("a ZooKeeper URI names at least one server")};
  if (auto e = read_protocol(u, c)) return {{}, std::move(e)};
  if (!u.path.empty()) c.base = '/' + u.path;
  if (!u.path.empty() && !is_base(u.path))
    return {{}, kit::wrong_uri("the path of a ZooKeeper URI has letters, digits, - and _ between slashes")};
  u.path = c.base.empty() ? "" : c.base.substr(1);
  if (auto e = read_login(u, c)) return {{}, std::move(e)};
  if (auto e = c.servers.tls ? kit::take_tls(u, c.servers.files) : kit::refuse_tls(u)) return {{}, std::move(e)};
  if (auto e = kit::take_number(u, "tick", 1, 60'000, c.tick_ms, "milliseconds, ")) return {{}, std::move(e)};
  if (auto e = kit::take_number(u, "sessions_max", 2, 1'000, c.sessions_max)) return {{}, std::move(e)};
  return {std::move(c), {}};
}

}  // namespace tyer::zookeeper
