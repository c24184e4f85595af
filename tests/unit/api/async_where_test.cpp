// tyer/async.hpp: where callbacks run when the client cannot run them as it usually does.
#include "api/open.hpp"
#include "sanitized.hpp"
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/async.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <stop_token>
#include <system_error>
#include <thread>

namespace tyer::testing_api {
namespace {

// The exit code of a child, in which no thread of the client's is.
template <class F>
int in_forked_child(F f) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(20);  // a child that hangs must not hang the test
    ::_exit(f());
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(async_callbacks, of_a_forked_child_never_came) {
  for (const bool own_loop : {false, true}) {
    client_options options;
    if (own_loop) options.completions = [](std::function<void()> f) { f(); };
    client c{"memory://", options};
    mutex m{c, "x"};
    shared_mutex s{c, "s"};
    multi_mutex all{c, {"1", "2"}};
    ASSERT_TRUE(c.wait_ready());
    hold h = m.acquire(), shared = s.shared().acquire();
    EXPECT_EQ(in_forked_child([&] {
                int forked = 0;
                const auto count = [&](const failure& f) { forked += f.code == errc::forked ? 1 : 0; };
                start_acquire(m, [&](failure f, hold) { count(f); });
                start_try_acquire_for(m, 1s, [&](failure f, hold) { count(f); });
                start_acquire(all, [&](failure f, multi_hold) { count(f); });
                start_upgrade(s, shared, [&](failure f, bool) { count(f); });
                start_wait_ready(c, 1s, [&](failure f) { count(f); });
                start_release(std::move(h), [&](failure f, release_outcome) { count(f); });
                return forked;
              }),
              6);
    EXPECT_TRUE(h.valid());
  }
}

// It was: the end of the process, or of a blocking call of somebody else, whose lock then stayed taken for ever.
TEST(async_callbacks, of_an_executor_that_throws_come_all_the_same) {
  std::atomic<int> thrown{0};
  client_options options;
  options.completions = [&](const std::function<void()>&) {
    ++thrown;
    throw std::system_error{std::make_error_code(std::errc::resource_unavailable_try_again)};
  };
  client c{"memory://executor-throws", options};
  mutex m{c, "x"}, other{c, "y"};
  multi_mutex several{c, {"1", "2"}};
  election e{c, "e"};
  std::promise<void> seen;
  std::atomic<bool> told{false};
  const auto watching = e.observe([&](const auto&) {
    if (!told.exchange(true)) seen.set_value();
  });
  for (int i = 0; i < 20; ++i) {
    std::promise<bool> done;
    start_acquire(several, [&](const failure&, multi_hold both) {
      start_acquire(m, [&, both = std::make_shared<multi_hold>(std::move(both))](const failure&, hold h) {
        auto kept = std::make_shared<hold>(std::move(h));
        start_confirm(*kept, [&, kept](const failure&, bool stands) {
          start_release(std::move(*kept),
                        [&, stands](const failure& f, release_outcome) { done.set_value(stands && !f); });
        });
      });
    });
    EXPECT_TRUE(took(other.acquire()));
    EXPECT_TRUE(done.get_future().get());
  }
  seen.get_future().get();
  EXPECT_GE(thrown, 80);
  std::stop_source stopped;
  stopped.request_stop();
  std::promise<failure> cancelled;
  start_acquire(m, [&](failure f, hold) { cancelled.set_value(std::move(f)); }, stopped.get_token());
  EXPECT_EQ(cancelled.get_future().get(), errc::cancelled);
}

// And who has no client at all: of an empty hold, say.
TEST(async_callbacks, of_a_closed_client_ran_all_at_once) {
  client c{"memory://"};
  mutex m{c, "x"};
  ASSERT_TRUE(c.wait_ready());
  c.close();
  constexpr int calls = 50;
  for (const bool no_client : {false, true}) {
    std::atomic<int> inside{0}, most{0}, over{0};
    std::promise<void> all;
    const auto callback = [&](const failure&, auto&&) {
      most = std::max(most.load(), ++inside);
      std::this_thread::sleep_for(1ms);
      --inside;
      if (++over == calls) all.set_value();
    };
    for (int i = 0; i < calls; ++i) {
      no_client ? start_release(hold{}, callback) : start_try_acquire(m, callback);
    }
    within_reason(all.get_future());
    EXPECT_EQ(most, 1);
  }
}

// ---- the end of the process

struct calls_when_destroyed {
  ~calls_when_destroyed() {
    start_release(hold{}, [](const failure&, release_outcome) {
      std::this_thread::sleep_for(50ms);  // longer than the rest of exit() takes
      std::fputs("called at the end", stderr);
    });
  }
};

TEST(async_callbacks, of_a_call_in_a_static_destructor_came_when_the_process_was_gone) {
  if (tyer::test::under_tsan) GTEST_SKIP() << "ThreadSanitizer knows no threads in a forked child";
  // A child that is only forked can take over a callback whose thread it does not have, which LeakSanitizer calls a leak.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [] {
    static const calls_when_destroyed last;
    std::exit(7);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(7), "called at the end");
}

// ---- an executor that runs at once what it is given

thread_local bool inside_completions = false;

client_options runs_at_once() {
  return {.completions = [](std::function<void()> f) {
    inside_completions = true;
    f();
    inside_completions = false;
  }};
}

TEST(async_callbacks, that_completions_ran_at_once_ran_in_the_midst_of_the_engine) {
  for (const bool closed : {false, true}) {
    auto c = std::make_unique<client>("memory://", runs_at_once());
    auto m = std::make_unique<mutex>(*c, "x");
    ASSERT_TRUE(c->wait_ready());
    if (closed) c->close();
    const acquirable own = *m;
    std::promise<bool> inside;
    start_acquire(own, [&](failure f, hold h) {
      EXPECT_EQ(f.code, closed ? errc::closed : std::error_code{});
      h = {};
      m.reset();
      c.reset();  // whoever called this must not need it any more
      inside.set_value(inside_completions);
    });
    EXPECT_FALSE(within_reason(inside.get_future()));
  }
}

TEST(async_callbacks, that_completions_ran_at_once_kept_another_call_waiting_for_ever) {
  client c{"memory://", runs_at_once()};
  mutex one{c, "1"}, two{c, "2"};
  ASSERT_TRUE(c.wait_ready());
  std::promise<void> called, taken;
  std::promise<std::future_status> waited;
  start_acquire(one, [&](failure, hold) {
    called.set_value();
    waited.set_value(taken.get_future().wait_for(5s));
  });
  within_reason(called.get_future());
  EXPECT_TRUE(took(two.acquire()));
  taken.set_value();
  EXPECT_EQ(within_reason(waited.get_future()), std::future_status::ready);
}

// ---- what is the user's, in the midst of our work

TEST(user_code_inside, an_executor_that_waited_for_a_lock_waited_for_itself) {
  client* own = nullptr;
  std::promise<std::error_code> told;
  std::atomic<bool> first{true};
  client c{"memory://", {.completions = [&](std::function<void()> f) {
             if (first.exchange(false)) {
               failure why;
               const hold none = mutex{*own, "inside"}.try_acquire(why);
               told.set_value(why.code);
             }
             std::thread{std::move(f)}.detach();
           }}};
  own = &c;
  ASSERT_TRUE(c.wait_ready());
  std::promise<void> called;
  start_acquire(mutex{c, "x"}, [&](failure, hold) { called.set_value(); });
  EXPECT_EQ(within_reason(told.get_future()), errc::would_deadlock);
  within_reason(called.get_future());
}

TEST(user_code_inside, a_log_that_waited_for_a_lock_or_threw_took_the_client_along) {
  client c{"memory://"};
  const mutex m{c, "x"};
  std::error_code inside;
  const auto log = detail::careful([&](log_level, std::string_view) {
    failure why;
    const hold none = m.try_acquire(why);
    inside = why.code;
    throw why;
  });
  EXPECT_NO_THROW(log(log_level::info, "a line"));
  EXPECT_EQ(inside, errc::would_deadlock);
  EXPECT_TRUE(took(m.try_acquire())) << "and behind it all is as before";
}

}  // namespace
}  // namespace tyer::testing_api
