// bench_zk [--rounds N] [--quick], with the server's URI in TYER_URI: the bare engine and Tyer, interleaved, medians. See
// tools/bench --help.
#include "common/beside.hpp"
#include "zk/beside_peers.hpp"
#include "zk/server.hpp"

#include <tyer/tyer.hpp>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace bench;
using namespace std::chrono_literals;

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

}  // namespace

int main(int argc, char** argv) try {
  const auto w = read_wishes(argc, argv, "zk");
  if (!w) return 2;
  std::vector<double> ratio, latency_ratio;
  std::deque<beside_peer> peers;
  peers.emplace_back(w->uri, "curator", "TYER_BENCH_CURATOR");
  peers.emplace_back(w->uri, "kazoo", "TYER_BENCH_KAZOO");
  for (int i = 0; i < w->rounds; ++i) {
    const auto both = measure_beside(w->uri, w->each());
    ratio.push_back(both.ratio);
    latency_ratio.push_back(both.latency_ratio);
    for (auto& p : peers) p.one_round(both, w->each());
  }
  const double writes = writes_per_lock(w->uri, w->quick ? 50 : 500);
  const zk_server s{w->uri};
  const auto requests = [&] { return s.requests(); };
  const auto two = shown_handover(w->uri, 2, w->each(), requests);
  const auto many_waiters = shown_handover(w->uri, beside_peer::waiters, w->each(), requests);
  for (auto& p : peers) p.hand_over(two.usec, many_waiters.usec, w->each());
  const auto thousand = shown_handover(w->uri, 1000, w->each() * 2, requests);
  const int holds = w->quick ? 2000 : 20000;
  const auto many = hold_many(w->uri, holds, w->quick ? 3s : 20s);
  std::printf(
      "zk: ratio=%.2f latency_ratio=%.2f reqs_per_handover=%.2f handover_growth=%.2f writes_per_lock=%.2f "
      "renewal_writes_per_s=%.2f sessions_at_%d_holds=%llu%s%s\n",
      median(ratio), median(latency_ratio), std::max(two.requests, thousand.requests), thousand.usec / two.usec, writes,
      many.writes_per_s, holds, static_cast<unsigned long long>(many.sessions), peers[0].words().c_str(),
      peers[1].words().c_str());
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "bench_zk: %s\n", e.what());
  return 1;
}
