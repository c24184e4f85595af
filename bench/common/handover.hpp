// One name that many want, through Tyer's public API, on any engine.
#pragma once

#include "common/cycles.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace bench {

struct handover {
  double requests;  // for each, as the server counts them
  double usec;
};

// `waiters` callers over at most 8 clients, each in the engine's queue for itself.
handover measure_handover(const std::string& uri, int waiters, milliseconds run,
                          const std::function<std::uint64_t()>& requests);

}  // namespace bench
