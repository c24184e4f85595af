// bench_zk [--rounds N] [--quick], with the server's URI in TYER_URI: the bare engine and Tyer, interleaved, medians. See
// tools/bench --help.
#include "common/handover.hpp"
#include "zk/bare.hpp"
#include "zk/server.hpp"

#include <tyer/tyer.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace bench;
using namespace std::chrono_literals;

struct rounds {
  std::vector<double> ratio, latency_ratio;
};

void one_round(const std::string& uri, milliseconds each, rounds& r) {
  const double bare = bare_pipelined(uri, 64, each);
  const double tyer = tyer_pipelined(uri, 64, each);
  const double p50 = median(bare_sequential(uri, each));
  const double ours = median(tyer_sequential(uri, each));
  r.ratio.push_back(tyer / bare);
  r.latency_ratio.push_back(ours / p50);
  std::printf("64 in flight: bare %.0f/s, tyer %.0f/s; one caller: bare %.0f us, tyer %.0f us\n", bare, tyer, p50, ours);
  std::fflush(stdout);
}

// Of a name that is known, lock and unlock.
double writes_per_lock(const std::string& uri, int cycles) {
  const zk_server s{uri};
  tyer::client client{uri};
  tyer::mutex m{client, "bench/writes"};
  m.acquire().release();
  const auto before = s.writes();
  for (int i = 0; i < cycles; ++i) m.acquire().release();
  return static_cast<double>(s.writes() - before) / cycles;
}

struct holding {
  double writes_per_s;
  std::uint64_t sessions;
};

holding hold_many(const std::string& uri, int holds, milliseconds run) {
  constexpr int threads = 32;
  const zk_server s{uri};
  const auto others = s.connections();
  tyer::client client{uri, {.request_timeout = 60s}};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  std::deque<tyer::mutex> mutexes;
  std::vector<tyer::hold> held(static_cast<std::size_t>(holds));
  for (int i = 0; i < holds; ++i) mutexes.emplace_back(client, "bench/held/" + std::to_string(i));
  {
    std::vector<std::jthread> takers;
    for (int n = 0; n < threads; ++n) {
      takers.emplace_back([&, n] {
        for (auto i = static_cast<std::size_t>(n); i < held.size(); i += threads) held[i] = mutexes[i].acquire();
      });
    }
  }
  std::this_thread::sleep_for(2s);  // until all are watched
  const auto before = s.writes();
  std::this_thread::sleep_for(run);
  const auto written = static_cast<double>(s.writes() - before);
  for (const auto& h : held) {
    if (!h.valid()) throw std::runtime_error("a hold was lost while it was being kept");
  }
  return {written / std::chrono::duration<double>(run).count(), s.connections() - others};
}

handover shown_handover(const std::string& uri, int waiters, milliseconds each) {
  const zk_server s{uri};
  const auto h = measure_handover(uri, waiters, each, [&] { return s.requests(); });
  std::printf("hand-over, %d waiters: %.2f requests each, %.0f us\n", waiters, h.requests, h.usec);
  std::fflush(stdout);
  return h;
}

}  // namespace

int main(int argc, char** argv) try {
  const char* from_env = std::getenv("TYER_URI");
  if (from_env == nullptr) {
    std::fprintf(stderr, "bench_zk: TYER_URI is not set; start it with tools/bench zk\n");
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
  rounds r;
  for (int i = 0; i < n; ++i) one_round(uri, each, r);
  const double writes = writes_per_lock(uri, quick ? 50 : 500);
  const auto two = shown_handover(uri, 2, each);
  const auto thousand = shown_handover(uri, 1000, each * 2);
  const auto many = hold_many(uri, quick ? 2000 : 20000, quick ? 3s : 20s);
  std::printf(
      "zk: ratio=%.2f latency_ratio=%.2f reqs_per_handover=%.2f handover_growth=%.2f writes_per_lock=%.2f "
      "renewal_writes_per_s=%.2f sessions_at_%d_holds=%llu\n",
      median(r.ratio), median(r.latency_ratio), std::max(two.requests, thousand.requests), thousand.usec / two.usec, writes,
      many.writes_per_s, quick ? 2000 : 20000, static_cast<unsigned long long>(many.sessions));
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_zk: %s\n", e.what());
  return 1;
}
