// Host names that are looked up slowly, or that have an address where nobody answers. This program has its own getaddrinfo().
#include "core/clock.hpp"
#include "engines/etcd/wire/wire.hpp"
#include "unit/etcd/socket_server.hpp"
#include "unit/names/deaf_server.hpp"
#include "unit/names/name_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace tyer::etcd::wire {
namespace {

using namespace std::chrono_literals;
namespace name_server = test::name_server;

struct etcd_names : ::testing::Test {
  bool is_answered_within(lease_clock::duration d) {
    const auto to = connect(loop, {"lock.example", server.port()}, {}, 500ms);
    bool answered = false;
    for (const auto end = clock.now() + d; clock.now() < end && !answered;) {
      bool over = false;
      call({to, "/pkg.Service/Method", {}}, "x", 500ms, [&](const status& s, const std::string&) {
        over = true;
        answered = s.ok();
      });
      while (!over) loop.run(clock.now() + 20ms);
    }
    return answered;
  }

  const core::boot_clock clock;
  socket_server server{[](server_end& s, std::int32_t stream) { socket_server::answer(s, stream, "answer"); }};
  class loop loop{clock};
};

// It was: an attempt to connect had the time of a request, the lookup counted, and the next attempt looked up anew.
TEST_F(etcd_names, a_name_server_slower_than_an_attempt_kept_the_client_out_for_ever) {
  name_server::take(1200ms);
  name_server::know("lock.example", {"127.0.0.1"});
  EXPECT_TRUE(is_answered_within(10s));
  name_server::take(0ms);
}

// It was: the first address had all the time of an attempt, and each attempt began with it.
TEST_F(etcd_names, an_address_that_does_not_answer_kept_the_client_from_the_next_for_ever) {
  const test::deaf_server deaf{"127.0.0.2", server.port()};
  if (!deaf.is_deaf()) GTEST_SKIP() << "this system answers whoever connects";
  name_server::know("lock.example", {"127.0.0.2", "127.0.0.1"});
  EXPECT_TRUE(is_answered_within(10s));
}

}  // namespace
}  // namespace tyer::etcd::wire
