#include "contract/api/fixture.hpp"

#include <tyer/admin.hpp>
#include <tyer/election.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace contract {
namespace {

template <class Kind>
class closing : public contract_of<Kind> {
 protected:
  static inline const tyer::lock_options long_lived{.ttl = 60s, .waiter_ttl = 30s};
};
TYPED_TEST_SUITE(closing, blocking_kinds);

TYPED_TEST(closing, ends_waits_tells_holds_and_gives_everything_back) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto mine = this->make(a, this->long_lived);
  auto theirs = this->make_as(b, this->name() + "/theirs", this->long_lived).acquire();
  auto h = mine.acquire();
  auto local = in_background([&] { return code_of([&] { static_cast<void>(mine.acquire()); }); });
  auto waiting = in_background([&] {
    return code_of([&] { static_cast<void>(this->make_as(a, this->name() + "/theirs", this->long_lived).acquire()); });
  });
  ASSERT_TRUE(eventually([&] { return this->raw().waiting(this->name() + "/theirs").size() == 1; }));

  const stopwatch watch;
  EXPECT_TRUE(a.close());
  EXPECT_LT(watch.elapsed(), slack);
  EXPECT_EQ(soon(local), errc::closed);
  EXPECT_EQ(soon(waiting), errc::closed);
  EXPECT_TRUE(wait_for_loss(h.lost(), slack));
  EXPECT_FALSE(h.valid());
  EXPECT_EQ(h.release(), tyer::release_outcome::already_gone);

  EXPECT_EQ(code_of([&] { static_cast<void>(mine.acquire()); }), errc::closed);
  EXPECT_EQ(code_of([&] { static_cast<void>(mine.try_acquire()); }), std::errc::not_connected);
  EXPECT_EQ(code_of([&] { static_cast<void>(a.wait_ready(1s)); }), errc::closed);
  EXPECT_TRUE(took(this->make(b).try_acquire()));  // it was given back, not left to its ttl
  EXPECT_TRUE(theirs.valid());
  EXPECT_TRUE(a.close());
}

TYPED_TEST(closing, without_time_still_ends_every_wait) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto b = this->connect();
  auto theirs = this->make(b, this->long_lived).acquire();
  for (int i = 0; i < 20; ++i) {
    auto a = this->connect();
    auto lock = this->make(a, this->long_lived);
    auto waiting = acquire_later(lock);
    if (i % 2 == 0) {
      ASSERT_TRUE(this->queue_has(1));
    }
    a.close(0ms);
    EXPECT_EQ(soon(waiting.done).why.code, errc::closed);
  }
}

TYPED_TEST(closing, at_the_moment_of_a_call_leaves_no_caller_waiting) {
  for (int i = 0; i < 50; ++i) {
    auto a = this->connect();
    auto lock = this->make(a, this->long_lived);
    std::atomic<bool> go{false};
    auto calls = in_background([&] {
      while (!go) std::this_thread::yield();
      for (;;) {
        tyer::failure why;
        auto h = lock.acquire(why);
        if (why) return why.code;
        h.release(why);
      }
    });
    go = true;
    if (i % 2 == 0) std::this_thread::yield();
    a.close();
    EXPECT_EQ(soon(calls), errc::closed);
  }
}

TYPED_TEST(closing, the_destructor_does_the_same) {
  std::optional<tyer::client> a{this->connect()};
  auto b = this->connect();
  auto lock = this->make(*a, this->long_lived);
  auto h = lock.acquire();
  const stopwatch watch;
  a.reset();
  EXPECT_LT(watch.elapsed(), slack);
  EXPECT_TRUE(h.lost().stop_requested());  // told before the destructor has returned
  EXPECT_FALSE(h.valid());
  EXPECT_EQ(code_of([&] { static_cast<void>(lock.acquire()); }), errc::closed);
  EXPECT_TRUE(took(this->make(b).try_acquire()));
}

TYPED_TEST(closing, a_release_handed_over_before_is_drained) {
  auto b = this->connect();
  for (int i = 0; i < 20; ++i) {
    {
      auto a = this->connect();
      auto h = this->make(a, this->long_lived).acquire();
    }
    EXPECT_TRUE(took(this->make(b, this->long_lived).try_acquire())) << i;
  }
}

TYPED_TEST(closing, from_a_callback_of_its_own_does_not_wait_for_itself) {
  auto a = std::make_unique<tyer::client>(this->connect());
  auto b = this->connect();
  auto h = this->make(*a, this->long_lived).acquire();
  std::promise<void> done;
  {
    const std::stop_callback callback{h.lost(), [&] {
                                        a.reset();
                                        done.set_value();
                                      }};
    const auto held = this->raw().holding(this->name());
    ASSERT_EQ(held.size(), 1U);
    this->raw().evict(held.front());
    soon(done.get_future());
  }
  EXPECT_TRUE(took(this->make(b).try_acquire_for(patience)));
}

TYPED_TEST(closing, the_last_owner_of_everything_may_be_a_callback) {
  for (int i = 0; i < 10; ++i) {
    auto client = std::make_shared<tyer::client>(this->connect());
    auto h = std::make_shared<hold_of<typename TypeParam::type>>(this->make(*client, this->long_lived).acquire());
    const auto lost = h->lost();
    std::promise<void> done;
    using callback = std::stop_callback<std::function<void()>>;
    auto registered = std::make_shared<callback>(lost, [&done, c = std::move(client), h = std::move(h)]() mutable {
      h.reset();
      c.reset();
      done.set_value();
    });
    const auto held = this->raw().holding(this->name());
    ASSERT_EQ(held.size(), 1U);
    this->raw().evict(held.front());
    soon(done.get_future());
  }
}

TYPED_TEST(closing, an_engine_that_is_away_costs_the_destructor_a_second) {
  if (!this->engine.there()) GTEST_SKIP() << no_server;
  std::optional<tyer::client> a{this->connect()};
  auto lock = this->make(*a, this->long_lived);
  auto h = lock.acquire();
  auto waiting = acquire_later(lock);
  this->engine.pause();
  const stopwatch watch;
  a.reset();
  EXPECT_LT(watch.elapsed(), 1s + slack);
  EXPECT_TRUE(h.lost().stop_requested());
  EXPECT_EQ(soon(waiting.done).why.code, errc::closed);
}

// Went wrong: these waited for the engine's answer, and the engine had been closed.
struct closing_a_client : fixture {};

TEST_F(closing_a_client, left_those_waiting_who_had_asked_a_silent_engine_something) {
  if (!this->engine.there()) GTEST_SKIP() << no_server;
  auto c = std::make_unique<tyer::client>(connect({.request_timeout = 1h}));
  const tyer::admin people{*c};
  const bool elects = can().token && can().owners;
  std::optional<tyer::election> office;
  if (elects) office.emplace(*c, name());
  this->engine.pause();
  std::vector<std::future<std::error_code>> calls;
  calls.push_back(in_background([&] { return code_of([&] { static_cast<void>(c->ask(name())); }); }));
  calls.push_back(in_background([&] { return code_of([&] { static_cast<void>(people.show(name())); }); }));
  calls.push_back(in_background([&] { return code_of([&] { static_cast<void>(people.diagnose()); }); }));
  if (elects) calls.push_back(in_background([&] { return code_of([&] { static_cast<void>(office->current()); }); }));
  for (auto& call : calls) EXPECT_EQ(call.wait_for(100ms), std::future_status::timeout);
  c->close(0ms);
  for (auto& call : calls) EXPECT_EQ(soon(call), errc::closed);
}

}  // namespace
}  // namespace contract
