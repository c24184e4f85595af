// ZooKeeper's wire format: every packet is its length and a body of big-endian integers, length-prefixed bytes (-1: null) and
// counted lists. A value without I/O: what is too short, too long or negative is told, never read past.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::zookeeper::wire {

enum class op : std::int32_t {
  create = 1,
  remove = 2,
  exists = 3,
  get_data = 4,
  set_data = 5,
  sync = 9,
  ping = 11,
  get_children = 12,
  check = 13,
  multi = 14,
  create_stat = 15,
  create_container = 19,
  auth = 100,
  set_watches = 101,
  sasl = 102,
  close = -11,
};

// What a server answers instead of a result.
enum error : std::int32_t {
  ok = 0,
  system_error = -1,
  runtime_inconsistency = -2,  // of multi: not carried out, because another part of it failed
  unimplemented = -6,
  bad_arguments = -8,
  no_node = -101,
  no_auth = -102,
  bad_version = -103,
  node_exists = -110,
  not_empty = -111,
  session_expired = -112,
  auth_failed = -115,
  session_moved = -118,
  needs_sasl = -124,  // and the session is closed
  quota_exceeded = -125,
  throttled = -127,
};
std::string words(std::int32_t error);

inline constexpr std::size_t request_max = 1024 * 1024 - 1;         // jute.maxbuffer: a server hangs up on more
inline constexpr std::size_t answer_max = std::size_t{64} << 20U;   // a list of a million names
inline constexpr std::size_t watches_in_packet_max = 128U * 1024U;  // bytes of paths in one SetWatches

enum class node_kind : std::int32_t { lasting = 0, ephemeral = 1, ephemeral_sequential = 3, container = 4 };

struct stat {
  std::int64_t created = 0, modified = 0;  // zxids
  std::int32_t version = 0, child_version = 0;
  std::int64_t owner = 0;  // session of an ephemeral node
  std::int32_t children = 0;
};

struct acl {
  std::int32_t rights = 31;
  std::string scheme = "world", who = "anyone";
};

class writer {
 public:
  writer& number(std::int32_t v);
  writer& big(std::int64_t v);
  writer& flag(bool v) {
    out_ += v ? '\1' : '\0';
    return *this;
  }
  writer& text(std::string_view v);
  writer& raw(std::string_view v) {
    out_ += v;
    return *this;
  }
  std::string take() { return std::move(out_); }
  std::size_t size() const noexcept { return out_.size(); }

 private:
  std::string out_;
};

// Once something was missing, everything else is empty, and good() is false.
class reader {
 public:
  explicit reader(std::string_view in) : in_(in) {}

  std::int32_t number();
  std::int64_t big();
  bool flag();
  std::string_view text();  // null as empty
  stat read_stat();
  std::vector<std::string> list();
  bool good() const noexcept { return good_; }
  std::size_t left() const noexcept { return in_.size(); }

 private:
  std::string_view take(std::size_t n);
  std::string_view in_;
  bool good_ = true;
};

// --- bodies of requests

std::string create_body(std::string_view path, std::string_view data, const std::vector<acl>& rights, node_kind kind);
std::string path_body(std::string_view path);                   // sync
std::string watch_body(std::string_view path, bool watch);      // exists, get_data, get_children
std::string version_body(std::string_view path, std::int32_t);  // remove, check
std::string data_body(std::string_view path, std::string_view data, std::int32_t version);

struct step {
  op what;
  std::string body;
};
std::string multi_body(const std::vector<step>& steps);

// --- answers

struct created {
  std::string path;
  stat is;  // not of a multi
};
struct node {
  std::string data;
  stat is;
};
struct children {
  std::vector<std::string> names;
  stat is;
};
std::optional<created> read_created(std::string_view body);
std::optional<node> read_node(std::string_view body);
std::optional<stat> read_stat(std::string_view body);
std::optional<children> read_children(std::string_view body);

// One result for each step: what of the failed ones is an error, and of the others perhaps the path or the stat.
struct step_result {
  std::int32_t error = ok;
  std::string path;
  stat is;
};
std::optional<std::vector<step_result>> read_multi(std::string_view body);
std::int32_t error_of(const std::vector<step_result>&);  // why it was not carried out, if it was not

struct header {
  std::int32_t xid = 0;
  std::int64_t zxid = 0;
  std::int32_t error = ok;
};
struct event {
  enum class kind : std::int32_t { session = -1, made = 1, removed = 2, changed = 3, children = 4 };
  kind what;
  std::string path;
};

// Cuts packets out of a stream.
class framer {
 public:
  void add(std::string_view bytes) { in_ += bytes; }
  // Empty: more must come, or the stream is broken.
  std::optional<std::string_view> next();
  void done() { at_ = shown_; }  // with what next() showed
  bool broken() const noexcept { return broken_; }
  void clear() {
    in_.clear();
    at_ = shown_ = 0;
    broken_ = false;
  }

 private:
  std::string in_;
  std::size_t at_ = 0, shown_ = 0;
  bool broken_ = false;
};

}  // namespace tyer::zookeeper::wire
