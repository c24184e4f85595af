// Takes as many connections as nobody accepts; whoever comes then has no answer.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

namespace tyer::test {

class deaf_server {
 public:
  deaf_server(const char* address, std::uint16_t port) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at_.sin_family = AF_INET;
    at_.sin_port = htons(port);
    ::inet_pton(AF_INET, address, &at_.sin_addr);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&at_), sizeof at_) != 0) return;
    ::listen(listener_, 0);
    while (all_.size() < most && is_answered()) {}
    is_deaf_ = all_.size() < most;
  }
  deaf_server(const deaf_server&) = delete;
  ~deaf_server() {
    for (const int fd : all_) ::close(fd);
    ::close(listener_);
  }
  bool is_deaf() const { return is_deaf_; }

 private:
  static constexpr std::size_t most = 100;

  bool is_answered() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    all_.push_back(fd);
    ::connect(fd, reinterpret_cast<const sockaddr*>(&at_), sizeof at_);
    pollfd p{fd, POLLOUT, 0};
    return ::poll(&p, 1, 500) > 0;
  }

  sockaddr_in at_{};
  int listener_ = -1;
  std::vector<int> all_;
  bool is_deaf_ = false;
};

}  // namespace tyer::test
