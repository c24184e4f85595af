// Behind PgBouncer, transaction by transaction: what is set for a session is another client's by the next statement.
#include "contract/api/server.hpp"

#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>

namespace contract {
namespace {

using namespace std::chrono_literals;

// A place is kept so rarely that whoever has the lock soon was told.
constexpr tyer::lock_options rarely_kept{.ttl = 60s, .waiter_ttl = 60s};

TEST(pooler, whoever_waits_is_told_although_no_bell_comes_through) {
  const auto name = fresh_name();
  tyer::client a{engine_uri()}, b{engine_uri()};
  tyer::mutex here{a, name, rarely_kept}, there{b, name, rarely_kept};
  tyer::hold h = here.acquire();
  auto next = std::async(std::launch::async, [&] { return there.try_acquire_for(60s).valid(); });
  while (tyer::admin{a}.show(name).size() < 2) std::this_thread::sleep_for(10ms);
  h.release();
  ASSERT_EQ(next.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(next.get());
}

TEST(pooler, a_holder_is_told_that_somebody_asks) {
  const auto name = fresh_name();
  tyer::client a{engine_uri()}, b{engine_uri()};
  tyer::mutex here{a, name, rarely_kept};
  tyer::hold h = here.acquire();
  std::promise<void> asked;
  const std::stop_callback told{h.revoked(), [&] { asked.set_value(); }};
  EXPECT_EQ(b.ask(name), 1u);
  EXPECT_EQ(asked.get_future().wait_for(10s), std::future_status::ready);
}

TEST(pooler, is_noticed_and_said_once) {
  std::mutex guard;
  int said = 0;
  tyer::client c{engine_uri(), {.log = [&](tyer::log_level, std::string_view words) {
                   const std::lock_guard lock{guard};
                   said += words.find("pooler") != words.npos ? 1 : 0;
                 }}};
  ASSERT_TRUE(c.wait_ready());
  tyer::mutex m{c, fresh_name()};
  m.acquire().release();
  const std::lock_guard lock{guard};
  EXPECT_EQ(said, 1);
}

// There the lock would lie in a session that the pooler gives to somebody else.
TEST(pooler, locks_of_a_session_are_refused_in_words) {
  tyer::client c{engine_uri() + "&lock=session"};
  tyer::mutex m{c, fresh_name()};
  try {
    (void)m.acquire();
    FAIL() << "it was granted";
  } catch (const tyer::error& e) {
    EXPECT_EQ(e.code(), tyer::errc::refused);
    EXPECT_NE(std::string{e.what()}.find("pooler"), std::string::npos) << e.what();
  }
}

// The pooler stays, so no connection breaks: whoever holds something shows once that it stands.
TEST(pooler, a_server_that_is_started_anew_behind_it_costs_no_hold) {
  server engine;
  const auto name = fresh_name();
  tyer::client a{engine_uri()}, b{engine_uri()};
  tyer::mutex here{a, name, tyer::lock_options{.ttl = 20s}}, there{b, name};
  tyer::hold h = here.acquire();
  engine.kill("main");
  engine.restart("main");
  EXPECT_TRUE(h.confirm());
  EXPECT_FALSE(there.try_acquire_for(1s).valid());
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
  EXPECT_TRUE(there.try_acquire_for(20s).valid());
}

}  // namespace
}  // namespace contract
