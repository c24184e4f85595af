// Parses the answers of the scripts and the errors of the server.
#pragma once

#include "engine/engine.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace tyer::redis {

// The most permits, and the most holders, of one name: holders.lua has the second number too.
inline constexpr std::uint32_t capacity_max = 65'536, holders_max = 10'000;

// An acquire that reached the server too late did nothing, but returns the server's time.
struct too_late {
  std::chrono::microseconds server{};
};

// For acquire and convert. The answer of a conversion says how long the hold still lives.
std::variant<engine::answer, too_late, engine::failure> parse_acquire(std::string_view text,
                                                                      std::chrono::milliseconds ttl);
// '0-2 7-7'. Nothing if it is malformed or too long.
std::optional<std::vector<std::uint32_t>> parse_slots(std::string_view runs);
std::variant<engine::fate, engine::failure> parse_fate(std::string_view text);
// A letter for each of `count` targets, to be kept for `ttl`.
std::variant<engine::kept, engine::failure> parse_kept(std::string_view text, std::size_t count,
                                                       std::chrono::milliseconds ttl);
std::variant<std::uint32_t, engine::failure> parse_count(std::string_view text);

// In a cluster, while a slot is being migrated, the keys of a name may be on two nodes: nothing was done.
engine::failure moving();

// An error reply of the server (`NOPERM this user has no permissions…`), sorted by what it means for the request.
engine::failure refusal(std::string_view error);

bool is_noscript(std::string_view error);
bool is_redirection(std::string_view error);  // MOVED, ASK

// After this error the connection is useless: the server has become a replica, or has dropped our login.
bool ends_connection(std::string_view error);

}  // namespace tyer::redis
