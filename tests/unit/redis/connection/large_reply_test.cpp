// A reply that is larger than any of ours can be (limits.hpp): told in words, and over with its connection.
#include "core/uri.hpp"
#include "sanitized.hpp"
#include "unit/redis/engine_client.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::engine::why;

constexpr std::size_t mib = std::size_t{1} << 20;

sockaddr_in here(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return at;
}

// Between a client and the server. When told so, what the server says next is not passed on, and something else is said.
class relay {
 public:
  explicit relay(std::uint16_t to) : to_(to) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto at = here(0);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& end) { serve(end); }};
  }
  relay(const relay&) = delete;
  ~relay() {
    thread_.request_stop();
    thread_.join();
    for (const auto& p : pairs_) close(p);
    ::close(listener_);
  }

  std::string uri() const { return "redis://127.0.0.1:" + std::to_string(port_); }
  // So many of these after the beginning, as long as somebody reads.
  void say_next(std::string beginning, std::string again, std::size_t times) {
    beginning_ = std::move(beginning);
    again_ = std::move(again);
    times_ = times;
    armed_ = true;
  }

 private:
  struct pair {
    int client, server;
  };
  static void close(const pair& p) {
    ::close(p.client);
    ::close(p.server);
  }
  static bool send_all(int to, const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto n = ::send(to, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (n <= 0) return false;
      at += static_cast<std::size_t>(n);
    }
    return true;
  }
  bool pass(int from, int to, bool of_server) {
    std::array<char, 1 << 16> some{};
    const auto n = ::recv(from, some.data(), some.size(), 0);
    if (n <= 0) return false;
    if (!of_server || !armed_.exchange(false)) return send_all(to, {some.data(), static_cast<std::size_t>(n)});
    if (!send_all(to, beginning_)) return false;
    for (std::size_t i = 0; i < times_; ++i) {
      if (!send_all(to, again_)) return false;
    }
    return true;
  }
  void serve(const std::stop_token& end) {
    while (!end.stop_requested()) {
      std::vector<pollfd> all{{listener_, POLLIN, 0}};
      for (const auto& p : pairs_) all.insert(all.end(), {{p.client, POLLIN, 0}, {p.server, POLLIN, 0}});
      if (::poll(all.data(), all.size(), 20) <= 0) continue;
      std::vector<pair> kept;
      for (std::size_t i = 0; i < pairs_.size(); ++i) {
        const auto& p = pairs_[i];
        const bool alive = (all[2 * i + 1].revents == 0 || pass(p.client, p.server, false)) &&
                           (all[2 * i + 2].revents == 0 || pass(p.server, p.client, true));
        alive ? kept.push_back(p) : close(p);
      }
      pairs_ = std::move(kept);
      if (all[0].revents == 0) continue;
      const pair p{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC),
                   ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
      const auto at = here(to_);
      ::connect(p.server, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 ? pairs_.push_back(p) : close(p);
    }
  }

  const std::uint16_t to_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> armed_{false};
  std::string beginning_, again_;
  std::size_t times_ = 0;
  std::vector<pair> pairs_;
  std::jthread thread_;
};

std::size_t memory_used() {
  ::malloc_trim(0);
  std::size_t size = 0, resident = 0;
  std::ifstream{"/proc/self/statm"} >> size >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

struct redis_large_reply : ::testing::Test {
  // One string, or many in a row: the first is refused when its length is known, the others when they have come.
  void expect_over(const std::string& beginning, const std::string& again, std::size_t times, std::size_t kept_max) {
    auto at = tyer::core::parse_uri(server_uri()).value;
    relay between{at.hosts.front().port};
    engine_client a{between.uri(), 20s};
    ASSERT_TRUE(a.ready());
    const auto before = memory_used();
    between.say_next(beginning, again, times);
    auto b = std::make_shared<engine_client::box<tyer::engine::answer>>();
    a.value->acquire(engine_client::request(a.ids.next(), "large"), a.into(b));
    ASSERT_TRUE(a.until([&] { return b->got.has_value(); }, 15s));
    EXPECT_EQ(why_not(*b->got), why::unknown) << "the server has done it, perhaps";
    const auto& words = std::get<tyer::engine::failure>(b->got->result).words;
    EXPECT_NE(words.find("larger than 64 MiB"), std::string::npos) << words;
    EXPECT_NE(a.absence.words.find("larger than 64 MiB"), std::string::npos) << a.absence.words;
    ASSERT_TRUE(a.until([&] { return a.ups == 2; })) << "it comes back";
    EXPECT_NE(granted(a.acquire(a.ids.next(), a.ids.next().view())), nullptr);
    if (!under_asan && !under_tsan) {
      EXPECT_LT(memory_used(), before + kept_max) << "what had come stays";
    }
  }
};

TEST_F(redis_large_reply, of_one_string_ends_its_connection_in_words) {
  expect_over("$" + std::to_string(80 * mib) + "\r\n", std::string(mib, 'x'), 80, 16 * mib);
}

TEST_F(redis_large_reply, of_many_ends_its_connection_in_words) {
  std::string some;
  for (int i = 0; i < 1000; ++i) some += "$1000\r\n" + std::string(1000, 'x') + "\r\n";
  expect_over("*200000\r\n", some, 80, 80 * mib);  // what was read is kept until the engine is closed, but not twice
}

}  // namespace
