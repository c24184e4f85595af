// What the suites of engines have in common: a bare connection beside Tyer, in turns, and one hot name.
#pragma once

#include "common/handover.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bench {

// The bare connection does nothing but send the engine's own requests; each suite has its own.
//
// Lock + unlock cycles per second, `deep` names under way at once on one connection, one thread.
double bare_pipelined(const std::string& uri, int deep, milliseconds run);
// Microseconds of each lock + unlock, one after the other.
std::vector<double> bare_sequential(const std::string& uri, milliseconds run);

struct wishes {
  std::string uri;
  int rounds = 5;
  bool quick = false;
  milliseconds each() const { return milliseconds{quick ? 300 : 2000}; }
};
// From TYER_URI and the arguments; nothing, and said why, if there is no server.
std::optional<wishes> read_wishes(int argc, char** argv, const char* suite);

// Both say what they found, too.
struct beside {
  double ratio, latency_ratio;
  double cycles, usec;  // of Tyer
};
beside measure_beside(const std::string& uri, milliseconds each);
handover shown_handover(const std::string& uri, int waiters, milliseconds each,
                        const std::function<std::uint64_t()>& requests_so_far);

}  // namespace bench
