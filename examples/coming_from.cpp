// Calls of other libraries, as they look here.
//
//   coming_from redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <mutex>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  bool all = true;

  {
    // [redisson]
    // lock.tryLock(100, 10, TimeUnit.SECONDS): wait 100 s for it, have it for 10 s at most
    tyer::mutex order{client, "order/42", {.max_hold = 10s}};
    if (tyer::hold h = order.try_acquire_for(100s)) {
      std::cout << "mine for " << h.remaining() / 1s << " s at most\n";
    }
    // [redisson]
    all = all && order.try_lock();
    order.unlock();
  }
  {
    // [redispp]
    // A mutex under a standard guard: the same here, and the guard's end never throws.
    tyer::mutex order{client, "order/42", {.ttl = 3s}};
    std::unique_lock lock{order, std::defer_lock};
    if (lock.try_lock_for(30s)) std::cout << "token " << order.held().token() << '\n';
    // [redispp]
    all = all && lock.owns_lock();
  }
  {
    // [setnx]
    // SET order/42 <random> NX PX 10000, the work, and a script that deletes it if it is still <random>
    tyer::mutex order{client, "order/42", {.ttl = 10s}};
    if (tyer::hold h = order.try_acquire()) {
      std::cout << "working, renewed for as long as it takes\n";
      if (!h.valid()) return 1;  // asks nobody: it looks at a clock
    }
    // [setnx]
  }
  return all ? 0 : 1;
}
