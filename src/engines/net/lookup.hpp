// The addresses of a host, asked for in a way that nobody ever waits for.
//
// getaddrinfo() takes as long as the name server lets it, and nobody can call it back. So it runs on a thread of its own, which
// owns the name and what was found, and nothing of whoever has asked: that may go at any time, and so may the process. A name is
// looked up once at a time, for all who ask meanwhile: a name server that hangs costs a thread for each name, however often it is
// tried again. One that is slower than whoever asks has patience is heard by the next who asks.
//
//   lookup     left by
//   idle       start()
//   under way  idle: told, or forgotten
//
// Thread safety: that of the io_context's loop. Two objects may be used by two threads.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tyer::net {

class lookup {
 public:
  using error_code = boost::system::error_code;
  using addresses = std::vector<boost::asio::ip::tcp::endpoint>;  // in the order in which they are to be tried
  using handler = std::function<void(const error_code&, addresses)>;

  lookup() = default;
  lookup(const lookup&) = delete;
  ~lookup() { forget(); }

  // Told by the io_context, never inside this call; there is an error, or an address at least. An address as a host, also in
  // brackets, needs no thread. What was under way is forgotten. Throws std::bad_alloc only. There is no memory for an answer:
  // nobody is told, so whoever asks has a time limit of its own.
  void start(boost::asio::io_context&, const std::string& host, std::uint16_t port, handler);

  // Nobody is told any more. Before the io_context ends.
  void forget() noexcept;

  class asker;

 private:
  std::shared_ptr<asker> asker_;
};

}  // namespace tyer::net
