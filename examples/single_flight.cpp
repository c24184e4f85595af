// A hot key that has run out: one rebuilds it, the others wait and get it; later it is made anew before it ends.
//
//   single_flight redis://127.0.0.1:6379
#include <tyer/recipes.hpp>

#include <atomic>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

std::atomic<int> queries = 0;

std::string slow_query() {
  ++queries;
  std::this_thread::sleep_for(200ms);
  return "199.00";
}

}  // namespace

int main(int argc, char** argv) try {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  // [single_flight]
  auto cache = std::make_shared<tyer::recipes::memory_store>();  // yours: Redis, say, behind four functions
  tyer::recipes::single_flight prices{client, "price", cache, {.refresh_before = 10s}};

  const auto price = [&](std::string_view article) {
    return prices.get(article, [&](const tyer::hold&) {
      return tyer::recipes::fresh{slow_query(), 60s};  // by one, on all machines together
    });
  };
  // [single_flight]
  std::vector<std::future<std::string>> shoppers;
  for (int i = 0; i < 16; ++i) shoppers.push_back(std::async(std::launch::async, price, "shoe"));
  int right = 0;
  for (auto& s : shoppers) right += s.get() == "199.00" ? 1 : 0;
  std::cout << right << " answers, " << queries << " query\n";
  return right == 16 && queries == 1 ? 0 : 1;
} catch (const tyer::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
