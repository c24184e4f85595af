#include "engines/zookeeper/layout.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tyer::zookeeper {

namespace {

constexpr std::string_view of_curator = "_c_";
constexpr std::size_t digits = 10;  // of a number, as servers write it

struct marks {
  std::string_view exclusive, shared;
};

marks marks_of(protocol p) {
  switch (p) {
    case protocol::curator: return {"-lock-", {}};
    case protocol::curator_rw: return {"-__WRIT__", "-__READ__"};
    default: return {"__lock__", "__rlock__"};
  }
}

std::string as_uuid(std::string hex) {
  for (const std::size_t at : {8U, 13U, 18U, 23U}) hex.insert(at, 1, '-');
  return hex;
}

// Of whoever is not called by a UUID: always the same for the same words.
id id_of_words(std::string_view words) {
  std::string raw;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    auto hash = 14695981039346656037U + seed;
    for (const char c : words) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    for (unsigned shift = 0; shift < 64; shift += 8) raw += static_cast<char>(hash >> shift & 0xffU);
  }
  return id::from(raw);
}

id id_in(std::string_view words) {
  std::string hex{words.starts_with(of_curator) ? words.substr(of_curator.size()) : words};
  std::erase(hex, '-');
  std::string raw;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    unsigned byte = 0;
    const auto [at, error] = std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    if (error != std::errc{} || at != hex.data() + i + 2) break;
    raw += static_cast<char>(byte);
  }
  return hex.size() == 32 && raw.size() == 16 ? id::from(raw) : id_of_words(words);
}

// As UTF-8 should be: other libraries show it to people.
bool is_plain(char c) { return c >= ' ' && c <= '~'; }

}  // namespace

layout::layout(protocol p, std::string base, std::string prefix)
    : kind_(p),
      names_(p == protocol::own ? base + "/q" : base),
      sessions_(base + (p == protocol::own ? "/s" : "/tyer-sessions")),
      prefix_(std::move(prefix)) {}

// Servers refuse control characters, empty steps and those that mean another; what is not ASCII must be UTF-8, which they check.
bool layout::takes(std::string_view name) const {
  if (is_own()) return true;
  const auto path = '/' + prefix_ + std::string{name} + '/';
  const auto control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  const bool steps = path.find("//") == path.npos && path.find("/./") == path.npos && path.find("/../") == path.npos;
  return steps && std::ranges::none_of(path, control) && !path.starts_with("/zookeeper/");
}

std::string layout::path_of(std::string_view name) const {
  const auto full = prefix_ + std::string{name};
  return names_ + '/' + (is_own() ? escape(full) : full);
}

std::optional<std::string> layout::name_of(std::string_view path) const {
  if (!path.starts_with(names_) || path.size() <= names_.size() || path[names_.size()] != '/') return std::nullopt;
  const auto rest = path.substr(names_.size() + 1);
  const auto full = is_own() ? unescape(rest) : std::string{rest};
  if (!full || !full->starts_with(prefix_)) return std::nullopt;
  return full->substr(prefix_.size());
}

std::optional<contender> layout::read(std::string_view node) const {
  return is_own() ? read_contender(node) : read_theirs(node);
}

line layout::read(const std::vector<std::string>& children) const {
  std::vector<contender> all;
  for (const auto& child : children) {
    if (auto c = read(child)) all.push_back(std::move(*c));
  }
  return line{std::move(all)};
}

std::optional<contender> layout::read_theirs(std::string_view node) const {
  if (node.size() <= digits) return std::nullopt;
  contender c;
  c.node = node;
  const auto number = node.substr(node.size() - digits), words = node.substr(0, node.size() - digits);
  const auto [at, error] = std::from_chars(number.data(), number.data() + digits, c.number);
  if (error != std::errc{} || at != number.data() + digits) return std::nullopt;
  const auto m = marks_of(kind_);
  const bool shared = !m.shared.empty() && words.ends_with(m.shared);
  if (!shared && !words.ends_with(m.exclusive)) return std::nullopt;
  c.how = shared ? mode::shared : mode::exclusive;
  c.who = id_in(words.substr(0, words.size() - (shared ? m.shared : m.exclusive).size()));
  return c;
}

std::string layout::new_node(mode how, const id& who, std::uint32_t take, std::uint32_t capacity) const {
  if (is_own()) return zookeeper::new_node(how, who, take, capacity);
  const auto m = marks_of(kind_);
  const auto hex = core::to_hex(who);
  const auto name = kind_ == protocol::kazoo ? hex : std::string{of_curator} + as_uuid(hex);
  return name + std::string{how == mode::shared ? m.shared : m.exclusive};
}

std::string layout::write(const record& r) const {
  if (is_own()) return zookeeper::write(r);
  auto words = r.owner;
  std::erase_if(words, [](char c) { return !is_plain(c); });
  return words;
}

std::optional<record> layout::read_data(std::string_view data) const {
  if (is_own()) return read_record(data);
  record r;
  r.owner = data.substr(0, 4096);
  return r;
}

}  // namespace tyer::zookeeper
