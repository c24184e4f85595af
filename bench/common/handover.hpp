// One hot name, through Tyer's public API, on any engine.
#pragma once

#include "common/cycles.hpp"

#include <cstdint>
#include <functional>

namespace bench {

// `waiters` callers over at most so many clients, each in the engine's queue for itself.
struct handover {
  double requests;  // for each, as the server counts them
  double usec;
};
handover measure_handover(const std::string& uri, int waiters, milliseconds run,
                          const std::function<std::uint64_t()>& requests_so_far, int clients_max = 8);

}  // namespace bench
