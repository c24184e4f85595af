// The parts of `tools/bench etcd`. Each measures Tyer through its public API only.
#pragma once

#include "common/cycles.hpp"

#include <cstdint>
#include <string>

namespace bench {

// Messages per second that the server gets while a client has so many holds and does nothing.
double measure_keeping(const std::string& uri, int holds, milliseconds run);

// Streams of watches that a client opens that waits for so many names.
std::int64_t measure_watch_streams(const std::string& uri, int waiters);

// One name after so many cycles, beside names after 100, when etcd has kept the history of all.
struct aging {
  double young_usec, old_usec;  // p50 of lock + unlock
  double growth;
};
aging measure_aging(const std::string& uri, int age);

}  // namespace bench
