// bench_handoff [--rounds N] [--quick], with the server's URI in TYER_URI: one hot name with hand-off inside the process,
// without, and on the bare engine, interleaved, medians. See tools/bench --help.
#include "handoff/suite.hpp"
#include "redis/bare.hpp"

#include <tyer/options.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace bench;
using namespace std::chrono_literals;

constexpr int threads = 64;
constexpr int processes = 4;
const std::uint32_t handoffs = tyer::lock_options{}.local_handoffs;

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

// Lock + unlock on one key, one after the other on one connection.
double bare_rate(const std::string& uri, dialect d, milliseconds run) {
  const auto usec = bare_sequential(uri, d, run);
  return static_cast<double>(usec.size()) * 1e6 / std::accumulate(usec.begin(), usec.end(), 0.0);
}

struct rounds {
  std::vector<double> gain, bare_ratio, share;
  bool within_bound = true;
};

void one_round(const std::string& uri, milliseconds each, rounds& r) {
  const double set_nx = bare_rate(uri, dialect::set_nx, each);
  const double with = take_turns(uri, threads, handoffs, each).per_second();
  const double scripts = bare_rate(uri, dialect::our_scripts, each);
  const double without = take_turns(uri, threads, 0, each).per_second();
  const auto c = hold_contest(processes, threads / processes, handoffs, each);
  r.gain.push_back(with / without);
  r.bare_ratio.push_back(with / std::max(set_nx, scripts));
  r.share.push_back(c.share_min_max());
  r.within_bound = r.within_bound && c.turns_per_grant_max <= handoffs + 1;
  std::printf(
      "%d threads: with hand-off %.0f/s, without %.0f/s; bare one after the other: SET NX %.0f/s, same scripts "
      "%.0f/s\n",
      threads, with, without, set_nx, scripts);
  std::printf("%d x %d threads: %.0f/s, turns", processes, threads / processes, c.per_second);
  for (const auto n : c.turns_of) std::printf(" %zu", n);
  std::printf("; at most %zu a grant (bound %u), %zu of one process in a row\n", c.turns_per_grant_max, handoffs + 1,
              c.run_max);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const char* from_env = std::getenv("TYER_URI");
  if (from_env == nullptr) {
    std::fprintf(stderr, "bench_handoff: TYER_URI is not set; start it with tools/bench handoff\n");
    return 2;
  }
  const std::string uri = from_env;
  if (argc == 5 && std::strcmp(argv[1], "--contestant") == 0) {
    return be_contestant(uri, std::atoi(argv[2]), static_cast<std::uint32_t>(std::atoi(argv[3])),
                         milliseconds{std::atoi(argv[4])});
  }
  int n = 5;
  auto each = 2000ms;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) each = 300ms;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) n = std::max(1, std::atoi(argv[++i]));
  }
  rounds r;
  for (int i = 0; i < n; ++i) one_round(uri, each, r);
  if (!r.within_bound) throw std::runtime_error("more turns of one grant than local_handoffs + 1");
  std::printf("handoff: handoff_gain=%.1f bare_ratio=%.2f share_min_max=%.2f\n", median(r.gain), median(r.bare_ratio),
              median(r.share));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_handoff: %s\n", e.what());
  return 1;
}
