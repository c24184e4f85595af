// What a client tells about its locks: losses, waits that take long and who has the lock, and whether the engine is there.
//
//   events redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <atomic>
#include <iostream>
#include <string_view>

using namespace std::chrono_literals;

namespace {

std::atomic<int> slow_waits = 0;

// [event]
void on_event(const tyer::event& e) {
  std::clog << "tyer: " << e.text << '\n';  // 'order/42' has been waited for at shop.cc:31 for 10.0 s; held by …
  if (e.kind == tyer::event_kind::slow_wait) ++slow_waits;
}
// [event]

}  // namespace

int main(int argc, char** argv) try {
  const std::string_view uri = argc > 1 ? argv[1] : "memory://";
  // [option]
  tyer::client client{uri, {.on_event = on_event, .slow_wait = 500ms}};
  // [option]
  tyer::client other{uri, {.label = "night-report"}};
  const tyer::hold theirs = tyer::mutex{other, "order/42"}.acquire();
  const tyer::hold none = tyer::mutex{client, "order/42"}.try_acquire_for(1s);
  client.close();  // what was to be told has been told then
  return !none && slow_waits == 1 ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
