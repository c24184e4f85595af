#include "redis/server.hpp"
#include "redis/suite.hpp"

#include <tyer/detail/async.hpp>
#include <tyer/tyer.hpp>

#include <atomic>
#include <deque>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using namespace std::chrono_literals;

struct keep_it final : tyer::detail::acquire_handler {
  keep_it(tyer::hold& to, std::atomic<int>& missing) : to_(to), missing_(missing) {}
  void done(tyer::failure, tyer::hold h) override {
    to_ = std::move(h);
    if (missing_.fetch_sub(1) == 1) missing_.notify_one();
  }
  tyer::hold& to_;
  std::atomic<int>& missing_;
};

}  // namespace

keeping measure_keeping(const std::string& uri, int holds) {
  constexpr auto ttl = 9s;
  server s{uri};
  s.flush_all();
  const auto empty = s.memory();
  tyer::client client{uri, {.request_timeout = 60s}};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  std::deque<tyer::mutex> mutexes;
  std::deque<tyer::hold> held(static_cast<std::size_t>(holds));
  std::atomic<int> missing{holds};
  for (int i = 0; i < holds; ++i) {
    mutexes.emplace_back(client, "bench/held/" + std::to_string(i), tyer::lock_options{.ttl = ttl});
    tyer::detail::start_acquire(mutexes.back(), {},
                                std::make_unique<keep_it>(held[static_cast<std::size_t>(i)], missing));
    if (i % 4096 == 0) std::this_thread::sleep_for(1ms);  // paced, not timed: the queue of requests is bounded
  }
  for (int left = missing; left != 0; left = missing) missing.wait(left);
  const double bytes = static_cast<double>(s.memory() - empty) / holds;
  std::this_thread::sleep_for(ttl / 3);  // into the second round
  const auto before = s.requests();
  std::this_thread::sleep_for(ttl);  // three rounds
  const double rounds = 3;
  const double requests = static_cast<double>(s.requests() - before) / rounds / (holds / 1000.0);
  for (const auto& h : held) {
    if (!h.valid()) throw std::runtime_error("a hold was lost while it was being kept");
  }
  return {requests, bytes};
}

}  // namespace bench
