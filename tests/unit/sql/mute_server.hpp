// A server that lets everybody connect, and never says a word.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tyer::test {

class mute_server {
 public:
  mute_server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    auto* const raw = reinterpret_cast<sockaddr*>(&a);
    if (::bind(socket_, raw, size) == 0 && ::listen(socket_, 8) == 0 && ::getsockname(socket_, raw, &size) == 0)
      port_ = ntohs(a.sin_port);
  }
  ~mute_server() {
    for (const int one : visitors_) ::close(one);
    ::close(socket_);
  }
  mute_server(const mute_server&) = delete;

  std::uint16_t port() const { return port_; }
  std::size_t visitors() {
    for (int one; (one = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) visitors_.push_back(one);
    return visitors_.size();
  }

 private:
  const int socket_;
  std::uint16_t port_ = 0;
  std::vector<int> visitors_;
};

}  // namespace tyer::test
