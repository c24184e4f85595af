// What the scripts answer, and what the server says instead.
#pragma once

#include "engine/engine.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace tyer::redis {

// Permits of one name, and holders of one name: holders.lua knows the second number too.
inline constexpr std::uint32_t capacity_max = 65'536, holders_max = 10'000;

// An acquire that reached the server too late did nothing, but tells the server's time.
struct too_late {
  std::chrono::microseconds server{};
};

// Of acquire and convert. A conversion tells itself how long the hold still lives.
std::variant<engine::answer, too_late, engine::failure> parse_acquire(std::string_view text,
                                                                      std::chrono::milliseconds ttl);
// '0-2 7-7'. Nothing if it is not that, or more than there may be.
std::optional<std::vector<std::uint32_t>> parse_slots(std::string_view runs);
std::variant<engine::fate, engine::failure> parse_fate(std::string_view text);
// A letter for each of `count` targets, which were to be kept for `ttl`.
std::variant<engine::kept, engine::failure> parse_kept(std::string_view text, std::size_t count,
                                                       std::chrono::milliseconds ttl);
std::variant<std::uint32_t, engine::failure> parse_count(std::string_view text);

// In a cluster, while a slot is on its way, the keys of a name may lie on two nodes: nothing was done.
engine::failure moving();

// An error reply of the server (`NOPERM this user has no permissions…`), sorted by what it means for the request.
engine::failure refusal(std::string_view error);

bool is_noscript(std::string_view error);
bool is_redirection(std::string_view error);  // MOVED, ASK
bool is_bad_login(std::string_view error);

// After this the connection is of no use: the server has become a replica, or forgot who we are.
bool ends_connection(std::string_view error);

}  // namespace tyer::redis
