// A program that compiles Boost.Redis itself, beside the one that is inside of Tyer. Both greet a server that knows only RESP2:
// Boost.Redis as it always does, which is refused, and Tyer in RESP2.
#include <tyer/tyer.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/src.hpp>

#include <iostream>
#include <string>

// The name of the client that Tyer's inside asks for RESP2 by means nothing to others.
boost::system::error_code greet(const std::string& port) {
  boost::redis::config where;
  where.addr = {"127.0.0.1", port};
  where.clientname = "tyer, in RESP2";
  where.reconnect_wait_interval = {};
  boost::asio::io_context loop;
  boost::redis::connection to{loop};
  boost::system::error_code why;
  to.async_run(where, {}, [&](boost::system::error_code e) { why = e; });
  loop.run();
  return why;
}

int main(int, char** argv) try {
  const std::string uri = argv[1];
  const auto why = greet(uri.substr(uri.rfind(':') + 1));
  tyer::client client{uri};
  const tyer::hold h = tyer::mutex{client, "user"}.try_acquire();
  std::cout << (why && h.valid() ? "each in its way\n" : "one was taken for the other\n");
} catch (const tyer::error& e) {
  std::cout << e.what() << '\n';
}
