// One server of three hangs (SIGSTOP): it says nothing and refuses nothing, and the majority is healthy. Whoever talks to it
// finds that out within a bound (docs/engines/etcd.md), also if it never asks for anything new.
#include "contract/api/fixture.hpp"
#include "contract/etcd/deployment.hpp"

#include <tyer/admin.hpp>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <utility>
#include <vector>

namespace contract {
namespace {

constexpr auto election = 3s;  // at most two times etcd's election time-out, and what it takes to get about

// Takes connections, in the kernel, and never says a word.
class mute_server {
 public:
  mute_server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    socklen_t size = sizeof here;
    if (::bind(socket_, reinterpret_cast<sockaddr*>(&here), size) != 0 || ::listen(socket_, 64) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&here), &size) != 0) {
      throw std::runtime_error("no socket");
    }
    port_ = std::to_string(ntohs(here.sin_port));
  }
  ~mute_server() { ::close(socket_); }
  mute_server(const mute_server&) = delete;

  const std::string& port() const { return port_; }

 private:
  int socket_;
  std::string port_;
};

class hung_server : public fixture, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    servers.settle();
    victim = servers.with_role(GetParam());
  }
  void TearDown() override { go_on(); }

  tyer::client at_the_victim(tyer::client_options o = {}) {
    return connect_to(servers.beginning_with(victim), std::move(o));
  }
  tyer::client at_the_others() { return connect_to(servers.without(victim)); }
  static tyer::client connect_to(const std::string& uri, tyer::client_options o = {}) {
    tyer::client c{uri, std::move(o)};
    if (!c.wait_ready(patience)) throw std::runtime_error("the engine does not answer");
    return c;
  }

  void hang() {
    engine.pause(victim.name);
    hung_ = true;
  }
  void go_on() {
    if (std::exchange(hung_, false)) engine.resume();
    servers.settle();
  }
  // What the majority needs before it can answer anybody.
  std::chrono::seconds majority_away() const { return victim.role == "leader" ? election : 0s; }

  // Held, watched, and renewed since: from now on nothing but a message for its lease is sent.
  template <class Hold>
  static ::testing::AssertionResult is_quiet(const Hold& h) {
    const auto first = h.valid_until();
    if (eventually([&] { return h.valid_until() > first + 1s; })) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "it was not renewed";
  }
  // A window that no request from before could have given.
  template <class Hold>
  static bool is_kept_after(const Hold& h, tyer::lease_clock::time_point when, std::chrono::milliseconds ttl) {
    return eventually([&] { return h.lost().stop_requested() || h.valid_until() > when + ttl; }) && h.valid();
  }

  const deployment servers;
  member victim;

 private:
  bool hung_ = false;
};
INSTANTIATE_TEST_SUITE_P(, hung_server, ::testing::Values("follower-0", "leader"),
                         [](const auto& p) { return std::string{p.param}.substr(0, std::string{p.param}.find('-')); });

TEST_P(hung_server, costs_a_quiet_holder_nothing) {
  auto c = at_the_victim();
  tyer::mutex lock{c, name(), {.ttl = 6s}};
  const auto h = lock.acquire();
  ASSERT_TRUE(is_quiet(h));
  hang();
  EXPECT_TRUE(is_kept_after(h, tyer::lease_clock::now(), 6s));
}

// It was: each of them had two seconds to answer before the next was asked.
TEST_P(hung_server, costs_a_quiet_holder_nothing_with_two_more_that_never_answer) {
  const mute_server one, other;
  auto c = connect_to(servers.beginning_with(victim, {one.port(), other.port()}));
  tyer::mutex lock{c, name(), {.ttl = 6s}};
  const auto h = lock.acquire();
  ASSERT_TRUE(is_quiet(h));
  hang();
  EXPECT_TRUE(is_kept_after(h, tyer::lease_clock::now(), 6s));
}

TEST_P(hung_server, does_not_keep_its_turn_from_one_who_only_waits) {
  auto a = at_the_others(), b = at_the_victim();
  tyer::mutex theirs{a, name(), {.ttl = 30s}}, lock{b, name(), {.ttl = 30s, .waiter_ttl = 3s}};
  auto h = theirs.acquire();
  auto waiting = acquire_later(lock);
  ASSERT_TRUE(queue_has(1));
  hang();
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
  const stopwatch watch;
  const auto got = soon(waiting.done);
  EXPECT_TRUE(got.hold) << got.why.words;
  // Its place is kept every third of its waiter_ttl, and a sixth later the server is left.
  EXPECT_LT(watch.elapsed(), 1500ms + slack + majority_away());
}

TEST_P(hung_server, does_not_keep_news_from_one_who_only_observes) {
  auto a = at_the_others(), b = at_the_victim({.request_timeout = 1s});
  std::atomic<std::size_t> holders{99};
  const auto watched = tyer::admin{b}.watch(name(), [&](const auto& all) { holders = all.size(); });
  ASSERT_TRUE(eventually([&] { return holders == 0; }));
  hang();
  auto h = tyer::mutex{a, name(), {.ttl = 30s}}.acquire();
  const stopwatch watch;
  EXPECT_TRUE(eventually([&] { return holders == 1; }));
  EXPECT_LT(watch.elapsed(), 1s + 1s + slack + majority_away());  // it looks every second, and waits for one more
}

TEST_P(hung_server, keeps_an_idle_client_that_comes_back_for_no_longer_than_one_request) {
  auto c = at_the_victim({.request_timeout = 1s});
  tyer::mutex lock{c, name(), {.ttl = 30s}};
  hang();
  const stopwatch watch;
  EXPECT_TRUE(took(lock.acquire()));
  EXPECT_LT(watch.elapsed(), 1s + slack + majority_away());
}

// A client with something of everything on its way: a renewal, a place that is kept, a look, and a request.
struct busy_client {
  busy_client(tyer::client from, const std::string& name) : c(std::move(from)), name(name) {}

  tyer::client c;
  std::string name;
  tyer::mutex lock{c, name, {.ttl = 6s}}, other{c, name + "/theirs", {.ttl = 6s}}, third{c, name + "/third"};
  tyer::hold h = lock.acquire();
  started waiting = acquire_later(other);
  tyer::observation watched = tyer::admin{c}.watch(name, [](const auto&) {});
  std::optional<started> asking;

  bool asks_in_vain() {
    asking = acquire_later(third);
    return !eventually([&] { return asking->done.wait_for(0s) == std::future_status::ready; }, 300ms);
  }
};

TEST_P(hung_server, does_not_keep_a_client_from_being_closed) {
  auto others = at_the_others();
  auto theirs = tyer::mutex{others, name() + "/theirs", {.ttl = 30s}}.acquire();
  std::optional<busy_client> b;
  for (int tries = 0;; ++tries) {
    ASSERT_LT(tries, 4) << "each time the client had left the victim before it hung";  // which it may, if it is slow
    b.emplace(at_the_victim(), name());
    ASSERT_TRUE(eventually([&] { return raw().waiting(name() + "/theirs").size() == 1; }));
    hang();
    if (b->asks_in_vain()) break;
    b.reset();
    go_on();
  }
  const stopwatch watch;
  b->c.close();
  EXPECT_LT(watch.elapsed(), 1s + slack);
  EXPECT_EQ(soon(b->waiting.done).why.code, errc::closed);
  EXPECT_EQ(soon(b->asking->done).why.code, errc::closed);
  EXPECT_FALSE(b->h.valid());
}

TEST_P(hung_server, and_a_dead_one_that_is_replaced_by_a_new_one_cost_a_quiet_holder_nothing) {
  auto c = at_the_victim();
  tyer::mutex lock{c, name(), {.ttl = 10s}};
  const auto h = lock.acquire();
  const auto token = h.token();
  ASSERT_TRUE(is_quiet(h));
  servers.tell("kill", victim.name);
  servers.settle();
  servers.tell("replace", victim.name);
  servers.settle();
  EXPECT_TRUE(is_kept_after(h, tyer::lease_clock::now(), 10s));
  EXPECT_EQ(h.token(), token);
}

}  // namespace
}  // namespace contract
