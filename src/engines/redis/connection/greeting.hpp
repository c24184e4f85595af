// Messages for a server that refuses the connection: what it said, and what to change in the URI. They never contain a
// password.
#pragma once

#include "engines/redis/config.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tyer::redis::greeting {

// How far an attempt to connect has come.
enum class step : std::uint8_t { looking_up, connecting, securing, greeting, greeted };

// The server rejects the user, the password or the database; a retry does not help.
bool refuses_us(std::string_view error) noexcept;

// The server, or a proxy before it, knows only RESP2.
bool knows_no_hello(std::string_view error) noexcept;

// The first version that has what our scripts need.
std::string too_old(const config&, std::string_view version);

// The server has answered our greeting with an error.
std::string refused(const config&, std::string_view error);

// The time of an attempt was over at that step.
std::string too_slow(const config&, step);

// What to do about a connection that was lost at that step; empty if nothing is known.
std::string advice_when_lost(const config&, step);

}  // namespace tyer::redis::greeting
