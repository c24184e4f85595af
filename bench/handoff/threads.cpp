#include "handoff/suite.hpp"

#include <tyer/tyer.hpp>

#include <algorithm>
#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

}  // namespace

turns take_turns(const std::string& uri, int threads, std::uint32_t handoffs, milliseconds run) {
  tyer::client client{uri};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  tyer::mutex hot{client, "bench/hot", {.local_handoffs = handoffs}};
  std::vector<std::vector<std::uint64_t>> tokens(static_cast<std::size_t>(threads));
  for (auto& mine : tokens) mine.reserve(1 << 16);
  std::atomic<bool> over{false};
  std::latch ready{threads + 1};
  std::vector<std::thread> callers;
  for (auto& mine : tokens) {
    callers.emplace_back([&] {
      ready.arrive_and_wait();
      while (!over.load(std::memory_order_relaxed)) {
        hot.lock();
        mine.push_back(hot.held().token());
        hot.unlock();
      }
    });
  }
  ready.arrive_and_wait();
  const auto begin = clock::now();
  std::this_thread::sleep_for(run);
  over = true;
  for (auto& caller : callers) caller.join();
  turns all;
  all.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  for (const auto& mine : tokens) all.tokens.insert(all.tokens.end(), mine.begin(), mine.end());
  std::sort(all.tokens.begin(), all.tokens.end());
  return all;
}

}  // namespace bench
