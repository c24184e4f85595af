// Locks in an event loop that is not Boost.Asio's: here one of forty lines, as libuv's or Qt's would be used.
//
//   own_loop redis://127.0.0.1:6379
#include <tyer/async.hpp>
#include <tyer/tyer.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <iostream>
#include <mutex>
#include <utility>

using namespace std::chrono_literals;

namespace {

// post() may be called from any thread, like uv_async_send or QMetaObject::invokeMethod; everything else happens in run().
class loop {
 public:
  void post(std::function<void()> f) {
    const std::lock_guard lock{mutex_};
    queue_.push_back(std::move(f));
    changed_.notify_one();
  }
  void stop() { running_ = false; }
  void run() {
    while (running_) {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [this] { return !queue_.empty(); });
      const auto f = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      f();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool running_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  loop events;
  // [loop]
  tyer::client client{argc > 1 ? argv[1] : "memory://",
                      {.completions = [&](std::function<void()> f) { events.post(std::move(f)); }}};
  tyer::mutex order{client, "order/42"};
  int done = 0;
  for (int worker = 1; worker <= 3; ++worker) {
    tyer::start_try_acquire_for(order, 5s, [&, worker](tyer::failure why, tyer::hold h) {  // on the loop
      if (why || !h) return events.stop();  // the engine is away, or others had it for five seconds
      std::cout << "worker " << worker << " under token " << h.token() << '\n';
      tyer::start_release(std::move(h), [&](tyer::failure, tyer::release_outcome) {
        if (++done == 3) events.stop();
      });
    });
  }
  // [loop]
  events.run();
  return done == 3 ? 0 : 1;
}
