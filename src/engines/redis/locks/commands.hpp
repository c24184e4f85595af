// The arguments of script calls: what follows EVALSHA and the sha1 of the script.
#pragma once

#include "engine/engine.hpp"
#include "engines/redis/locks/keys.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::redis {

// The largest integer that a double, and so a script, holds exactly.
inline constexpr std::uint64_t exact_max = (std::uint64_t{1} << 53) - 1;

// The owner text of a hold is cut to this length.
inline constexpr std::size_t owner_bytes_max = 512;

// The letter of a mode in the scripts.
char letter(engine::mode) noexcept;
engine::mode mode_of(std::string_view letter) noexcept;

// Packed as acquire.lua unpacks it.
struct terms {
  std::chrono::milliseconds ttl{}, place{};  // place 0: do not queue
  std::chrono::microseconds not_after{};     // server time
  std::uint64_t seen = 0;
  std::chrono::milliseconds live{};  // of the keys
  std::uint32_t waiters_max = 0;

  // Left out for an exclusive lock without a lock delay, so that the common case is short.
  engine::mode how = engine::mode::exclusive;
  std::chrono::milliseconds lock_delay{};
  std::uint32_t take = 1, capacity = 1;
};
std::string pack(const terms&);

// The packed terms of acquire and convert contain a time of one server's clock. Converts them for a server whose clock is
// ahead by `ahead`; the arguments of other scripts do not change.
std::string for_another_clock(std::string_view script, std::string_view packed, std::chrono::microseconds ahead);

// Builds one call after the other in buffers that are reused. The words are valid until the next call.
class commands {
 public:
  using words = std::span<const std::string_view>;

  commands(keys k, std::chrono::milliseconds tombstone_ttl, std::uint32_t waiters_max)
      : keys_(std::move(k)), tombstone_ttl_(tombstone_ttl), waiters_max_(waiters_max) {}

  // The key that decides where a call for this name goes. Valid until the next call.
  std::string_view key(std::string_view name);

  words acquire(const engine::request&, std::chrono::microseconds not_after);
  words release(const engine::target&, bool clean);
  words evict(const engine::target&);
  words convert(const engine::target&, engine::mode to, std::chrono::microseconds not_after);
  words lift(const engine::target&, std::uint64_t part);
  words keep(std::span<const engine::target>, std::chrono::milliseconds ttl);
  words ask(std::string_view name, std::string_view reason);
  words show(std::string_view key, std::uint32_t waiters_max);

  const redis::keys& names() const noexcept { return keys_; }

 private:
  // How long keys live: longer than the longest lease in them, and than a place in the queue that becomes a hold just
  // before it ends. The scripts add a lock delay that only they know.
  //
  // The tombstone's time is the least that remains after a token is written. It includes a reserve, since scripts do not
  // renew the time to live until a sixteenth of it has passed, and since a token that several servers agree on is made by
  // one of them up to a lease before all have it.
  std::chrono::milliseconds live(std::chrono::milliseconds lease) const {
    return (std::max(tombstone_ttl_, lease * 2) + lease) * 15 / 14;
  }
  std::string_view digits(std::string& buffer, std::int64_t);

  redis::keys keys_;
  std::chrono::milliseconds tombstone_ttl_;
  std::uint32_t waiters_max_;

  std::string key_, who_, packed_, first_, second_;
  std::vector<std::string_view> words_;
  std::vector<std::size_t> ends_;
};

}  // namespace tyer::redis
