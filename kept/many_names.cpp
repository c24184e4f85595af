// One client holds N names, another waits for each. argv: uri N ttl_ms seconds. Prints each second.
#include <tyer/tyer.hpp>
#include <tyer/async.hpp>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>
#include <mutex>
#include <memory>
using namespace std::chrono_literals;
int main(int argc, char** argv) {
  const std::string uri = argv[1];
  const int n = std::atoi(argv[2]);
  const auto ttl = std::chrono::milliseconds{std::atoi(argv[3])};
  const int secs = std::atoi(argv[4]);
  auto log = [](tyer::log_level, std::string_view w) { std::printf("   log: %.*s\n", int(w.size()), w.data()); std::fflush(stdout); };
  tyer::client a{uri, {.log = log}}, b{uri, {.log = log}};
  std::vector<std::unique_ptr<tyer::mutex>> am, bm;
  std::mutex m;
  std::vector<tyer::hold> ah, bh;
  std::vector<std::unique_ptr<std::stop_callback<std::function<void()>>>> cbs;
  std::atomic<int> got{0}, bgot{0}, failed{0}, lost{0};
  std::string last;
  auto t0 = std::chrono::steady_clock::now();
  for (int i = 0; i < n; ++i) am.push_back(std::make_unique<tyer::mutex>(a, "n/" + std::to_string(i), tyer::lock_options{.ttl = ttl}));
  for (int i = 0; i < n; ++i) bm.push_back(std::make_unique<tyer::mutex>(b, "n/" + std::to_string(i), tyer::lock_options{.ttl = ttl}));
  for (auto& x : am) tyer::start_acquire(*x, [&](tyer::failure f, tyer::hold h) {
    if (f) { ++failed; const std::lock_guard g{m}; last = f.message(); return; }
    const std::lock_guard g{m};
    cbs.push_back(std::make_unique<std::stop_callback<std::function<void()>>>(h.lost(), [&] { ++lost; }));
    ah.push_back(std::move(h)); ++got; });
  while (got + failed < n) std::this_thread::sleep_for(10ms);
  std::printf("held %d failed %d in %.2f s %s\n", got.load(), failed.load(), std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count(), last.c_str());
  failed = 0;
  for (auto& x : bm) tyer::start_acquire(*x, [&](tyer::failure f, tyer::hold h) {
    if (f) { ++failed; const std::lock_guard g{m}; last = f.message(); return; }
    const std::lock_guard g{m}; bh.push_back(std::move(h)); ++bgot; });
  for (int s = 0; s < secs; ++s) {
    std::this_thread::sleep_for(1s);
    const std::lock_guard g{m};
    std::printf("%3d held %d lost %d b_has %d b_failed %d %s\n", s, got.load(), lost.load(), bgot.load(), failed.load(), failed ? last.c_str() : "");
    std::fflush(stdout);
  }
  std::printf("let go\n");
  t0 = std::chrono::steady_clock::now();
  { const std::lock_guard g{m}; cbs.clear(); ah.clear(); }
  for (int s = 0; s < 600 && bgot + failed < n; ++s) std::this_thread::sleep_for(100ms);
  std::printf("b_has %d failed %d after %.2f s\n", bgot.load(), failed.load(), std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count());
  { const std::lock_guard g{m}; bh.clear(); }
  a.close(); b.close();
}
