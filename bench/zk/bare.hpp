// The reference: a connection that does nothing but send the engine's own three requests.
#pragma once

#include "common/cycles.hpp"

namespace bench {

// Lock + unlock cycles per second, `deep` names under way at once on one connection, one thread.
double bare_pipelined(const std::string& uri, int deep, milliseconds run);

// Microseconds of each lock + unlock, one after the other.
std::vector<double> bare_sequential(const std::string& uri, milliseconds run);

}  // namespace bench
