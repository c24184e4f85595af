// Words for a server that does not let us in: what it said, and what the one who wrote the URI can do about it. Never with
// a password in them.
#pragma once

#include "engines/redis/config.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tyer::redis::greeting {

// How far an attempt to be connected has come.
enum class step : std::uint8_t { looking_up, connecting, securing, greeting, greeted };

// It knows us not, or not as who we say we are; to ask again does not help.
bool refuses_login(std::string_view error) noexcept;

// The server has answered our greeting with an error.
std::string refused(const config&, std::string_view error);

// The time of an attempt was over at that step.
std::string too_slow(const config&, step);

// What to do about a connection that was lost at that step; empty if nothing is known.
std::string advice_when_lost(const config&, step);

}  // namespace tyer::redis::greeting
