#include "etcd/server.hpp"
#include "etcd/suite.hpp"

#include <tyer/tyer.hpp>

#include <deque>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr int threads = 32;

// Blocking callers, a share of the names each.
void take_all(std::deque<tyer::mutex>& mutexes, std::vector<tyer::hold>& held) {
  std::vector<std::jthread> takers;
  for (int n = 0; n < threads; ++n) {
    takers.emplace_back([&, n] {
      for (auto i = static_cast<std::size_t>(n); i < held.size(); i += threads) held[i] = mutexes[i].acquire();
    });
  }
}

}  // namespace

double measure_keeping(const std::string& uri, int holds, milliseconds run) {
  constexpr auto ttl = 3s;
  const etcd_server s{uri};
  tyer::client client{uri, {.request_timeout = 60s}};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  std::deque<tyer::mutex> mutexes;
  std::vector<tyer::hold> held(static_cast<std::size_t>(holds));
  for (int i = 0; i < holds; ++i) {
    mutexes.emplace_back(client, "bench/held/" + std::to_string(i), tyer::lock_options{.ttl = ttl});
  }
  take_all(mutexes, held);
  std::this_thread::sleep_for(10 * ttl);  // until all are watched, have been read once since, and fall due together
  const auto before = s.requests();
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(run);
  const auto counted = static_cast<double>(s.requests() - before);
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (const auto& h : held) {
    if (!h.valid()) throw std::runtime_error("a hold was lost while it was being kept");
  }
  return counted / seconds;
}

}  // namespace bench
