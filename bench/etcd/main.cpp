// bench_etcd [--rounds N] [--quick], with the server's URI in TYER_URI: the bare engine and Tyer, interleaved, medians. See
// tools/bench --help.
#include "common/peer.hpp"
#include "etcd/bare.hpp"
#include "etcd/suite.hpp"

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
  std::vector<double> ratio, latency_ratio, go_ratio, go_ratio64;
};

void one_round(const std::string& uri, const peer& go, milliseconds each, rounds& r) {
  const double bare = bare_pipelined(uri, 64, each);
  const double tyer = tyer_pipelined(uri, 64, each);
  const double p50 = median(bare_sequential(uri, each));
  const double ours = median(tyer_sequential(uri, each));
  r.ratio.push_back(tyer / bare);
  r.latency_ratio.push_back(ours / p50);
  std::printf("64 in flight: bare %.0f/s, tyer %.0f/s; one caller: bare %.0f us, tyer %.0f us\n", bare, tyer, p50,
              ours);
  std::fflush(stdout);
  if (!go.is_there()) return;
  const double go64 = go.many(64, each), go_p50 = go.one(each);
  r.go_ratio64.push_back(tyer / go64);
  r.go_ratio.push_back(go_p50 / ours);
  std::printf("Go: 64 callers on 64 names %.0f/s; one caller %.0f us\n", go64, go_p50);
  std::fflush(stdout);
}

double history_growth(const std::string& uri, int age) {
  const auto a = measure_aging(uri, age);
  std::printf("one name: %.0f us at cycle 100, %.0f us at cycle %d\n", a.young_usec, a.old_usec, age);
  std::fflush(stdout);
  return a.growth;
}

double keepalive_growth(const std::string& uri, int many, milliseconds run) {
  const double one = measure_keeping(uri, 1, run);
  std::printf("idle: %.2f messages a second with 1 hold", one);
  std::fflush(stdout);
  const double all = measure_keeping(uri, many, run);
  std::printf(", %.2f with %d\n", all, many);
  std::fflush(stdout);
  return all / one;
}

handover shown_handover(const std::string& uri, int waiters, milliseconds each) {
  const auto h = measure_handover(uri, waiters, each);
  std::printf("hand-over, %d waiters: %.2f requests each, %.0f us\n", waiters, h.requests, h.usec);
  std::fflush(stdout);
  return h;
}

}  // namespace

int main(int argc, char** argv) try {
  const char* from_env = std::getenv("TYER_URI");
  if (from_env == nullptr) {
    std::fprintf(stderr, "bench_etcd: TYER_URI is not set; start it with tools/bench etcd\n");
    return 2;
  }
  const std::string uri = from_env;
  int n = 5;
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) n = std::max(1, std::atoi(argv[++i]));
  }
  const milliseconds each = quick ? 300ms : 2000ms;
  const peer go{uri, "TYER_BENCH_GO"};
  rounds r;
  for (int i = 0; i < n; ++i) one_round(uri, go, each, r);
  const double history = history_growth(uri, quick ? 1000 : 20000);
  const double growth = keepalive_growth(uri, quick ? 1000 : 10000, quick ? 6s : 45s);
  const auto streams = measure_watch_streams(uri, 1000);
  const auto two = shown_handover(uri, 2, each);
  const auto thousand = shown_handover(uri, 1000, each * 2);
  std::printf("hand-over, from 2 to 1000 waiters: requests x%.2f, latency x%.1f\n", thousand.requests / two.requests,
              thousand.usec / two.usec);
  std::string beside_go;
  if (go.is_there()) {
    const double go_two = go.handover(2, each), go_thousand = go.handover(1000, each * 2);
    std::printf("hand-over, Go: 2 waiters %.0f us, 1000 waiters %.0f us\n", go_two, go_thousand);
    char text[120];
    std::snprintf(text, sizeof text, " go_ratio=%.2f go_ratio64=%.2f go_handover_ratio=%.2f", median(r.go_ratio),
                  median(r.go_ratio64), std::min(go_two / two.usec, go_thousand / thousand.usec));
    beside_go = text;
  }
  std::printf(
      "etcd: ratio=%.2f latency_ratio=%.2f keepalive_growth=%.2f watch_streams=%lld%s history_growth=%.2f "
      "reqs_per_handover=%.2f handover_growth=%.2f\n",
      median(r.ratio), median(r.latency_ratio), growth, static_cast<long long>(streams), beside_go.c_str(), history,
      thousand.requests, thousand.usec / two.usec);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_etcd: %s\n", e.what());
  return 1;
}
