// The parts of `tools/bench redis`. Each measures Tyer through its public API only.
#pragma once

#include "common/cycles.hpp"

#include <string>

namespace bench {

// Requests per change of owner on one hot name: `waiters` callers over at most 8 clients, no hand-off inside a client.
struct handover {
  double requests;
  double per_second;
};
handover measure_handover(const std::string& uri, int waiters, milliseconds run);

struct keeping {
  double requests_per_1000_holds;  // a round
  double bytes_per_hold_engine;
};
keeping measure_keeping(const std::string& uri, int holds);

struct waiting {
  double bytes_per_waiter;
  int threads_one, threads_all;
};
waiting measure_waiting(const std::string& uri);

// What a name leaves at the server that was locked and unlocked once.
struct leaving {
  double bytes_per_name;
  double seconds;  // until it is gone
};
leaving measure_leaving(const std::string& uri, int names);

}  // namespace bench
