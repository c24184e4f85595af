// bench_redis [--rounds N] [--quick], with the server's URI in TYER_URI: the bare engine and Tyer, interleaved, medians. See tools/bench --help.
#include "redis/bare.hpp"
#include "redis/suite.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace bench;
using namespace std::chrono_literals;

struct rounds {
  std::vector<double> same_script, set_nx, tyer, same_script_ratio, set_nx_ratio;
  std::vector<double> bare_p50, tyer_p50, latency_ratio;
};

void one_round(const std::string& uri, std::chrono::milliseconds each, rounds& r) {
  const double bare = bare_pipelined(uri, dialect::our_scripts, 64, each);
  const double tyer = tyer_pipelined(uri, 64, each);
  const double nx = bare_pipelined(uri, dialect::set_nx, 64, each);
  const double p50 = median(bare_sequential(uri, dialect::set_nx, each));
  const double ours = median(tyer_sequential(uri, each));
  r.same_script.push_back(bare);
  r.set_nx.push_back(nx);
  r.tyer.push_back(tyer);
  r.same_script_ratio.push_back(tyer / bare);
  r.set_nx_ratio.push_back(tyer / nx);
  r.bare_p50.push_back(p50);
  r.tyer_p50.push_back(ours);
  r.latency_ratio.push_back(ours / p50);
  std::printf(
      "64 in flight: bare same scripts %.0f/s, bare SET NX %.0f/s, tyer %.0f/s; one caller: bare %.1f us, tyer %.1f "
      "us\n",
      bare, nx, tyer, p50, ours);
  std::fflush(stdout);
}

double worst_handover(const std::string& uri, std::chrono::milliseconds each) {
  double worst = 0;
  for (const int waiters : {2, 64, 1000}) {
    const auto h = measure_handover(uri, waiters, each);
    std::printf("hand-over, %d waiters: %.3f requests each, %.0f/s\n", waiters, h.requests, h.per_second);
    std::fflush(stdout);
    worst = std::max(worst, h.requests);
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) try {
  const char* from_env = std::getenv("TYER_URI");
  if (from_env == nullptr) {
    std::fprintf(stderr, "bench_redis: TYER_URI is not set; start it with tools/bench redis\n");
    return 2;
  }
  const std::string uri = from_env;
  int n = 5;
  auto each = 2000ms;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) each = 300ms;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) n = std::max(1, std::atoi(argv[++i]));
  }
  rounds r;
  for (int i = 0; i < n; ++i) one_round(uri, each, r);
  const double requests = worst_handover(uri, each);
  const auto waiting = measure_waiting(uri);
  const auto keeping = measure_keeping(uri, 100000);
  const auto leaving = measure_leaving(uri, 20000);
  std::printf("threads: %d with one waiter, %d with 20000\n", waiting.threads_one, waiting.threads_all);
  std::printf(
      "redis: same_script_ratio=%.2f setnx_ratio=%.2f latency_ratio=%.2f reqs_per_handover=%.2f "
      "keep_reqs_per_1000_holds=%.1f bytes_per_waiter=%.0f threads=%d bytes_per_hold_engine=%.0f "
      "bytes_left_per_name=%.0f seconds_left=%.0f\n",
      median(r.same_script_ratio), median(r.set_nx_ratio), median(r.latency_ratio), requests,
      keeping.requests_per_1000_holds, waiting.bytes_per_waiter, waiting.threads_all, keeping.bytes_per_hold_engine,
      leaving.bytes_per_name, leaving.seconds);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_redis: %s\n", e.what());
  return 1;
}
