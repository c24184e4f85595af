#include "common/beside.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

std::optional<wishes> read_wishes(int argc, char** argv, const char* suite) {
  const char* from_env = std::getenv("TYER_URI");
  if (from_env == nullptr) {
    std::fprintf(stderr, "bench_%s: TYER_URI is not set; start it with tools/bench %s\n", suite, suite);
    return std::nullopt;
  }
  wishes w{from_env};
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) w.quick = true;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) w.rounds = std::max(1, std::atoi(argv[++i]));
  }
  return w;
}

beside measure_beside(const std::string& uri, milliseconds each) {
  const double bare = bare_pipelined(uri, 64, each);
  const double tyer = tyer_pipelined(uri, 64, each);
  const double p50 = median(bare_sequential(uri, each));
  const double ours = median(tyer_sequential(uri, each));
  std::printf("64 in flight: bare %.0f/s, tyer %.0f/s; one caller: bare %.0f us, tyer %.0f us\n", bare, tyer, p50,
              ours);
  std::fflush(stdout);
  return {tyer / bare, ours / p50, tyer, ours};
}

handover shown_handover(const std::string& uri, int waiters, milliseconds each,
                        const std::function<std::uint64_t()>& requests_so_far) {
  const auto h = measure_handover(uri, waiters, each, requests_so_far);
  std::printf("hand-over, %d waiters: %.2f requests each, %.0f us\n", waiters, h.requests, h.usec);
  std::fflush(stdout);
  return h;
}

}  // namespace bench
