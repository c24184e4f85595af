// One holds for long, one waits (the head), K clients try for 50 ms each again and again. Counts the head's requests by its stats.
#include <tyer/tyer.hpp>
#include <cstdio>
#include <thread>
#include <vector>
#include <memory>
#include <atomic>
using namespace std::chrono_literals;
int main(int argc, char** argv) {
  const std::string uri = argv[1];
  const int k = std::atoi(argv[2]);
  tyer::client a{uri}, head{uri};
  tyer::mutex am{a, "c"}, hm{head, "c"};
  auto h = am.acquire();
  std::jthread waits{[&](std::stop_token s) { try { (void)hm.acquire(s); } catch (...) {} }};
  std::this_thread::sleep_for(1s);
  std::atomic<bool> stop{false};
  std::atomic<int> tries{0};
  std::vector<std::thread> ts;
  for (int i = 0; i < k; ++i) ts.emplace_back([&] {
    tyer::client c{uri};
    tyer::mutex m{c, "c"};
    while (!stop) { (void)m.try_acquire_for(50ms); ++tries; }
  });
  std::this_thread::sleep_for(5s);
  std::printf("tries %d in 5 s\n", tries.load());
  std::this_thread::sleep_for(100ms);
  stop = true;
  for (auto& t : ts) t.join();
  std::printf("done\n");
}
