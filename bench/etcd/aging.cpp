#include "etcd/suite.hpp"

#include <tyer/tyer.hpp>

#include <stdexcept>
#include <vector>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

// Microseconds of each lock + awaited unlock.
std::vector<double> cycles(const tyer::mutex& m, int n) {
  std::vector<double> usec;
  for (int i = 0; i < n; ++i) {
    const auto t = clock::now();
    tyer::hold h = m.acquire();
    h.release();
    usec.push_back(std::chrono::duration<double, std::micro>(clock::now() - t).count());
  }
  return usec;
}

}  // namespace

// In turns with names that are at their 100th cycle: what else the machine does concerns both.
aging measure_aging(const std::string& uri, int age) {
  constexpr int turns = 20, block = 20;
  tyer::client client{uri};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  const tyer::mutex old{client, "bench/aging/old"};
  cycles(old, age);
  std::vector<double> of_young, of_old, growth;
  for (int i = 0; i < turns; ++i) {
    const tyer::mutex young{client, "bench/aging/" + std::to_string(i)};
    cycles(young, 100);
    of_young.push_back(median(cycles(young, block)));
    of_old.push_back(median(cycles(old, block)));
    growth.push_back(of_old.back() / of_young.back());
  }
  return {median(of_young), median(of_old), median(growth)};
}

}  // namespace bench
