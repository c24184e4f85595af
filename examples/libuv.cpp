// Locks in the event loop of libuv: all of the program is one thread, and no lock ever blocks it.
//
//   libuv redis://127.0.0.1:6379
#include <tyer/async.hpp>
#include <tyer/tyer.hpp>

#include <uv.h>

#include <functional>
#include <iostream>
#include <mutex>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

// Runs functions in the thread of a loop. post() may be called from any thread; uv_async_send alone carries no data, and
// several of them may be one call, so what is to be run lies in a list.
class posts {
 public:
  explicit posts(uv_loop_t* loop) {
    uv_async_init(loop, &wake_, [](uv_async_t* a) { static_cast<posts*>(a->data)->run(); });
    wake_.data = this;
  }
  void post(std::function<void()> f) {
    const std::lock_guard lock{mutex_};
    waiting_.push_back(std::move(f));
    uv_async_send(&wake_);
  }
  void close() { uv_close(reinterpret_cast<uv_handle_t*>(&wake_), nullptr); }  // lets uv_run return

 private:
  void run() {
    std::unique_lock lock{mutex_};
    const auto now = std::exchange(waiting_, {});
    lock.unlock();
    for (const auto& f : now) f();
  }

  uv_async_t wake_{};
  std::mutex mutex_;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace

int main(int argc, char** argv) {
  uv_loop_t* const loop = uv_default_loop();
  posts events{loop};
  int done = 0, left = 3;
  {
    tyer::client client{argc > 1 ? argv[1] : "memory://",
                        {.completions = [&](std::function<void()> f) { events.post(std::move(f)); }}};
    const tyer::mutex order{client, "order/42"};
    const auto end = [&] {
      if (--left == 0) events.close();
    };
    for (int worker = 1; worker <= 3; ++worker) {
      tyer::start_try_acquire_for(order, 5s, [&, worker](const tyer::failure& why, tyer::hold h) {  // in the loop
        if (why || !h) return end();  // the engine is away, or others had it for five seconds
        std::cout << "worker " << worker << " under token " << h.token() << '\n';
        tyer::start_release(std::move(h), [&](const tyer::failure&, tyer::release_outcome outcome) {
          if (outcome == tyer::release_outcome::released) ++done;
          end();
        });
      });
    }
    uv_run(loop, UV_RUN_DEFAULT);
  }
  uv_loop_close(loop);
  return done == 3 ? 0 : 1;
}
