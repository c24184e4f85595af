#include "redis/server.hpp"
#include "redis/suite.hpp"

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

namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

struct race {
  bool over = false;
  int last_owner = -1;
  std::uint64_t changes = 0;
};

asio::awaitable<void> contender(const tyer::mutex& m, int client, race& r) {
  while (!r.over) {
    tyer::hold h = co_await tyer::async_acquire(m);
    if (r.last_owner != client) ++r.changes;
    r.last_owner = client;
    co_await tyer::async_release(std::move(h));
  }
}

}  // namespace

handover measure_handover(const std::string& uri, int waiters, milliseconds run) {
  const int clients = std::min(waiters, 8);
  std::deque<tyer::client> client;
  std::deque<tyer::mutex> mutexes;
  for (int i = 0; i < clients; ++i) {
    if (!client.emplace_back(uri).wait_ready()) throw std::runtime_error("the engine does not answer");
    mutexes.emplace_back(client.back(), "bench/hot", tyer::lock_options{.local_handoffs = 0});
  }
  server s{uri};
  asio::io_context loop{1};
  race r;
  for (int i = 0; i < waiters; ++i) {
    asio::co_spawn(loop, contender(mutexes[static_cast<std::size_t>(i % clients)], i % clients, r), asio::detached);
  }
  loop.run_for(milliseconds{300});  // until all stand in line
  const auto requests = s.requests();
  const auto changes = r.changes;
  const auto begin = clock::now();
  loop.run_for(run);
  const double counted = static_cast<double>(s.requests() - requests);
  const double owners = static_cast<double>(r.changes - changes);
  const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
  r.over = true;
  loop.run();
  return {counted / owners, owners / seconds};
}

}  // namespace bench
