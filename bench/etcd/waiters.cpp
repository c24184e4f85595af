#include "etcd/server.hpp"
#include "etcd/suite.hpp"

#include <tyer/asio.hpp>
#include <tyer/tyer.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <deque>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 30s;

}  // namespace

// Each waits for a name of its own, so that each stands in a queue of the server. Waiting is watching: the own key, and who
// is ahead.
std::int64_t measure_watch_streams(const std::string& uri, int waiters) {
  const etcd_server s{uri};
  tyer::client holder{uri};
  std::deque<tyer::mutex> taken;
  std::vector<tyer::hold> held;
  for (int i = 0; i < waiters; ++i) {
    held.push_back(taken.emplace_back(holder, "bench/taken/" + std::to_string(i)).acquire());
  }
  const auto streams = s.watch_streams();
  const auto messages = s.requests("Watch");
  tyer::client client{uri};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  boost::asio::io_context loop{1};
  std::deque<tyer::mutex> wanted;
  for (int i = 0; i < waiters; ++i) {
    tyer::async_acquire(wanted.emplace_back(client, "bench/taken/" + std::to_string(i)),
                        boost::asio::bind_executor(loop, [](tyer::failure, tyer::hold) {}));
  }
  const auto all = messages + 2 * static_cast<std::uint64_t>(waiters);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (s.requests("Watch") < all && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(50ms);
  const auto opened = s.watch_streams() - streams;
  client.close();
  return opened;
}

}  // namespace bench
