#include "engines/redis/deployment/cluster/nodes.hpp"

#include "engines/redis/deployment/cluster/hash_slot.hpp"

#include <charconv>

namespace tyer::redis {

namespace {

// Takes the text before the next `end` off the front.
std::string_view take(std::string_view& text, char end) {
  const auto at = text.find(end);
  const auto word = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + 1);
  return word;
}

template <class T>
bool number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

bool has(std::string_view flags, std::string_view flag) {
  while (!flags.empty()) {
    if (take(flags, ',') == flag) return true;
  }
  return false;
}

// host:port, where the host may be an IPv6 address without brackets, or nothing.
std::optional<core::endpoint> read_endpoint(std::string_view text, std::string_view host_asked) {
  const auto colon = text.rfind(':');
  core::endpoint e;
  if (colon == text.npos || !number(text.substr(colon + 1), e.port) || e.port == 0) return std::nullopt;
  e.host = std::string{colon == 0 || text.starts_with('?') ? host_asked : text.substr(0, colon)};
  return e;
}

// ip:port@bus[,hostname[,more]]
bool read_place(std::string_view text, std::string_view host_asked, node& n) {
  auto announced = text;
  const auto place = take(announced, ',');
  const auto e = read_endpoint(place.substr(0, place.find('@')), host_asked);
  if (!e) return false;
  n.at = *e;
  n.address = e->host;
  const auto name = take(announced, ',');
  if (!name.empty() && name.find('=') == name.npos) n.at.host = std::string{name};
  return true;
}

std::optional<slot_run> read_run(std::string_view text) {
  if (text.starts_with('[')) return std::nullopt;  // being migrated, and still at its old master
  const auto first = take(text, '-');
  slot_run r{};
  if (!number(first, r.first)) return std::nullopt;
  r.last = r.first;
  if (!text.empty() && !number(text, r.last)) return std::nullopt;
  if (r.first > r.last || r.last >= slots_in_all) return std::nullopt;
  return r;
}

// id place flags master ping pong epoch link slot...
std::optional<node> read_node(std::string_view line, std::string_view host_asked) {
  node n;
  take(line, ' ');
  const auto place = take(line, ' ');
  const auto flags = take(line, ' ');
  if (has(flags, "handshake") || has(flags, "noaddr") || !read_place(place, host_asked, n)) return std::nullopt;
  n.master = has(flags, "master");
  for (int skipped = 0; skipped < 3; ++skipped) take(line, ' ');
  if (!number(take(line, ' '), n.epoch)) return std::nullopt;
  take(line, ' ');
  while (!line.empty()) {
    if (const auto run = read_run(take(line, ' '))) n.slots.push_back(*run);
  }
  return n;
}

}  // namespace

std::vector<node> read_nodes(std::string_view text, std::string_view host_asked) {
  if (text.starts_with("txt:")) text.remove_prefix(4);
  std::vector<node> nodes;
  while (!text.empty()) {
    auto line = take(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto n = read_node(line, host_asked)) nodes.push_back(*std::move(n));
  }
  return nodes;
}

std::optional<redirection> read_redirection(std::string_view error, std::string_view host_asked) {
  const auto word = take(error, ' ');
  if (word != "MOVED" && word != "ASK") return std::nullopt;
  redirection r;
  r.for_good = word == "MOVED";
  if (!number(take(error, ' '), r.slot) || r.slot >= slots_in_all) return std::nullopt;
  const auto to = read_endpoint(take(error, ' '), host_asked);
  if (!to) return std::nullopt;
  r.to = *to;
  return r;
}

}  // namespace tyer::redis
