#include "engines/zookeeper/layout.hpp"

#include "engines/zookeeper/names.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tyer::zookeeper {

namespace {

constexpr std::string_view of_curator = "_c_", of_tyer = "\ntyer ";
constexpr std::size_t digits = 10;  // of a number, as servers write it
constexpr std::size_t words_max = 4096;

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
  const auto raw = hex.size() == 32 ? from_hex(hex) : std::nullopt;
  return raw ? id::from(*raw) : id_of_words(words);
}

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

}  // namespace

// Sessions have no place where others count children.
layout::layout(protocol p, const std::string& base, std::string prefix)
    : kind_(p),
      names_(p == protocol::own ? base + "/q" : base),
      sessions_(p == protocol::own ? base + "/s" : "/tyer/s"),
      prefix_(std::move(prefix)) {}

std::vector<std::string> layout::always_there() const {
  std::vector<std::string> all;
  for (auto at = sessions_.find('/', 1); at != sessions_.npos; at = sessions_.find('/', at + 1)) {
    all.push_back(sessions_.substr(0, at));
  }
  if (is_own()) all.push_back(names_);
  all.push_back(sessions_);
  return all;
}

std::string layout::path_of(std::string_view name) const {
  const auto full = prefix_ + std::string{name};
  return names_ + '/' + (is_own() ? escape(full) : as_path(full));
}

std::optional<std::string> layout::name_of(std::string_view path) const {
  if (!path.starts_with(names_) || path.size() <= names_.size() || path[names_.size()] != '/') return std::nullopt;
  const auto rest = path.substr(names_.size() + 1);
  const auto full = is_own() ? unescape(rest) : from_path(rest);
  if (!full || !full->starts_with(prefix_)) return std::nullopt;
  return full->substr(prefix_.size());
}

bool layout::leads_to(std::string_view path, std::string_view start) const {
  const auto there = from_path(path.substr(std::min(path.size(), names_.size() + 1)));
  const auto full = prefix_ + std::string{start};
  return there && (there->starts_with(full) || full.starts_with(*there + '/'));
}

bool layout::is_in_the_way(std::string_view name) const {
  if (is_own()) return false;  // there no name is above another
  const auto path = path_of(name);
  for (std::size_t from = names_.size() + 1; from <= path.size();) {
    const auto end = std::min(path.find('/', from), path.size());
    if (read_theirs(std::string_view{path}.substr(from, end - from))) return true;
    from = end + 1;
  }
  return false;
}

std::optional<contender> layout::read(std::string_view node) const {
  return is_own() ? read_contender(node) : read_theirs(node);
}

line layout::line_of(const std::vector<std::string>& children) const {
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

std::string layout::new_place(mode how, const id& who, std::uint32_t take, std::uint32_t capacity) const {
  return is_own() && how == mode::exclusive ? zookeeper::new_place(who) : new_node(how, who, take, capacity);
}

std::string layout::write(const record& r) const {
  if (is_own()) return zookeeper::write(r);
  auto words = r.owner;
  std::erase_if(words, [](char c) { return !is_plain(c); });
  return words.append(of_tyer).append(core::to_hex(zookeeper::write(r)));
}

std::optional<record> layout::read_data(std::string_view data) const {
  if (is_own()) return read_record(data);
  const auto at = data.rfind(of_tyer);
  const auto raw = at == data.npos ? std::nullopt : from_hex(data.substr(at + of_tyer.size()));
  auto r = raw ? read_record(*raw) : std::nullopt;
  if (r) return r;
  record theirs;
  theirs.by_another = true;
  theirs.owner = data.substr(0, words_max);
  return theirs;
}

}  // namespace tyer::zookeeper
