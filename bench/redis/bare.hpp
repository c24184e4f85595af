// The reference: what the engine itself can do, with and without our scripts.
#pragma once

#include "redis/wire.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace bench {

using std::chrono::milliseconds;

// How a lock and an unlock look on the wire.
enum class dialect {
  set_nx,       // SET NX PX, then compare-and-delete: no token, no queue
  our_scripts,  // the scripts of Tyer's engine
};

// Lock + unlock cycles per second, `deep` names under way at once on one connection, written out every 16 replies.
double bare_pipelined(const std::string& uri, dialect d, int deep, milliseconds run);

// Microseconds of each lock + unlock, one after the other.
std::vector<double> bare_sequential(const std::string& uri, dialect d, milliseconds run);

}  // namespace bench
