#include "common/cycles.hpp"

#include <tyer/asio.hpp>
#include <tyer/tyer.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace bench {

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<long>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

asio::awaitable<void> caller(const tyer::mutex& m, clock::time_point end, std::uint64_t& cycles) {
  while (clock::now() < end) {
    tyer::hold h = co_await tyer::async_acquire(m);
    co_await tyer::async_release(std::move(h));
    ++cycles;
  }
}

}  // namespace

double tyer_pipelined(const std::string& uri, int callers, milliseconds run) {
  tyer::client client{uri};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  return tyer_pipelined(client, callers, run);
}

double tyer_pipelined(const tyer::client& client, int callers, milliseconds run) {
  std::deque<tyer::mutex> mutexes;
  for (int i = 0; i < callers; ++i) mutexes.emplace_back(client, "bench/" + std::to_string(i));
  asio::io_context loop{1};
  std::uint64_t cycles = 0;
  const auto begin = clock::now();
  for (const auto& m : mutexes) asio::co_spawn(loop, caller(m, begin + run, cycles), asio::detached);
  loop.run();
  return static_cast<double>(cycles) / std::chrono::duration<double>(clock::now() - begin).count();
}

std::vector<double> tyer_sequential(const std::string& uri, milliseconds run) {
  tyer::client client{uri};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  tyer::mutex m{client, "bench/sequential"};
  std::vector<double> usec;
  for (const auto begin = clock::now(); clock::now() - begin < run;) {
    const auto t = clock::now();
    tyer::hold h = m.acquire();
    h.release();
    usec.push_back(std::chrono::duration<double, std::micro>(clock::now() - t).count());
  }
  return usec;
}

}  // namespace bench
