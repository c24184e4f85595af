// From redlock://a:1,b:2,c:3 to nodes: the same URI for each of them, with one host.
#include "engine/table.hpp"
#include "engines/compose/redlock/redlock.hpp"

#include <tyer/export.hpp>

#include <charconv>
#include <set>
#include <string>

namespace tyer::redlock {

namespace {

constexpr std::size_t nodes_least = 3, nodes_most = 15;
constexpr milliseconds node_timeout_default{50};

// Tokens of one name stay in order as long as the clocks of the servers differ by less than this. Nothing else compares
// these clocks, and typical errors are hours: a wrong time zone.
constexpr std::string_view tombstone_seconds_default = "86400";

tyer::failure wrong(std::string words) { return {errc::invalid_uri, std::move(words)}; }

tyer::failure check_hosts(const core::uri& u) {
  const auto n = u.hosts.size();
  if (n < nodes_least || n > nodes_most || n % 2 == 0) {
    return wrong(u.scheme + ":// takes an odd number of hosts, from " + std::to_string(nodes_least) + " to " +
                 std::to_string(nodes_most) + ", with commas between them; there are " + std::to_string(n));
  }
  return {};
}

tyer::failure read_timeout(core::uri& u, milliseconds request_timeout, milliseconds& out) {
  out = std::min(node_timeout_default, request_timeout / 4);
  const auto text = u.take("node_timeout");
  if (!text) return {};
  std::uint32_t ms = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), ms);
  const bool number = error == std::errc{} && end == text->data() + text->size() && ms > 0;
  out = milliseconds{ms};
  if (number && out <= request_timeout / 2) return {};
  return wrong("?node_timeout= is a number of milliseconds, from 1 to half the request_timeout");
}

// The nodes refuse text that is no number.
std::chrono::seconds seconds_of(std::string_view text) {
  std::uint32_t seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds{seconds};
}

// The user's log hook gets one call at a time: so it is called from the loop of the composing engine, not from the nodes'
// threads.
log_hook through(const std::shared_ptr<engine::inbox>& box, const log_hook& log) {
  if (!log) return {};
  return [box, log](log_level level, std::string_view words) {
    box->put([log, level, words = std::string{words}](engine::events*) { log(level, words); });
  };
}

engine::made make(core::uri& u, const engine::environment& e) {
  milliseconds node_timeout{};
  if (auto f = check_hosts(u)) return {nullptr, std::move(f)};
  if (auto f = read_timeout(u, e.request_timeout, node_timeout)) return {nullptr, std::move(f)};
  auto box = std::make_shared<engine::inbox>();
  auto inside = e;
  inside.log = through(box, e.log);
  std::vector<unstarted_node> nodes;
  auto one = u;
  one.scheme = u.scheme == "redlocks" ? "rediss" : "redis";
  if (!one.find("tombstone_ttl")) one.query.emplace_back("tombstone_ttl", tombstone_seconds_default);
  const auto remembers = seconds_of(*one.find("tombstone_ttl"));
  u.query.clear();  // the nodes report unknown options
  std::set<std::string> places;
  for (const auto& h : u.hosts) {
    one.hosts = {h};
    auto made = engine::make(one, inside);
    if (made.error.code == errc::no_engine) made.error.words = u.scheme + ":// needs the component tyer::redis";
    if (made.error) return {nullptr, std::move(made.error)};
    if (!places.insert(made.place).second)
      return {nullptr, wrong("the host " + h.host + " is named twice: it would vote twice")};
    if (!made.value->can().lift) {
      return {nullptr, wrong("with these options the servers of " + u.scheme + ":// cannot agree on a token")};
    }
    nodes.push_back({one.shown().substr(one.scheme.size() + 3), std::move(made.value)});
  }
  std::string place = u.scheme;
  for (const auto& p : places) place += ' ' + p;
  return {std::make_unique<redlock_engine>(std::move(nodes), node_timeout, e, std::move(box), remembers), {}, place};
}

}  // namespace
}  // namespace tyer::redlock

extern "C" TYER_EXPORT tyer::engine::made tyer_engine_redlock(tyer::core::uri& address,
                                                              const tyer::engine::environment& e) {
  return tyer::redlock::make(address, e);
}
