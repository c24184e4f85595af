// A lock that Java services take with Redisson: redisson.getLock("order/42").
//
//   beside_redisson 'redis+sentinel://10.0.0.5,10.0.0.6,10.0.0.7/mymaster?protocol=redisson'
// [whole]
#include <tyer/tyer.hpp>

#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  tyer::client client{argc > 1 ? argv[1] : "redis://127.0.0.1:6379?protocol=redisson"};
  tyer::mutex order{client, "order/42", {.ttl = 30s}};  // as long as Redisson's own lease

  tyer::hold h = order.acquire();
  std::cout << "mine for " << h.remaining() / 1s << " s, and renewed" << std::endl;
  for (int step = 0; step < 5 && h.valid(); ++step) {  // there is no token: look before each step
    std::this_thread::sleep_for(200ms);
  }
  return h.release() == tyer::release_outcome::released ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
// [whole]
