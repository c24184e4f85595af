#include "engines/sql/config.hpp"

#include "engines/kit/options.hpp"

#include <algorithm>

namespace tyer::sql {

namespace {

bool is_this_host(const core::endpoint& e) {
  return e.host == "localhost" || e.host == "::1" || e.host.starts_with("127.") || e.host.starts_with('/');
}

}  // namespace

tyer::failure take_settings(core::uri& u, settings& to) {
  const auto schema = u.take("schema");
  if (schema && *schema != "apply") return kit::wrong_uri("?schema= must be apply, or left out");
  to.make_tables = schema.has_value();
  const auto lock = u.take("lock").value_or("row");
  if (lock != "row" && lock != "session") return kit::wrong_uri("?lock= must be row (the default) or session");
  to.by_session = lock == "session";
  if (to.by_session && u.find("waiters_max"))
    return kit::wrong_uri("?waiters_max= means nothing with ?lock=session, which has no queue");
  return kit::take_number(u, "waiters_max", 1, 1'000'000, to.waiters_max);
}

std::vector<core::endpoint> hosts_of(const core::uri& u, std::uint16_t default_port) {
  auto all = u.hosts;
  if (all.empty()) all.push_back({"127.0.0.1", 0});
  for (auto& h : all) h.port = h.port != 0 ? h.port : default_port;
  return all;
}

bool are_this_host(const std::vector<core::endpoint>& all) { return std::ranges::all_of(all, is_this_host); }

}  // namespace tyer::sql
