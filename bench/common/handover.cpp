#include "common/handover.hpp"

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
using namespace std::chrono_literals;

struct race {
  bool over = false;
  std::uint64_t turns = 0;
};

asio::awaitable<void> contender(const tyer::mutex& m, race& r) {
  while (!r.over) {
    tyer::hold h = co_await tyer::async_acquire(m);
    ++r.turns;
    co_await tyer::async_release(std::move(h));
  }
}

}  // namespace

// A client stands once in the engine's queue for all who want the same on the same terms: so each has a note of its own. Not a ttl of
// its own: places with the same lease are kept together, and counted would be how long the machine takes for a turn.
handover measure_handover(const std::string& uri, int waiters, milliseconds run,
                          const std::function<std::uint64_t()>& requests_so_far, int clients_max) {
  const int clients = std::min(waiters, clients_max);
  std::deque<tyer::client> client;
  for (int i = 0; i < clients; ++i) {
    auto& c = client.emplace_back(uri, tyer::client_options{.request_timeout = 60s});
    if (!c.wait_ready()) throw std::runtime_error("the engine does not answer");
  }
  std::deque<tyer::mutex> mutexes;
  for (int i = 0; i < waiters; ++i) {
    mutexes.emplace_back(client[static_cast<std::size_t>(i % clients)], "bench/hot",
                         tyer::lock_options{.ttl = 10s, .local_handoffs = 0, .note = std::to_string(i)});
  }
  asio::io_context loop{1};
  race r;
  for (const auto& m : mutexes) asio::co_spawn(loop, contender(m, r), asio::detached);
  const auto patience = clock::now() + 60s;
  const auto all = static_cast<std::uint64_t>(waiters);
  while (r.turns < all && clock::now() < patience)
    loop.run_for(50ms);  // until each has had its turn, and stands in line again
  const auto requests = requests_so_far();
  const auto turns = r.turns;
  const auto begin = clock::now();
  loop.run_for(run);
  const auto seconds = std::chrono::duration<double>(clock::now() - begin).count();
  const auto counted = static_cast<double>(requests_so_far() - requests);
  const auto owners = static_cast<double>(r.turns - turns);
  r.over = true;
  loop.run();
  return {counted / owners, seconds * 1e6 / owners};
}

}  // namespace bench
