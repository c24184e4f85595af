#include "common/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

namespace fault {

namespace {

constexpr int usual = SOCK_NONBLOCK | SOCK_CLOEXEC;
constexpr int backlog = 256;

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error{errno, std::generic_category(), what};
  return result;
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void no_delay(const descriptor& socket) {
  const int on = 1;
  checked(::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "TCP_NODELAY");
}

}  // namespace

descriptor::~descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

descriptor listen_tcp(std::uint16_t& port) {
  descriptor socket{checked(::socket(AF_INET, SOCK_STREAM | usual, 0), "socket")};
  const int on = 1;
  checked(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "SO_REUSEADDR");
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  checked(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size), "bind");
  checked(::listen(socket.get(), backlog), "listen");
  checked(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  port = ntohs(address.sin_port);
  return socket;
}

descriptor connect_tcp(std::uint16_t port) {
  descriptor socket{checked(::socket(AF_INET, SOCK_STREAM | usual, 0), "socket")};
  no_delay(socket);
  const sockaddr_in address = loopback(port);
  const int result = ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (result < 0 && errno != EINPROGRESS) checked(result, "connect");
  return socket;
}

descriptor listen_unix(const std::string& path, int type) {
  descriptor socket{checked(::socket(AF_UNIX, type | usual, 0), "socket")};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::system_error{ENAMETOOLONG, std::generic_category(), path};
  path.copy(address.sun_path, path.size());
  checked(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), path.c_str());
  checked(::listen(socket.get(), backlog), "listen");
  return socket;
}

descriptor accept_on(const descriptor& listener) {
  const int fd = ::accept4(listener.get(), nullptr, nullptr, usual);
  if (fd < 0) return {};
  return descriptor{fd};
}

void close_by_reset(const descriptor& socket) {
  const linger now{1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void end_with_parent() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == 1) std::_Exit(2);  // it was gone before we asked
}

}  // namespace fault
