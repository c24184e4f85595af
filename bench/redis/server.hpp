// What the server itself says about the run: how many requests it got, how much memory it uses.
#pragma once

#include "redis/wire.hpp"

#include <cstdint>
#include <string>

namespace bench {

class server {
 public:
  explicit server(const std::string& uri) : wire_(uri) {}

  // Requests of clients so far, everything counted. TIME is left out: the scripts call it themselves, and the server does
  // not tell these apart from the few that clients send.
  std::uint64_t requests();
  // Microseconds that the server spent in scripts, and how many it ran.
  double script_usec();
  std::uint64_t memory();
  // How long this key will live.
  double seconds_to_live(const std::string& key);
  void flush_all() { wire_.call({"FLUSHALL"}); }

 private:
  wire wire_;
};

}  // namespace bench
