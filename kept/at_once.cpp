// N clients of one process: mode permits|readers|writers: all come at once, all let go at once; and all wait and give up at once.
#include <tyer/tyer.hpp>
#include <cstdio>
#include <thread>
#include <vector>
#include <atomic>
#include <memory>
#include <barrier>
using namespace std::chrono_literals;
using clk = std::chrono::steady_clock;
int main(int argc, char** argv) {
  const std::string uri = argv[1], what = argv[2];
  const int n = std::atoi(argv[3]);
  std::vector<std::unique_ptr<tyer::client>> cs;
  for (int i = 0; i < n; ++i) cs.push_back(std::make_unique<tyer::client>(uri));
  for (auto& c : cs) c->wait_ready();
  std::barrier gate{n + 1};
  std::atomic<int> ok{0}, bad{0};
  std::atomic<double> worst_a{0}, worst_r{0};
  const auto max = [](std::atomic<double>& m, double v) { double o = m; while (v > o && !m.compare_exchange_weak(o, v)) {} };
  tyer::client first{uri};
  tyer::mutex blocker{first, "crowd"};
  tyer::hold block;
  if (what == "giveup") block = blocker.acquire();
  std::vector<std::thread> ts;
  for (int i = 0; i < n; ++i) ts.emplace_back([&, i] {
    tyer::semaphore sem{*cs[i], "sem", static_cast<std::uint32_t>(n)};
    tyer::shared_mutex sh{*cs[i], "sh"};
    tyer::mutex mx{*cs[i], "crowd"};
    for (int round = 0; round < 3; ++round) {
      gate.arrive_and_wait();
      const auto t0 = clk::now();
      tyer::hold h;
      std::string why;
      try {
        h = what == "permits" ? sem.acquire() : what == "readers" ? sh.shared().acquire() : mx.try_acquire_for(3s);
      } catch (const tyer::error& e) { why = e.what(); }
      max(worst_a, std::chrono::duration<double>(clk::now() - t0).count());
      if (h || (what == "giveup" && why.empty())) ++ok; else { if (++bad < 4) std::printf("  %s\n", why.c_str()); }
      gate.arrive_and_wait();
      const auto t1 = clk::now();
      if (h) try { (void)h.release(); } catch (const tyer::error& e) { std::printf("  release: %s\n", e.what()); }
      max(worst_r, std::chrono::duration<double>(clk::now() - t1).count());
      gate.arrive_and_wait();
    }
  });
  for (int round = 0; round < 3; ++round) {
    gate.arrive_and_wait();
    gate.arrive_and_wait();
    gate.arrive_and_wait();
    std::printf("%s %d round %d ok %d bad %d worst acquire %.3f s release %.3f s\n", what.c_str(), n, round, ok.load(), bad.load(), worst_a.load(), worst_r.load());
    std::fflush(stdout);
    ok = bad = 0; worst_a = worst_r = 0;
  }
  for (auto& t : ts) t.join();
}
