// A socket as this engine uses them.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace tyer::zookeeper::wire {

// Asio opens sockets that a program started meanwhile would inherit.
inline boost::system::error_code open(boost::asio::ip::tcp::socket& socket, const boost::asio::ip::tcp::endpoint& at) {
  boost::system::error_code e, ignored;
  socket.close(ignored);
  const int fd = ::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return {errno, boost::system::system_category()};
  socket.assign(at.protocol(), fd, e);
  if (e) {
    ::close(fd);
    return e;
  }
  socket.non_blocking(true, ignored);
  socket.set_option(boost::asio::ip::tcp::no_delay{true}, ignored);
  return {};
}

}  // namespace tyer::zookeeper::wire
