// What the scripts answer, and what the server says instead.
#pragma once

#include "engine/engine.hpp"

#include <chrono>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace tyer::redis {

// An acquire that reached the server too late did nothing, but tells the server's time.
struct too_late {
  std::chrono::microseconds server{};
};

std::variant<engine::answer, too_late, engine::failure> parse_acquire(std::string_view text,
                                                                      std::chrono::milliseconds ttl);
std::variant<engine::fate, engine::failure> parse_fate(std::string_view text);
std::variant<std::vector<engine::fate>, engine::failure> parse_fates(std::string_view text, std::size_t count);
std::variant<std::uint32_t, engine::failure> parse_count(std::string_view text);

// An error reply of the server (`NOPERM this user has no permissions…`), sorted by what it means for the request.
engine::failure refusal(std::string_view error);

bool is_noscript(std::string_view error);
bool is_bad_login(std::string_view error);

// After this the connection is of no use: the server has become a replica, or forgot who we are.
bool ends_connection(std::string_view error);

}  // namespace tyer::redis
