// Checking tokens, because a token that nobody checks is decoration.
//
//   where the data lives        | what checks the token
//   ----------------------------+------------------------------------------------------------------------------------
//   memory of a process         | fence_gate; slot_gates for permits
//   a row of a SQL database     | sql_id_fence, sql_shared_id_fence (or without id): pieces of your own UPDATE
//   Redis, Valkey               | redis_fence_script, or redis_fence_function inside your own script
//   the etcd of the lock itself | etcd::guard_txn of <tyer/etcd.hpp>: a comparison of your own transaction, without a token
//
// The rule is the same everywhere. Between two holds that conflict, the later one has the larger token. So an exclusive
// token passes unless a larger one of any mode was let in before, and a shared one unless an exclusive one at least as
// large was. An equal token passes again: it is the same holder coming back. A conversion (shared to exclusive or back)
// gives the hold a new, larger token, and the old one is a stale one like any other.
//
// Tokens are ordered everywhere, but not everywhere unique: under Sentinel and Cluster a primary that was replaced without
// knowing it may give the same token as its successor. So every fence has a second form, which takes the hold's id as well:
// an equal token passes again only with the same id. It is right everywhere; the form without it only where no two servers
// can grant the same name. Readers need no id: they do not conflict, and a writer's token never lets an equal one in.
//
// Show the token *before* the read that the write depends on, and write only if it was let in; else a read-modify-write
// can still lose an update.
#pragma once

#include <tyer/export.hpp>
#include <tyer/hold_id.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tyer {
inline namespace v1 {

// What a resource has let in so far, as plain data to be stored beside it. 0 is no token, and never passes.
struct fence_marks {
  std::uint64_t max_exclusive = 0;
  std::uint64_t max_any = 0;  // never below max_exclusive
  hold_id exclusive_by{};     // who showed max_exclusive, if that is known

  [[nodiscard]] constexpr bool enter(std::uint64_t token) noexcept {
    if (token == 0 || token < max_any) return false;
    if (token != max_exclusive) exclusive_by = {};
    max_any = max_exclusive = token;
    return true;
  }
  // An equal token of another id is refused, and so is one whose id was not kept.
  [[nodiscard]] constexpr bool enter(std::uint64_t token, const hold_id& by) noexcept {
    if (token == 0 || !by || token < max_any) return false;
    if (token == max_any && (token != max_exclusive || by != exclusive_by)) return false;
    max_any = max_exclusive = token;
    exclusive_by = by;
    return true;
  }
  [[nodiscard]] constexpr bool enter_shared(std::uint64_t token) noexcept {
    if (token <= max_exclusive) return false;
    if (token > max_any) max_any = token;
    return true;
  }

  friend constexpr bool operator==(const fence_marks&, const fence_marks&) = default;
};

// The gate of a resource that lives in memory: lets a token in unless a larger conflicting one was let in before.
// `enter` is for exclusive holders; `enter_shared` for shared ones, which do not conflict with each other.
//
// Thread safety: everything may be called from any thread. The gate is not a lock: it orders, it does not exclude.
class fence_gate {
 public:
  fence_gate() = default;
  // For a gate that comes back from storage.
  explicit fence_gate(const fence_marks& stored) noexcept : marks_(stored) {}
  // The same, where only exclusive holders have been.
  explicit fence_gate(std::uint64_t seen) noexcept : marks_{seen, seen} {}

  [[nodiscard]] bool enter(std::uint64_t token) noexcept {
    std::lock_guard guard{mutex_};
    return marks_.enter(token);
  }
  [[nodiscard]] bool enter(std::uint64_t token, const hold_id& by) noexcept {
    std::lock_guard guard{mutex_};
    return marks_.enter(token, by);
  }

  [[nodiscard]] bool enter_shared(std::uint64_t token) noexcept {
    std::lock_guard guard{mutex_};
    return marks_.enter_shared(token);
  }

  std::uint64_t seen() const noexcept { return marks().max_any; }

  fence_marks marks() const noexcept {
    std::lock_guard guard{mutex_};
    return marks_;
  }

 private:
  mutable std::mutex mutex_;
  fence_marks marks_;
};

// The gates of a resource with permits: one for each slot, for two holds conflict only where they have the same slot. A
// hold of several permits passes all its slots or none, and leaves no trace if one of them refuses it.
//
// Thread safety: everything may be called from any thread.
class slot_gates {
 public:
  explicit slot_gates(std::size_t slots) : marks_(slots) {}

  // False also for a slot that there is not.
  [[nodiscard]] bool enter(std::uint32_t slot, std::uint64_t token) noexcept {
    return enter(std::span<const std::uint32_t>{&slot, 1}, token);
  }

  [[nodiscard]] bool enter(std::uint32_t slot, std::uint64_t token, const hold_id& by) noexcept {
    return enter(std::span<const std::uint32_t>{&slot, 1}, token, by);
  }

  [[nodiscard]] bool enter(std::span<const std::uint32_t> slots, std::uint64_t token) noexcept {
    return enter_all(slots, [token](fence_marks& m) { return m.enter(token); });
  }
  [[nodiscard]] bool enter(std::span<const std::uint32_t> slots, std::uint64_t token, const hold_id& by) noexcept {
    return enter_all(slots, [&](fence_marks& m) { return m.enter(token, by); });
  }

  std::size_t size() const noexcept { return marks_.size(); }

 private:
  template <class Enter>
  bool enter_all(std::span<const std::uint32_t> slots, Enter enter_one) noexcept {
    std::lock_guard guard{mutex_};
    for (const auto slot : slots) {
      if (slot >= marks_.size()) return false;
      if (fence_marks look = marks_[slot]; !enter_one(look)) return false;
    }
    for (const auto slot : slots) static_cast<void>(enter_one(marks_[slot]));
    return !slots.empty();
  }

  mutable std::mutex mutex_;
  std::vector<fence_marks> marks_;  // never resized
};

namespace detail {

// name or "name" or `name`, or several with dots between. Not a parser of any database: it only keeps out what could
// end the name and begin something else.
constexpr bool is_sql_name(std::string_view text) noexcept {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  for (std::size_t at = 0;;) {
    if (at == text.size()) return false;
    if (const char quote = text[at]; quote == '"' || quote == '`') {
      const auto end = text.find(quote, at + 1);
      if (end == std::string_view::npos || end == at + 1) return false;
      for (std::size_t i = at + 1; i < end; ++i) {
        if (text[i] == '\\' || text[i] == '\0') return false;
      }
      at = end + 1;
    } else {
      const auto begin = at;
      while (at < text.size() && plain(text[at])) ++at;
      if (at == begin) return false;
    }
    if (at == text.size()) return true;
    if (text[at++] != '.') return false;
  }
}

inline std::string sql_name(std::string_view text) {
  if (!is_sql_name(text)) throw std::invalid_argument{"not the name of a SQL column"};
  return std::string{text};
}

}  // namespace detail

// The place of the token in a statement. It is a BIGINT there whatever type the driver binds it with: beside a string
// MySQL may take a number for floating point, which drops the last digits of a token. Bind hold.token() as a signed
// 64-bit number, or as decimal text.
struct sql_parameter {
  std::string text;

  static sql_parameter mysql() { return {"CAST(? AS SIGNED)"}; }
  static sql_parameter postgresql(unsigned n) { return {"CAST($" + std::to_string(n) + " AS BIGINT)"}; }
};

// The place of the id: bind hold.id().text() as text. Without a cast MySQL compares it as the column does, whatever the
// connection's collation.
struct sql_id_parameter {
  std::string text;

  static sql_id_parameter mysql() { return {"?"}; }
  static sql_id_parameter postgresql(unsigned n) { return {"CAST($" + std::to_string(n) + " AS TEXT)"}; }
};

// The fence of a row that only exclusive holders write: one column, BIGINT, NULL or 0 to begin with.
//
//   UPDATE account SET balance = $1, <set> WHERE id = $2 AND <where>
//
// - The fence is checked by the conditional UPDATE itself, or, where the transaction reads before it writes, by an
//   UPDATE that only sets the fence and is the *first* statement of that transaction: it locks the row, so what is read
//   after it stays as it is until the transaction ends.
// - 0 rows affected: refused (or there is no such row). Roll back.
// - MySQL and MariaDB count by default the rows that *changed*: the same token again, with nothing else to change,
//   counts 0. Connect with CLIENT_FOUND_ROWS.
// - Every piece has one parameter in it (set of sql_shared_fence: two), which counts where parameters are `?`.
//
// Names are put into the text as they are: quote them yourself if they need it, and never take them from input. What is
// not a name or a quoted name throws std::invalid_argument.
class sql_fence {
 public:
  explicit sql_fence(std::string_view column) : column_(detail::sql_name(column)) {}

  std::string set(const sql_parameter& token) const { return column_ + " = " + token.text; }
  std::string where(const sql_parameter& token) const {
    return "(" + column_ + " IS NULL OR " + column_ + " <= " + token.text + ")";
  }

 private:
  std::string column_;
};

// The fence of a row that shared holders use too: two columns, and otherwise as sql_fence.
class sql_shared_fence {
 public:
  sql_shared_fence(std::string_view max_exclusive, std::string_view max_any)
      : exclusive_(detail::sql_name(max_exclusive)), any_(detail::sql_name(max_any)) {}

  std::string set(const sql_parameter& token) const {
    return exclusive_ + " = " + token.text + ", " + any_ + " = " + token.text;
  }
  std::string where(const sql_parameter& token) const {
    return "(" + any_ + " IS NULL OR " + any_ + " <= " + token.text + ")";
  }

  std::string set_shared(const sql_parameter& token) const {
    return any_ + " = GREATEST(COALESCE(" + any_ + ", 0), " + token.text + ")";
  }
  std::string where_shared(const sql_parameter& token) const {
    return "(" + exclusive_ + " IS NULL OR " + exclusive_ + " < " + token.text + ")";
  }

 private:
  std::string exclusive_;
  std::string any_;
};

// As sql_fence, with the id of the hold in a second column: VARCHAR(34), NULL to begin with. Where parameters are `?`, set
// has the token and the id, where has the token twice and then the id.
class sql_id_fence {
 public:
  sql_id_fence(std::string_view column, std::string_view id_column)
      : column_(detail::sql_name(column)), by_(detail::sql_name(id_column)) {}

  std::string set(const sql_parameter& token, const sql_id_parameter& id) const {
    return column_ + " = " + token.text + ", " + by_ + " = " + id.text;
  }
  std::string where(const sql_parameter& token, const sql_id_parameter& id) const {
    return "(" + column_ + " IS NULL OR " + column_ + " < " + token.text + " OR (" + column_ + " = " + token.text +
           " AND " + by_ + " = " + id.text + "))";
  }

 private:
  std::string column_;
  std::string by_;
};

// As sql_shared_fence, with the id of the last exclusive hold in a third column. Shared holds need none. Where parameters
// are `?`, set has the token twice and then the id, and so has where.
class sql_shared_id_fence {
 public:
  sql_shared_id_fence(std::string_view max_exclusive, std::string_view max_any, std::string_view exclusive_by)
      : both_(max_exclusive, max_any),
        exclusive_(detail::sql_name(max_exclusive)),
        any_(detail::sql_name(max_any)),
        by_(detail::sql_name(exclusive_by)) {}

  std::string set(const sql_parameter& token, const sql_id_parameter& id) const {
    return both_.set(token) + ", " + by_ + " = " + id.text;
  }
  std::string where(const sql_parameter& token, const sql_id_parameter& id) const {
    return "(" + any_ + " IS NULL OR " + any_ + " < " + token.text + " OR (" + any_ + " = " + token.text + " AND " +
           exclusive_ + " = " + any_ + " AND " + by_ + " = " + id.text + "))";
  }

  std::string set_shared(const sql_parameter& token) const { return both_.set_shared(token); }
  std::string where_shared(const sql_parameter& token) const { return both_.where_shared(token); }

 private:
  sql_shared_fence both_;
  std::string exclusive_;
  std::string any_;
  std::string by_;
};

// A function for the top of your own Lua script: `tyer_fence(key, token, mode, id)` is true if the token was let in. Mode
// is 'exclusive' or 'shared', the token a decimal string: Lua's numbers are doubles, which drop the last digits. The id is
// hold.id().text(); without it (nil) an equal token passes whoever shows it.
//
//   if not tyer_fence(KEYS[1], ARGV[1], 'exclusive', ARGV[2]) then return 0 end
//   ... what the script reads and writes
//
// The fence is a hash at `key`, of the fields `exclusive`, `any` and `by`. In a cluster the key must live in the slot of
// what it guards (the same {tag}), and like that it must neither expire nor be evicted. Digits have the same order in every
// locale, so strings of one length may be compared as they are.
#define TYER_FENCE_LUA_                                                                                 \
  "local function tyer_fence(key, token, mode, id)\n"                                                   \
  "  if type(token) ~= 'string' or #token > 20 or not token:find('^[1-9]%d*$') then\n"                  \
  "    error('tyer_fence: the token must be a decimal string above 0')\n"                               \
  "  end\n"                                                                                             \
  "  if id ~= nil and (type(id) ~= 'string' or #id ~= 34 or id:find('[^0-9a-f]')) then\n"               \
  "    error('tyer_fence: the id must be the text of a hold_id')\n"                                     \
  "  end\n"                                                                                             \
  "  local function below(a, b) return #a < #b or (#a == #b and a < b) end\n"                           \
  "  local seen = redis.call('HMGET', key, 'exclusive', 'any', 'by')\n"                                 \
  "  local exclusive, any, by = seen[1] or '0', seen[2] or '0', seen[3]\n"                              \
  "  if mode == 'exclusive' then\n"                                                                     \
  "    if below(token, any) then return false end\n"                                                    \
  "    if id and token == any and (token ~= exclusive or id ~= by) then return false end\n"             \
  "    if exclusive == token then return true end\n"                                                    \
  "    redis.call('HSET', key, 'exclusive', token, 'any', token)\n"                                     \
  "    if id then redis.call('HSET', key, 'by', id) elseif by then redis.call('HDEL', key, 'by') end\n" \
  "  elseif mode == 'shared' then\n"                                                                    \
  "    if not below(exclusive, token) then return false end\n"                                          \
  "    if below(any, token) then redis.call('HSET', key, 'any', token) end\n"                           \
  "  else\n"                                                                                            \
  "    error('tyer_fence: the mode must be exclusive or shared')\n"                                     \
  "  end\n"                                                                                             \
  "  return true\n"                                                                                     \
  "end\n"
inline constexpr std::string_view redis_fence_function = TYER_FENCE_LUA_;

// The same as a script of its own: KEYS[1] the fence, ARGV[1] the token, ARGV[2] the mode, ARGV[3] the id, if you show one;
// answers 1 or 0. Whatever is read and written in later commands needs the token shown again with the write, in one script.
inline constexpr std::string_view redis_fence_script =
    TYER_FENCE_LUA_ "return tyer_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) and 1 or 0\n";
#undef TYER_FENCE_LUA_

}  // namespace v1
}  // namespace tyer
