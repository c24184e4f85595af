// Host names with several addresses, and name servers that do not behave. This program has its own getaddrinfo().
#include "sanitized.hpp"
#include "unit/names/deaf_server.hpp"
#include "unit/names/name_server.hpp"
#include "unit/names/threads.hpp"
#include "unit/redis/engine_client.hpp"
#include "unit/redis/own_server.hpp"
#include "unit/redis/raw_redis.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;

// The text between the last colon of the address and the options.
std::string port_of(const std::string& uri) {
  const auto at = uri.rfind(':', uri.find('?')) + 1;
  return uri.substr(at, uri.find_first_of("/?", at) - at);
}

TEST(redis_names, the_second_address_is_tried_in_the_same_attempt) {
  name_server::know("lock.example", {"127.0.0.9", "::1", "127.0.0.1"});  // nobody listens at the others
  engine_client a{"redis://lock.example:" + port_of(server_uri())};
  ASSERT_TRUE(a.ready()) << a.logged;
  EXPECT_EQ(a.downs, 0) << a.logged;
  EXPECT_NE(granted(a.acquire(a.ids.next(), "second_address")), nullptr);
}

// It was: the first address had all the time of an attempt, and each attempt began with it.
TEST(redis_names, an_address_that_does_not_answer_kept_the_client_from_the_next_for_ever) {
  const deaf_server deaf{"127.0.0.2", static_cast<std::uint16_t>(std::stoi(port_of(server_uri())))};
  if (!deaf.is_deaf()) GTEST_SKIP() << "this system answers whoever connects";
  name_server::know("lock.example", {"127.0.0.2", "127.0.0.1"});
  engine_client a{"redis://lock.example:" + port_of(server_uri())};
  EXPECT_TRUE(a.ready()) << a.logged;
  EXPECT_EQ(a.downs, 0) << a.logged;
}

TEST(redis_names, if_no_address_is_reached_the_words_name_the_host) {
  name_server::know("lock.example", {"127.0.0.9", "127.0.0.8"});
  engine_client a{"redis://lock.example:1"};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  EXPECT_EQ(a.absence.words, "cannot connect to redis://lock.example:1: Connection refused");
}

TEST(redis_names, a_name_that_is_not_known_is_said_to_be_so_and_tried_again) {
  engine_client a{"redis://later.example:" + port_of(server_uri())};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  EXPECT_TRUE(a.absence.words.starts_with("the host name later.example cannot be resolved: Host not found"))
      << a.absence.words;
  name_server::know("later.example", {"127.0.0.1"});
  EXPECT_TRUE(a.ready()) << a.logged;
}

TEST(redis_names, a_lookup_that_takes_too_long_is_given_up_and_joined_again) {
  name_server::know("slow.example", {"127.0.0.1"});
  name_server::answer(false);
  engine_client a{"redis://slow.example:" + port_of(server_uri())};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }, 20s));
  EXPECT_EQ(a.absence.words, "the host name slow.example was not resolved in time");
  EXPECT_EQ(name_server::asked(), 1);
  name_server::answer(true);
  EXPECT_TRUE(a.ready()) << a.logged;
}

// It was: the first of two name servers was dead, which costs 5 s. An attempt has as many, pauses, and began the lookup anew.
TEST(redis_names, a_lookup_that_ended_in_the_pause_between_two_attempts_kept_the_client_out_for_ever) {
  name_server::know("slow.example", {"127.0.0.1"});
  name_server::answer(false);
  engine_client a{"redis://slow.example:" + port_of(server_uri())};
  ASSERT_TRUE(a.until([&] { return a.downs == 1; }, 20s));
  const auto before = threads();
  name_server::answer(true);  // nobody asks in this moment: the loop stands still
  for (const auto end = std::chrono::steady_clock::now() + 20s;
       threads() >= before && std::chrono::steady_clock::now() < end;) {
    std::this_thread::sleep_for(1ms);
  }
  name_server::answer(false);
  EXPECT_TRUE(a.ready()) << a.logged;
  EXPECT_EQ(name_server::asked(), 0);
  name_server::answer(true);
}

TEST(redis_names, an_engine_that_is_closed_while_it_looks_up_does_not_connect_any_more) {
  sockaddr_in at{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
  socklen_t size = sizeof at;
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&at), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
  name_server::know("slow.example", {"127.0.0.1"});
  name_server::answer(false);
  engine_client a{"redis://slow.example:" + std::to_string(ntohs(at.sin_port))};
  ASSERT_TRUE(a.until([&] { return name_server::asked() == 1; }));
  bool closed = false;
  a.value->close([&](auto&&) { closed = true; });
  ASSERT_TRUE(a.until([&] { return closed; }, 3s));
  name_server::answer(true);
  EXPECT_FALSE(a.until([&] { return ::accept(listener, nullptr, nullptr) >= 0; }, 300ms));
  ::close(listener);
}

class without_threads : public testing::TestWithParam<const char*> {
  void SetUp() override {
    if (under_pointer_checks) GTEST_SKIP() << "Asio's async_resolve, when it throws, takes a member of a null pointer";
  }
};

TEST_P(without_threads, a_connection_that_finds_none_is_tried_again) {
  name_server::know("lock.example", {"127.0.0.1"});
  engine_client a{GetParam() + port_of(server_uri())};
  {
    const no_thread now;
    ASSERT_TRUE(a.until([&] { return a.downs == 1; }));
  }
  EXPECT_NE(a.absence.words.find("Resource temporarily unavailable"), std::string::npos) << a.absence.words;
  EXPECT_TRUE(a.ready()) << a.logged;
}

INSTANTIATE_TEST_SUITE_P(of, without_threads, testing::Values("redis://127.0.0.1:", "redis://lock.example:"));

TEST(redis_names, tls_expects_the_name_and_not_the_address) {
  const own_server server{"--tls"};
  const auto ca = "?ca=" + server.folder() + "/tls/ca.crt";
  name_server::know("localhost", {"127.0.0.9", "127.0.0.1"});
  engine_client a{"rediss://localhost:" + port_of(server.uri()) + ca};
  EXPECT_TRUE(a.ready()) << a.logged;
  name_server::know("lock.example", {"127.0.0.1"});  // an address that the certificate is made for
  engine_client b{"rediss://lock.example:" + port_of(server.uri()) + ca};
  ASSERT_TRUE(b.until([&] { return b.downs == 1; }));
  EXPECT_NE(b.absence.words.find("it is not made for lock.example"), std::string::npos) << b.absence.words;
}

}  // namespace
