// Waits for the lock that a command is guarded under, and looks at that command in the moment it gets it.
//
//   loss_contender URL NAME FILE
//
// Says `queued` when it has begun to wait, and then, in JSON, how many of the command's processes were alive at the grant and
// how long before it the last of them was seen.
#include "cli/loss_record.hpp"

#include <tyer/tyer.hpp>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

namespace {

// A zombie is dead. That its pid may be another's by now is no worry: pids are not used again this soon.
bool alive(int pid) {
  std::ifstream stat{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text;
  if (!std::getline(stat, text)) return false;
  const auto bracket = text.rfind(')');
  return bracket != text.npos && text.at(bracket + 2) != 'Z' && text.at(bracket + 2) != 'X';
}

}  // namespace

int main(int, char** argv) {
  tyer::client client{argv[1]};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  tyer::mutex lock{client, argv[2], {.ttl = std::chrono::seconds{10}}};
  const loss::record& r = loss::open_record(argv[3]);
  std::puts("queued");
  std::fflush(stdout);

  const tyer::hold h = lock.acquire();
  const auto granted = loss::now();
  int living = 0;
  std::int64_t last = 0;
  for (std::uint32_t i = 0; i < r.count; ++i) {
    living += alive(r.lives[i].pid) ? 1 : 0;
    last = std::max<std::int64_t>(last, r.lives[i].last);
  }
  std::printf("{\"processes\": %u, \"alive\": %d, \"dead_for_ms\": %lld}\n", r.count.load(), living,
              static_cast<long long>((granted - last) / 1'000'000));
}
