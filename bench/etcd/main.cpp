// bench_etcd [--rounds N] [--quick], with the server's URI in TYER_URI: the bare engine and Tyer, interleaved, medians. See
// tools/bench --help.
#include "common/beside.hpp"
#include "etcd/peer.hpp"
#include "etcd/server.hpp"
#include "etcd/suite.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace bench;
using namespace std::chrono_literals;

struct rounds {
  std::vector<double> ratio, latency_ratio, go_ratio, go_ratio64;
};

void one_round(const std::string& uri, const peer& go, milliseconds each, rounds& r) {
  const auto both = measure_beside(uri, each);
  r.ratio.push_back(both.ratio);
  r.latency_ratio.push_back(both.latency_ratio);
  if (!go.is_there()) return;
  const double go64 = go.many(64, each), go_p50 = go.one(each);
  r.go_ratio64.push_back(both.cycles / go64);
  r.go_ratio.push_back(go_p50 / both.usec);
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

}  // namespace

int main(int argc, char** argv) try {
  const auto w = read_wishes(argc, argv, "etcd");
  if (!w) return 2;
  const std::string& uri = w->uri;
  const milliseconds each = w->each();
  const peer go{uri};
  rounds r;
  for (int i = 0; i < w->rounds; ++i) one_round(uri, go, each, r);
  const double history = history_growth(uri, w->quick ? 1000 : 20000);
  const double growth = keepalive_growth(uri, w->quick ? 1000 : 10000, w->quick ? 6s : 45s);
  const auto streams = measure_watch_streams(uri, 1000);
  const etcd_server s{uri};
  const auto requests = [&] { return s.requests(); };
  const auto two = shown_handover(uri, 2, each, requests);
  const auto thousand = shown_handover(uri, 1000, each * 2, requests);
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
