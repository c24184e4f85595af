// Checking tokens: a token that nobody checks protects nothing.
//
//   where the data lives        | what checks h.fence()
//   ----------------------------+------------------------------------------------------------------------------------
//   memory of a process         | fence_gate; slot_gates for permits
//   a row of a SQL database     | sql_fence, sql_shared_fence of <tyer/sql_fence.hpp>: pieces of your own UPDATE
//   Redis, Valkey               | redis_fence_script, or redis_fence_function inside your own script
//   the etcd of the lock itself | etcd::guard_txn of <tyer/etcd.hpp>: a comparison of your own transaction, without a token
//
// The rule is the same everywhere. Of two holds that conflict, the later one has the larger token. So an exclusive token
// passes unless a larger token of any mode passed before, and a shared token passes unless an exclusive token at least as
// large passed before. A conversion (shared to exclusive or back) gives the hold a new, larger token, and makes the old one
// stale.
//
// Tokens are ordered everywhere, but not everywhere unique: under Sentinel and Cluster a primary that was replaced without
// knowing it may give the same token as its successor. So an equal token passes again only with the same id: then it is the
// same holder. Readers need no id: they do not conflict with each other, and after a writer no reader with an equal token
// passes.
//
// Check the token *before* the read that the write depends on, and write only if it passed; else a read-modify-write can
// still lose an update.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/fence_pass.hpp>
#include <tyer/hold_id.hpp>
#include <tyer/lock_mode.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyer {
inline namespace v1 {

// The largest tokens that a resource has let in so far, as plain data to store beside it.
struct fence_marks {
  std::uint64_t max_exclusive = 0;
  std::uint64_t max_any = 0;  // if below max_exclusive (marks stored without it), max_exclusive counts
  hold_id exclusive_by{};     // the hold that had max_exclusive, if known

  // gate.enter(h.fence()). An equal token with another id is refused, also if the stored id is not known. A permit conflicts
  // with the others of its slot as an exclusive hold does with all.
  [[nodiscard]] constexpr bool enter(const fence_pass& shown) & noexcept {
    if (shown.mode == lock_mode::shared) return enter_shared(shown.token);
    if (shown.token == 0 || !shown.id || shown.token < largest()) return false;
    if (shown.token == largest() && (shown.token != max_exclusive || shown.id != exclusive_by)) return false;
    max_any = max_exclusive = shown.token;
    exclusive_by = shown.id;
    return true;
  }

  // The weaker form, for callers that have only a token: an equal token passes, whichever hold it belongs to. Correct only
  // where no two servers can grant the same name.
  [[nodiscard]] constexpr bool enter_by_token(std::uint64_t token, lock_mode mode = lock_mode::exclusive) & noexcept {
    if (mode == lock_mode::shared) return enter_shared(token);
    if (token == 0 || token < largest()) return false;
    if (token != max_exclusive) exclusive_by = {};
    max_any = max_exclusive = token;
    return true;
  }

  friend constexpr bool operator==(const fence_marks&, const fence_marks&) = default;

 private:
  constexpr std::uint64_t largest() const noexcept { return max_any < max_exclusive ? max_exclusive : max_any; }
  constexpr bool enter_shared(std::uint64_t token) noexcept {
    if (token <= max_exclusive) return false;
    if (token > max_any) max_any = token;
    return true;
  }
};

// The gate of a resource that lives in memory: lets a hold in unless a larger conflicting token was let in before.
//
// Thread safety: everything may be called from any thread. The gate is not a lock: it orders, it does not exclude.
class fence_gate {
 public:
  fence_gate() = default;
  // For marks loaded from storage.
  explicit fence_gate(const fence_marks& stored) noexcept : marks_(stored) {}

  [[nodiscard]] bool enter(const fence_pass& shown) noexcept {
    std::lock_guard guard{mutex_};
    return marks_.enter(shown);
  }
  [[nodiscard]] bool enter_by_token(std::uint64_t token, lock_mode mode = lock_mode::exclusive) noexcept {
    std::lock_guard guard{mutex_};
    return marks_.enter_by_token(token, mode);
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

// The gates of a resource with permits: one for each slot, since two holds conflict only if they have the same slot. A hold
// of several permits passes all its slots or none, and leaves no trace if one of them refuses it.
//
//   gates.enter(h.slot_numbers(), h.fence())
//
// Thread safety: everything may be called from any thread.
class slot_gates {
 public:
  explicit slot_gates(std::size_t count) : marks_(count) {}

  // False also for a slot out of range, and for an empty list.
  [[nodiscard]] bool enter(std::span<const std::uint32_t> numbers, const fence_pass& shown) noexcept {
    return enter_all(numbers, [&](fence_marks& m) { return m.enter(shown); });
  }
  [[nodiscard]] bool enter_by_token(std::span<const std::uint32_t> numbers, std::uint64_t token) noexcept {
    return enter_all(numbers, [token](fence_marks& m) { return m.enter_by_token(token); });
  }

  std::size_t size() const noexcept { return marks_.size(); }

 private:
  template <class Enter>
  bool enter_all(std::span<const std::uint32_t> numbers, Enter enter_one) noexcept {
    std::lock_guard guard{mutex_};
    for (const auto slot : numbers) {
      if (slot >= marks_.size()) return false;
      if (fence_marks look = marks_[slot]; !enter_one(look)) return false;
    }
    for (const auto slot : numbers) static_cast<void>(enter_one(marks_[slot]));
    return !numbers.empty();
  }

  mutable std::mutex mutex_;
  std::vector<fence_marks> marks_;  // never resized
};

// A function for the top of your own Lua script: `tyer_fence(key, token, mode, id)` is true if the token was let in. The last
// three are what redis_fence_arguments() gives. Without an id (nil) an equal token passes, whichever hold it belongs to.
//
//   if not tyer_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) then return 0 end
//   ... what the script reads and writes
//
// The fence is a hash at `key`, of the fields `exclusive`, `any` and `by`. In a cluster the key must live in the hash slot of
// the data it guards (the same {tag}), and like the data it must neither expire nor be evicted. Digits have the same order in
// every locale, so strings of the same length can be compared directly.
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

// The same as a complete script: KEYS[1] is the fence, ARGV is redis_fence_arguments(); answers 1 or 0. If later commands
// write, the script that writes must check the token again.
inline constexpr std::string_view redis_fence_script =
    TYER_FENCE_LUA_ "return tyer_fence(KEYS[1], ARGV[1], ARGV[2], ARGV[3]) and 1 or 0\n";
#undef TYER_FENCE_LUA_

// ARGV of both: the token as a decimal string (Lua's numbers are doubles, which drop the last digits), the mode, which is
// `exclusive` for permits too (of the slot that the key is for), and the id.
[[nodiscard]] inline std::array<std::string, 3> redis_fence_arguments(const fence_pass& shown) {
  return {std::to_string(shown.token), shown.mode == lock_mode::shared ? "shared" : "exclusive", shown.id.text()};
}

}  // namespace v1
}  // namespace tyer
