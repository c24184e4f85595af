// An HTTP/2 server on a socket, for tests of the real wire: it answers as the test says, on a thread of its own.
#pragma once

#include "engines/etcd/wire/message.hpp"
#include "unit/etcd/server_end.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tyer::etcd::wire {

class socket_server {
 public:
  // A request has come, whole or, if it goes both ways, its beginning.
  using script = std::function<void(server_end&, std::int32_t stream)>;

  explicit socket_server(script on_request, std::uint32_t window = 65'535, std::uint32_t streams_max = 100)
      : on_request_(std::move(on_request)), window_(window), streams_max_(streams_max) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&at), size) != 0 || ::listen(listener_, 64) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) != 0) {
      throw std::runtime_error("no socket to listen at");
    }
    port_ = ntohs(at.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& end) { serve(end); }};
  }
  socket_server(const socket_server&) = delete;
  ~socket_server() {
    thread_.request_stop();
    thread_.join();
    for (auto& c : connections_) ::close(c->fd);
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  int requests() const { return requests_; }
  int accepted() const { return accepted_; }

  static void answer(server_end& s, std::int32_t to, std::string_view message) {
    std::string all;
    append_framed(all, message);
    s.begin(to);
    s.data(to, all);
    s.trailers(to, {{"grpc-status", "0"}});
  }

 private:
  struct connection {
    int fd;
    server_end end;
    std::set<std::int32_t> begun;
  };

  void serve(const std::stop_token& end) {
    while (!end.stop_requested()) {
      std::vector<pollfd> all{{listener_, POLLIN, 0}};
      for (const auto& c : connections_) all.push_back({c->fd, POLLIN, 0});
      if (::poll(all.data(), all.size(), 20) <= 0) continue;
      for (std::size_t i = 1; i < all.size(); ++i) {
        if (all[i].revents != 0 && !read(*connections_[i - 1])) {
          ::close(connections_[i - 1]->fd);
          connections_[i - 1].reset();
        }
      }
      std::erase(connections_, nullptr);
      if (all[0].revents == 0) continue;
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) continue;
      ++accepted_;
      connections_.push_back(std::unique_ptr<connection>{new connection{fd, server_end{window_, streams_max_}, {}}});
      write(*connections_.back());
    }
  }
  bool read(connection& c) {
    std::array<char, 1 << 16> some{};
    const auto n = ::recv(c.fd, some.data(), some.size(), 0);
    if (n <= 0) return false;
    c.end.feed({some.data(), static_cast<std::size_t>(n)});
    for (const auto& [stream, request] : std::map{c.end.got}) {
      if (request.headers.empty() || !c.begun.insert(stream).second) continue;
      ++requests_;
      on_request_(c.end, stream);
    }
    return write(c);
  }
  static bool write(connection& c) {
    const auto all = c.end.output();
    for (std::size_t at = 0; at < all.size();) {
      const auto n = ::send(c.fd, all.data() + at, all.size() - at, MSG_NOSIGNAL);
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }

  const script on_request_;
  const std::uint32_t window_, streams_max_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> requests_{0}, accepted_{0};
  std::vector<std::unique_ptr<connection>> connections_;
  std::jthread thread_;
};

}  // namespace tyer::etcd::wire
