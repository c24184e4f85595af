// The calls of the scripts as words: what follows EVALSHA and the name of the script.
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

// Largest number that a double, so a script, holds exactly.
inline constexpr std::uint64_t exact_max = (std::uint64_t{1} << 53) - 1;

// What is stored with a hold for people is cut there.
inline constexpr std::size_t owner_bytes_max = 512;

// How scripts call a mode.
char letter(engine::mode) noexcept;
engine::mode mode_of(std::string_view letter) noexcept;

// Packed as acquire.lua unpacks it.
struct terms {
  std::chrono::milliseconds ttl{}, place{};  // place 0: do not queue
  std::chrono::microseconds not_after{};     // server time
  std::uint64_t seen = 0;
  std::chrono::milliseconds live{};  // of the keys
  std::uint32_t waiters_max = 0;

  // Left out if it is exclusive and without a lock delay: the common case is the short one.
  engine::mode how = engine::mode::exclusive;
  std::chrono::milliseconds lock_delay{};
  std::uint32_t take = 1, capacity = 1;
};
std::string pack(const terms&);

// What packs the terms of acquire or convert names a time of one server's clock. The same for a server whose clock is ahead
// of that by so much; of other scripts nothing changes.
std::string for_another_clock(std::string_view script, std::string_view packed, std::chrono::microseconds ahead);

// Builds one call after the other in buffers that are reused. The words are valid until the next call.
class commands {
 public:
  using words = std::span<const std::string_view>;

  commands(keys k, std::chrono::milliseconds tombstone_ttl, std::uint32_t waiters_max)
      : keys_(std::move(k)), tombstone_ttl_(tombstone_ttl), waiters_max_(waiters_max) {}

  // The key that says where a call for this name goes. Valid until the next call.
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
  // Every key outlives the longest lease in it, and a place in the queue that becomes a hold just before it ends. Scripts take
  // care of a lock delay that only they know of.
  //
  // The tombstone's time is what is left at least when a token is written. Scripts leave the time to live alone until a
  // sixteenth of it is gone; and a token that several servers agree on is made by one up to a lease before all have it.
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
