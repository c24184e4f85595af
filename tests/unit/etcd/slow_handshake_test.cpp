// How long a server may take to shake hands. The real wire connects, to a server that only begins to speak HTTP/2.
#include "core/clock.hpp"
#include "engines/etcd/wire/wire.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

// Whether one of the frames behind the preface begins a request (HEADERS, type 1).
bool asks_something(const std::string& all) {
  constexpr std::size_t preface = 24, header = 9;
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(all[i])); };
  for (std::size_t at = preface; at + header <= all.size();) {
    if (byte(at + 3) == 1) return true;
    at += header + (byte(at) << 16 | byte(at + 1) << 8 | byte(at + 2));
  }
  return false;
}

// Says its SETTINGS so late, on each connection that is still there then, and notes the first one that goes on after it.
class slow_server {
 public:
  explicit slow_server(std::chrono::milliseconds late) : late_(late) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    socklen_t size = sizeof at;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& end) { serve(end); }};
  }
  slow_server(const slow_server&) = delete;
  ~slow_server() {
    thread_.request_stop();
    thread_.join();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  bool was_asked() const { return told_; }

 private:
  static bool readable(int fd, std::chrono::milliseconds d) {
    pollfd p{fd, POLLIN, 0};
    return ::poll(&p, 1, static_cast<int>(d.count())) > 0;
  }
  void serve(const std::stop_token& end) {
    while (!end.stop_requested()) {
      if (!readable(listener_, 20ms)) continue;
      const int to = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (to < 0) continue;
      std::this_thread::sleep_for(late_);
      speak(to, end);
      ::close(to);
    }
  }
  // An empty SETTINGS frame; then the other side may ask.
  void speak(int to, const std::stop_token& end) {
    constexpr std::array<char, 9> settings{0, 0, 0, 4, 0, 0, 0, 0, 0};
    if (::send(to, settings.data(), settings.size(), MSG_NOSIGNAL) < 0) return;
    std::string all;
    std::array<char, 4096> some{};
    while (!end.stop_requested() && !told_) {
      if (!readable(to, 20ms)) continue;
      const auto n = ::recv(to, some.data(), some.size(), 0);
      if (n <= 0) return;
      all.append(some.data(), static_cast<std::size_t>(n));
      if (!asks_something(all)) continue;
      told_ = true;
    }
  }

  const std::chrono::milliseconds late_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> told_ = false;
  std::jthread thread_;
};

// It was: an attempt to connect had half a second, whatever the time-out of requests, and the next began anew.
TEST(etcd_wire, a_handshake_of_more_than_half_a_second_never_came_to_its_end) {
  slow_server server{900ms};
  const core::boot_clock clock;
  wire::loop loop{clock};
  const auto channel = wire::connect(loop, {"127.0.0.1", server.port()}, {}, 20s);
  bool over = false;
  const auto call = wire::call({channel, "/etcdserverpb.Maintenance/Status", {}}, {}, 20s,
                               [&](const wire::status&, const std::string&) { over = true; });
  const auto end = clock.now() + 15s;
  while (!server.was_asked() && !over && clock.now() < end) loop.run(clock.now() + 20ms);
  EXPECT_TRUE(server.was_asked());
  call->cancel();
  while (!over) loop.run(clock.now() + 20ms);
}

}  // namespace
}  // namespace tyer::etcd
