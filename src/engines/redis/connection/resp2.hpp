// How we speak to a server, or to a proxy before it, that does not know RESP3.
//
// Such proxies pass on little else than what has a key, and some close the connection on any other command. So all is said
// by EVAL and EVALSHA with one key. Nothing is pushed: waiters look again.
#pragma once

#include <string_view>

namespace tyer::redis::resp2 {

// In the place of a client's name: this connection is greeted without HELLO.
inline constexpr std::string_view marker = "tyer, in RESP2";

// Scripts for the server's time and its INFO, which is empty where it is not allowed.
inline constexpr std::string_view time = "return redis.call('TIME')";
inline constexpr std::string_view info = "local i=redis.pcall('INFO') return type(i)=='string' and i or ''";
inline constexpr std::string_view time_and_info =
    "local t=redis.call('TIME') local i=redis.pcall('INFO') return {t[1],t[2],type(i)=='string' and i or ''}";

}  // namespace tyer::redis::resp2
