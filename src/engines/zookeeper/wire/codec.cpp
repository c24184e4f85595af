#include "engines/zookeeper/wire/codec.hpp"

#include <algorithm>
#include <utility>

namespace tyer::zookeeper::wire {

std::string words(std::int32_t e) {
  switch (e) {
    case system_error: return "system error";
    case unimplemented: return "the server does not know this operation";
    case bad_arguments: return "bad arguments";
    case no_node: return "no such node";
    case no_auth: return "not allowed";
    case bad_version: return "bad version";
    case node_exists: return "the node is there already";
    case session_expired: return "the session has expired";
    case auth_failed: return "the credentials were not accepted";
    case needs_sasl: return "a login by SASL is needed (?auth=sasl)";
    case session_moved: return "the session has moved to another server";
    case quota_exceeded: return "the quota of nodes there is used up";
    case throttled: return "the server is overloaded";
    default: return "error " + std::to_string(e);
  }
}

// --- writing

writer& writer::number(std::int32_t v) {
  const auto u = static_cast<std::uint32_t>(v);
  for (int shift = 24; shift >= 0; shift -= 8) out_ += static_cast<char>(u >> shift & 0xffU);
  return *this;
}

writer& writer::big(std::int64_t v) {
  const auto u = static_cast<std::uint64_t>(v);
  for (int shift = 56; shift >= 0; shift -= 8) out_ += static_cast<char>(u >> shift & 0xffU);
  return *this;
}

writer& writer::text(std::string_view v) {
  number(static_cast<std::int32_t>(v.size()));
  out_ += v;
  return *this;
}

std::string create_body(std::string_view path, std::string_view data, const std::vector<acl>& rights, node_kind kind) {
  writer w;
  w.text(path).text(data).number(static_cast<std::int32_t>(rights.size()));
  for (const acl& a : rights) w.number(a.rights).text(a.scheme).text(a.who);
  return w.number(static_cast<std::int32_t>(kind)).take();
}

std::string path_body(std::string_view path) { return writer{}.text(path).take(); }
std::string watch_body(std::string_view path, bool watch) { return writer{}.text(path).flag(watch).take(); }
std::string version_body(std::string_view path, std::int32_t v) { return writer{}.text(path).number(v).take(); }
std::string data_body(std::string_view path, std::string_view data, std::int32_t version) {
  return writer{}.text(path).text(data).number(version).take();
}

std::string multi_body(const std::vector<step>& steps) {
  writer w;
  for (const step& s : steps) w.number(static_cast<std::int32_t>(s.what)).flag(false).number(-1).raw(s.body);
  return w.number(-1).flag(true).number(-1).take();
}

// --- reading

std::string_view reader::take(std::size_t n) {
  if (!good_ || n > in_.size()) {
    good_ = false;
    in_ = {};
    return {};
  }
  const auto part = in_.substr(0, n);
  in_.remove_prefix(n);
  return part;
}

std::int32_t reader::number() {
  std::uint32_t v = 0;
  for (const char c : take(4)) v = v << 8U | static_cast<unsigned char>(c);
  return static_cast<std::int32_t>(v);
}

std::int64_t reader::big() {
  std::uint64_t v = 0;
  for (const char c : take(8)) v = v << 8U | static_cast<unsigned char>(c);
  return static_cast<std::int64_t>(v);
}

bool reader::flag() {
  const auto b = take(1);
  return !b.empty() && b.front() != '\0';
}

std::string_view reader::text() {
  const auto n = number();
  if (n < -1) good_ = false;
  return n <= 0 ? std::string_view{} : take(static_cast<std::size_t>(n));
}

stat reader::read_stat() {
  stat s;
  s.created = big();
  s.modified = big();
  big();  // times, by the servers' clocks
  big();
  s.version = number();
  s.child_version = number();
  number();
  s.owner = big();
  number();
  s.children = number();
  big();
  return s;
}

// A count may say anything: memory is taken only for what is really there.
std::vector<std::string> reader::list() {
  std::vector<std::string> all;
  const auto n = number();
  for (std::int32_t i = 0; i < n && good_; ++i) all.emplace_back(text());
  if (!good_) all.clear();
  return all;
}

template <class T>
static std::optional<T> if_good(const reader& r, T value) {
  if (!r.good()) return std::nullopt;
  return value;
}

std::optional<created> read_created(std::string_view body) {
  reader r{body};
  created c;
  c.path = r.text();
  c.is = r.read_stat();
  return if_good(r, std::move(c));
}

std::optional<node> read_node(std::string_view body) {
  reader r{body};
  node n;
  n.data = r.text();
  n.is = r.read_stat();
  return if_good(r, std::move(n));
}

std::optional<stat> read_stat(std::string_view body) {
  reader r{body};
  const auto s = r.read_stat();
  return if_good(r, s);
}

std::optional<children> read_children(std::string_view body) {
  reader r{body};
  children c;
  c.names = r.list();
  c.is = r.read_stat();
  return if_good(r, std::move(c));
}

static void read_result(reader& r, op what, step_result& into) {
  switch (what) {
    case op::create:
    case op::create_stat:
    case op::create_container:
      into.path = r.text();
      if (what != op::create) into.is = r.read_stat();
      break;
    case op::set_data: into.is = r.read_stat(); break;
    default: break;
  }
}

std::optional<std::vector<step_result>> read_multi(std::string_view body) {
  reader r{body};
  std::vector<step_result> all;
  while (r.good()) {
    const auto type = r.number();
    const bool end = r.flag();
    r.number();
    if (end) break;
    step_result one;
    if (type == -1) {
      one.error = r.number();
    } else {
      read_result(r, static_cast<op>(type), one);
    }
    all.push_back(std::move(one));
  }
  return if_good(r, std::move(all));
}

std::int32_t error_of(const std::vector<step_result>& all) {
  const auto at =
      std::ranges::find_if(all, [](const step_result& s) { return s.error != ok && s.error != runtime_inconsistency; });
  if (at != all.end()) return at->error;
  return std::ranges::all_of(all, [](const step_result& s) { return s.error == ok; }) ? ok : runtime_inconsistency;
}

std::optional<std::string_view> framer::next() {
  if (broken_) return std::nullopt;
  if (at_ > in_.size() / 2 && at_ > 4096) {
    in_.erase(0, at_);
    at_ = shown_ = 0;
  }
  const std::string_view rest = std::string_view{in_}.substr(at_);
  if (rest.size() < 4) return std::nullopt;
  const auto length = reader{rest.substr(0, 4)}.number();
  if (length < 0 || static_cast<std::size_t>(length) > answer_max) {
    broken_ = true;
    return std::nullopt;
  }
  const auto n = static_cast<std::size_t>(length);
  if (rest.size() - 4 < n) return std::nullopt;
  shown_ = at_ + 4 + n;
  return rest.substr(4, n);
}

}  // namespace tyer::zookeeper::wire
