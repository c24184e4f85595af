// A hot key runs out, and everybody asks for it: 8 processes with 8 threads, and a query of 200 ms.
//
//   hot_key REDIS [SECONDS]     prints what came of it, without a lock, with single_flight, and with an early refresh
#include "processes.hpp"
#include "redis.hpp"

#include <tyer/recipes.hpp>

#include <deque>
#include <functional>
#include <iostream>

using namespace std::chrono_literals;

namespace {

constexpr int processes = 8, threads = 8;
constexpr auto lives_for = 1000ms;

struct figures {
  std::atomic<int> queries, under_way, most_at_once, answers;
  std::atomic<long> slowest_ms;
};

// Stands for the database: counts who asks it.
std::string slow_query(figures& f) {
  ++f.queries;
  stories::raise_to(f.most_at_once, ++f.under_way);
  std::this_thread::sleep_for(200ms);
  --f.under_way;
  return "199.00";
}

// Asks again and again, as visitors of a page do.
void visit(figures& f, std::chrono::seconds how_long, const std::function<void()>& get) {
  for (const auto end = stories::steady::now() + how_long; stories::steady::now() < end;) {
    const auto begun = stories::steady::now();
    get();
    ++f.answers;
    stories::raise_to(f.slowest_ms, stories::ms_since(begun));
    std::this_thread::sleep_for(20ms);
  }
}

void without(figures& f, const std::string& uri, std::chrono::seconds how_long) {
  stories::in_processes(processes, [&](int) {
    stories::in_threads(threads, [&](int) {
      stories::redis cache{uri};
      visit(f, how_long, [&] {
        // [without]
        if (!cache.ask({"GET", "price"}).nil) return;
        cache.ask({"SET", "price", slow_query(f), "PX", std::to_string(lives_for.count())});
        // [without]
      });
    });
  });
}

// Refreshes on a thread of its own, so that no visitor waits for it.
class worker {
 public:
  void run(std::function<void()> f) {
    const std::lock_guard guard{mutex_};
    todo_.push_back(std::move(f));
  }

 private:
  void work(const std::stop_token& end) {
    for (; !end.stop_requested(); std::this_thread::sleep_for(5ms)) {
      std::unique_lock guard{mutex_};
      if (todo_.empty()) continue;
      const auto next = std::move(todo_.front());
      todo_.pop_front();
      guard.unlock();
      next();
    }
  }

  std::mutex mutex_;
  std::deque<std::function<void()>> todo_;
  std::jthread thread_{[this](const std::stop_token& end) { work(end); }};
};

void with(figures& f, const std::string& uri, std::chrono::seconds how_long, std::chrono::milliseconds early) {
  stories::in_processes(processes, [&](int) {
    stories::redis cache{uri};
    tyer::client client{uri};
    worker background;
    const auto store = std::make_shared<tyer::recipes::redis_store>([&](auto&&... all) { return cache.eval(all...); },
                                                                    early > 0ms ? "early:" : "flight:");
    // [with]
    tyer::recipes::single_flight prices{
        client, "price", store, {.refresh_before = early, .refresh_on = [&](auto refresh) {
                                   background.run(std::move(refresh));
                                 }}};
    const auto get = [&] {
      return prices.get("shoe", [&](const tyer::hold&) { return tyer::recipes::fresh{slow_query(f), lives_for}; });
    };
    // [with]
    stories::in_threads(threads, [&](int) { visit(f, how_long, [&] { static_cast<void>(get()); }); });
  });
}

void tell(const char* how, const figures& f) {
  std::cout << how << " queries=" << f.queries << " most_at_once=" << f.most_at_once << " answers=" << f.answers
            << " slowest_ms=" << f.slowest_ms << std::endl;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string uri = argc > 1 ? argv[1] : "redis://127.0.0.1:6379";
  const std::chrono::seconds how_long{argc > 2 ? std::stoi(argv[2]) : 5};
  auto &bare = stories::in_shared_memory<figures>(), &one = stories::in_shared_memory<figures>(),
       &early = stories::in_shared_memory<figures>();
  without(bare, uri, how_long);
  tell("without", bare);
  with(one, uri, how_long, 0ms);
  tell("with", one);
  with(early, uri, how_long, 400ms);
  tell("early", early);
  return bare.most_at_once > 1 && one.most_at_once == 1 && early.most_at_once == 1 ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
