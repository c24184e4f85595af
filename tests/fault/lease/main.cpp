// Holds one name for as long as it can, takes it again when it was lost, and says until when it had believed.
//
//   fault_lease URI TTL_MS NAME      says `held` and `lost NANOSECONDS` (of CLOCK_BOOTTIME: its last valid_until)
#include <tyer/tyer.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;

// What it believes is known here only when it looks; so it looks often, and while it is stopped it believes nothing new.
long long believed_until(const tyer::hold& h) {
  auto until = h.valid_until();
  while (h.valid()) {
    until = std::max(until, h.valid_until());
    std::this_thread::sleep_for(1ms);
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::max(until, h.valid_until()).time_since_epoch())
      .count();
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fputs("fault_lease URI TTL_MS NAME\n", stderr);
    return 2;
  }
  const tyer::client client{words[1]};
  const tyer::mutex lock{client, words[3], {.ttl = std::chrono::milliseconds{std::stoll(words[2])}}};
  for (;;) {
    tyer::failure why;
    const tyer::hold h = lock.acquire(why);
    if (!h) {
      std::this_thread::sleep_for(50ms);
      continue;
    }
    std::puts("held");
    std::fflush(stdout);
    std::printf("lost %lld\n", believed_until(h));
    std::fflush(stdout);
  }
}
