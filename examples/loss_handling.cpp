// A lock can be lost: the network, the engine or an operator may take it away. Losing it is an event, and work that goes
// on for long should stop when it comes.
//
//   loss_handling redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <stop_token>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

// [work]
// Rebuilds row after row, and stops between two rows when the lock is lost.
bool rebuild(const std::vector<std::string>& rows, const std::stop_token& lost) {
  for (const std::string& row : rows) {
    if (lost.stop_requested()) return false;
    std::cout << "rebuilt " << row << '\n';
  }
  return true;
}
// [work]

}  // namespace

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};

  // [loss]
  tyer::mutex cache{client, "cache/rebuild", {.ttl = 5s}};
  tyer::hold h = cache.acquire();

  // Told the moment it is known, on a thread of Tyer's that does nothing else: keep it short, and do not block.
  std::stop_callback alarm{h.lost(), [] { std::cerr << "the lock was lost: stop writing\n"; }};

  // lost() is a std::stop_token: hand it to whatever can be cancelled. The hold is renewed for as long as it lives.
  if (!rebuild({"prices", "stock", "offers"}, h.lost())) return 1;

  // Before something that cannot be undone: is it still ours, and long enough? This asks nobody, it only looks at a clock.
  if (h.remaining() < 1s) return 1;
  // The same asked of the engine, in one round trip: false if it is lost. An engine that is silent throws.
  if (!h.confirm()) return 1;

  // The outcome tells whether it was ours to the end.
  if (h.release() != tyer::release_outcome::released) {
    std::cerr << "it was lost before the end\n";
    return 1;
  }
  // [loss]
  std::cout << "done\n";
}
