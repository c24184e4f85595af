// Finds out what answers at a port, for an engine that cannot be reached.
#pragma once

#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <vector>

namespace cli::doctor {

struct server {
  std::string host, port;

  std::string text() const;  // "[::1]:6379"
};

// The servers in "rediss://a:1,b:2", with the engine's own port where none is named. Those whose port is not known are left out.
std::vector<server> servers_in(std::string_view address);

enum class speech {
  unknown_host,
  nobody,       // the connection was refused
  unreachable,  // or nothing came back
  silent,       // it accepts connections and does not answer
  closing,      // it accepts connections and closes them when it is asked, without a word
  redis,        // in plain text
  http,         // in plain text, as etcd does
  zookeeper,    // in plain text
  postgres,
  mysql,
  tls,
  other,
};

struct sighting {
  speech what = speech::unreachable;
  std::string words;  // the system's error or, for another protocol, what the server said
  bool may_be_slow =
      false;  // this is what was seen in the time there was, and proves nothing: an answer may still come
};

// Whether a server of Redis' protocol answers that it does not know this command, which it says also before a login.
bool knows_no(std::string_view command, const server& where, std::chrono::milliseconds at_most);

// How long the server is asked, and how long at most in one language.
struct patience {
  std::chrono::milliseconds all, one;
};

// Begins to ask like a client of each of these, of `expected` first, until it gets an answer; changes nothing at the server.
// Whoever does not want the answer any more need not wait for it.
std::future<sighting> start_looking(const server& where, speech expected, patience p);

// What has been seen, a moment after that time at the latest.
sighting seen_by(std::future<sighting>& look, std::chrono::steady_clock::time_point until);

}  // namespace cli::doctor
