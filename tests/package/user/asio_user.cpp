// A program with tyer/asio.hpp and a Boost of its own.
#include <tyer/asio.hpp>
#include <tyer/tyer.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

int main() {
  tyer::client client{"memory://"};
  const tyer::mutex order{client, "order/42"};
  bool held = false;
  boost::asio::io_context loop;
  boost::asio::co_spawn(
      loop,
      [&]() -> boost::asio::awaitable<void> {
        tyer::hold h = co_await tyer::async_acquire(order);
        held = h.valid();
        co_await tyer::async_release(h);
      },
      boost::asio::detached);
  loop.run();
  return held ? 0 : 1;
}
