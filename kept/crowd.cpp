// K clients in this process contend for one name for ever; each grant appends "token pid" to a file with flock for judging. argv: uri K file ttl
#include <tyer/tyer.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <cstdio>
#include <thread>
#include <vector>
#include <memory>
using namespace std::chrono_literals;
int main(int argc, char** argv) {
  const std::string uri = argv[1];
  const int k = std::atoi(argv[2]);
  const int fd = ::open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0644);
  const auto ttl = std::chrono::milliseconds{std::atoi(argv[4])};
  std::vector<std::unique_ptr<tyer::client>> cs;
  for (int i = 0; i < k; ++i) cs.push_back(std::make_unique<tyer::client>(uri));
  std::vector<std::thread> ts;
  for (int i = 0; i < k; ++i) ts.emplace_back([&, i] {
    tyer::mutex m{*cs[i], "crowd", {.ttl = ttl}};
    for (;;) try {
      tyer::hold h = m.acquire();
      char b[128];
      auto put = [&](const char* w) {
        const auto us = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
        const int n = std::snprintf(b, sizeof b, "%s %llu %lld %d %d %d\n", w, (unsigned long long)h.token(), (long long)us, getpid(), i, (int)h.valid());
        if (::write(fd, b, n) != n) std::abort();
      };
      put("in");
      std::this_thread::sleep_for(2ms);
      put("out");
      (void)h.release();
    } catch (const tyer::error& e) { std::printf("%s\n", e.what()); std::this_thread::sleep_for(100ms); }
  });
  for (auto& t : ts) t.join();
}
