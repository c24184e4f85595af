// Locks in coroutines, with Boost.Asio: any number of them wait, and no thread does.
//
//   coroutines redis://127.0.0.1:6379
#include <tyer/asio.hpp>
#include <tyer/tyer.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

// [sell]
asio::awaitable<void> sell(const tyer::mutex& order, int seller, int& tickets) {
  try {
    tyer::hold h = co_await tyer::async_acquire(order, asio::cancel_after(5s));
    if (tickets > 0) {
      --tickets;
      std::cout << "seller " << seller << " sold one under token " << h.token() << '\n';
    }
    co_await tyer::async_release(h);  // or let it go: then it is given back in the background
  } catch (const tyer::error& e) {    // cancelled after five seconds, or the engine is away
    std::cerr << "seller " << seller << ": " << e.what() << '\n';
  }
}
// [sell]

}  // namespace

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  tyer::mutex order{client, "tickets"};
  int tickets = 3;

  // [run]
  asio::io_context io;
  for (int seller = 1; seller <= 5; ++seller) asio::co_spawn(io, sell(order, seller, tickets), asio::detached);
  io.run();  // five wait here, in one thread
  // [run]
  return tickets == 0 ? 0 : 1;
}
