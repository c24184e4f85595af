#include "sanitized.hpp"
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/debug.hpp>
#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <source_location>
#include <string>
#include <thread>
#include <utility>

namespace tyer::testing_api {
namespace {

std::string site(const std::source_location& at) { return "debug_test.cpp:" + std::to_string(at.line()); }

template <class F>
failure failing(F f) {
  try {
    f();
  } catch (const error& e) {
    return {e.code(), e.words()};
  }
  return {};
}
template <class F>
bool refused(F f) {
  return failing(f) == errc::would_deadlock;
}

// ---- waiting for a lock that the thread itself has

class own_wait : public ::testing::Test {
 protected:
  testing::engine engine;
  client c = engine.connect({.refuse_own_wait = true}), elsewhere = engine.connect();
  mutex m{c, "x"}, same{c, "x", {.ttl = 7s}};
};

TEST_F(own_wait, is_refused_with_both_call_sites) {
  const auto first = std::source_location::current();
  hold h = m.acquire(first);
  const auto second = std::source_location::current();
  const auto why = failing([&] { static_cast<void>(same.acquire(second)); });
  EXPECT_TRUE(why == errc::would_deadlock);
  EXPECT_EQ(why.words, "this thread has acquired 'x' at " + site(first) +
                           ", still has it, and would wait for itself at " + site(second));
  EXPECT_TRUE(h.valid());
}

TEST_F(own_wait, is_refused_however_it_is_asked_for) {
  hold h = m.acquire();
  failure why;
  EXPECT_FALSE(took(m.acquire(why)));
  EXPECT_TRUE(why == errc::would_deadlock);
  EXPECT_TRUE(refused([&] { static_cast<void>(m.try_acquire_for(1h)); }));
  EXPECT_TRUE(refused([&] { m.lock(); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(same.try_lock_for(1h)); }));
  EXPECT_TRUE(refused([&] { recursive_mutex{c, "x"}.lock(); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(multi_mutex{c, {"w", "x"}}.acquire()); }));
  EXPECT_TRUE(took(mutex{elsewhere, "w"}.try_acquire_for(1s))) << "what was taken on the way is given back";
  EXPECT_TRUE(refused([&] { static_cast<void>(shared_mutex{c, "x"}.shared().acquire()); }));
}

// The names before it were waited for first: for ever, if who has those waits for what this thread has.
TEST_F(own_wait, of_a_multi_mutex_was_refused_only_when_the_names_before_it_were_free) {
  const hold theirs = mutex{elsewhere, "w", {.ttl = 24h}}.acquire(), mine = m.acquire();
  multi_mutex both{c, {"w", "x"}};
  const auto began = engine.now();
  EXPECT_TRUE(refused([&] { static_cast<void>(both.try_acquire_for(1min)); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(both.try_lock_for(1min)); }));
  EXPECT_EQ(engine.now(), began);
  EXPECT_FALSE(took(both.try_acquire())) << "a try waits for nobody";
}

TEST_F(own_wait, of_a_guard_is_refused_too_through_whichever_object) {
  const std::scoped_lock mine{m};
  EXPECT_TRUE(refused([&] { same.lock(); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(same.acquire()); }));
}

TEST_F(own_wait, is_none_if_nothing_is_waited_for) {
  hold h = m.acquire();
  EXPECT_FALSE(took(m.try_acquire()));
  EXPECT_FALSE(took(m.try_acquire_for(0s)));
  EXPECT_FALSE(same.try_lock());
}

TEST_F(own_wait, is_over_when_the_lock_is_given_back_by_whichever_thread) {
  hold h = m.acquire();
  std::thread{[theirs = std::move(h)]() mutable { theirs.release(); }}.join();
  h = m.acquire();
  h = {};
  h = m.acquire();
  EXPECT_TRUE(h.valid());
}

TEST_F(own_wait, of_another_thread_is_a_wait) {
  hold h = m.acquire();
  auto other = std::async(std::launch::async, [&] { return took(same.acquire()); });
  EXPECT_TRUE(engine.wait_for_waiters("x", 1));
  h = {};
  EXPECT_TRUE(within_reason(std::move(other)));
}

TEST_F(own_wait, that_ends_by_itself_is_waited_for) {
  hold lost = m.acquire();
  engine.lose(lost);
  EXPECT_TRUE(took(m.acquire()));
  hold limited = mutex{c, "x", {.max_hold = 20s}}.acquire();
  EXPECT_TRUE(took(m.acquire()));
}

TEST_F(own_wait, is_that_of_a_client_which_was_asked_to_refuse_it) {
  mutex theirs{elsewhere, "x"};
  hold h = theirs.acquire();
  EXPECT_FALSE(took(theirs.try_acquire_for(1s)));
  EXPECT_FALSE(took(m.try_acquire_for(1s))) << "another client is another contender";
}

TEST_F(own_wait, of_readers_is_one_if_a_writer_is_among_them) {
  shared_mutex s{c, "s"};
  hold reads = s.shared().acquire();
  EXPECT_TRUE(took(s.shared().acquire()));
  EXPECT_TRUE(refused([&] { static_cast<void>(s.acquire()); }));
  EXPECT_TRUE(s.upgrade(reads));
  EXPECT_TRUE(refused([&] { static_cast<void>(s.shared().acquire()); })) << "it writes now";
}

TEST_F(own_wait, for_permits_is_one_if_its_own_leave_too_few) {
  const semaphore three{c, "p", 3};
  hold two = three.permits(2).acquire(), third;
  EXPECT_TRUE(refused([&] { static_cast<void>(three.permits(2).acquire()); }));
  third = three.acquire();
  EXPECT_TRUE(refused([&] { static_cast<void>(three.acquire()); }));
  two = {};
  EXPECT_TRUE(took(three.permits(2).acquire()));
}

// A reader that leaves gives back the hold with the least time left, whoever has acquired it.
TEST_F(own_wait, of_a_reader_that_had_left_was_told_of_another_readers_hold) {
  shared_mutex s{c, "s"};
  std::thread{[&] { s.lock_shared(); }}.join();
  engine.advance(1s);
  s.lock_shared();
  s.unlock_shared();
  EXPECT_FALSE(s.try_lock_for(1s)) << "the other still reads: a wait";
  s.lock_shared();
  EXPECT_TRUE(refused([&] { s.lock(); }));
  s.unlock_shared();
  s.unlock_shared();
  EXPECT_TRUE(s.try_lock_for(1s));
  s.unlock();
}

// It was waited for to its limit, at the gate of the object.
TEST_F(own_wait, with_a_limit_was_not_refused_by_the_object_that_is_locked) {
  multi_mutex several{c, {"v", "w"}};
  several.lock();
  EXPECT_TRUE(refused([&] { static_cast<void>(several.try_lock_for(1h)); }));
  several.unlock();
  m.lock();
  engine.lose(m.held());
  EXPECT_TRUE(refused([&] { static_cast<void>(m.try_lock_for(1h)); })) << "lost, and its gate is shut";
  m.unlock();
}

// It waited for ever: its hold ends by itself, but not its own place among the readers of the object.
TEST_F(own_wait, of_a_reader_whose_hold_ends_by_itself_was_not_refused) {
  shared_mutex s{c, "s", {.max_hold = 20s}};
  s.lock_shared();
  EXPECT_TRUE(refused([&] { s.lock(); }));
  EXPECT_TRUE(refused([&] { static_cast<void>(s.try_lock_for(1h)); }));
  s.unlock_shared();
  EXPECT_TRUE(s.try_lock_for(1s));
  s.unlock();
}

// It was told of a deadlock, though a client that is closed waits for nothing.
TEST_F(own_wait, at_a_client_that_was_closed_was_one) {
  shared_mutex s{c, "s"};
  multi_mutex several{c, {"v", "w"}};
  m.lock();
  s.lock();
  several.lock();
  c.close();
  EXPECT_TRUE(failing([&] { m.lock(); }) == errc::closed);
  EXPECT_TRUE(failing([&] { s.lock(); }) == errc::closed);
  EXPECT_TRUE(failing([&] { several.lock(); }) == errc::closed);
  m.unlock();
  s.unlock();
  several.unlock();
}

// It was told of a deadlock, which hid that two parts of a program do not agree.
TEST_F(own_wait, for_permits_of_another_number_was_one) {
  hold two = semaphore{c, "p", 5}.permits(2).acquire();
  EXPECT_TRUE(failing([&] { static_cast<void>(semaphore{c, "p", 1}.acquire()); }) == errc::permits_differ);
}

TEST_F(own_wait, that_is_refused_by_a_guard_says_where_its_lock_was_made) {
  const auto line = std::source_location::current();
  mutex plain{elsewhere, "y", {}, line};
  const std::scoped_lock mine{plain};
  const auto why = failing([&] { plain.lock(); });
  EXPECT_NE(why.words.find("made at " + site(line)), std::string::npos) << why.words;
}

// ---- the order of locks

class order_of_locks : public ::testing::Test {
 protected:
  std::size_t pairs() const { return order->counts().pairs; }
  std::size_t reversed() const { return order->reports().size(); }

  std::shared_ptr<debug::order> order = std::make_shared<debug::order>();
  testing::engine engine;
  client one = engine.connect({.order = order}), other = engine.connect({.order = order});
  mutex a{one, "a"}, b{one, "b"};
};

TEST_F(order_of_locks, that_is_reversed_is_told_with_four_call_sites_before_anybody_waits) {
  const auto a1 = std::source_location::current();
  hold first = a.acquire(a1);
  const auto b1 = std::source_location::current();
  hold second = b.acquire(b1);
  second = {}, first = {};
  EXPECT_EQ(reversed(), 0U);
  const mutex a_too{other, "a"}, b_too{other, "b"};
  const auto b2 = std::source_location::current();
  second = b_too.acquire(b2);
  const auto a2 = std::source_location::current();
  const client third = engine.connect();
  const hold taken = mutex{third, "a"}.acquire();
  EXPECT_FALSE(took(a_too.try_acquire_for(1s, {}, a2)));
  ASSERT_EQ(reversed(), 1U);
  const auto steps = order->reports()[0].steps;
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].held + ' ' + steps[0].held_at, "b " + site(b2));
  EXPECT_EQ(steps[0].asked + ' ' + steps[0].asked_at, "a " + site(a2));
  EXPECT_EQ(steps[1].held + ' ' + steps[1].held_at, "a " + site(a1));
  EXPECT_EQ(steps[1].asked + ' ' + steps[1].asked_at, "b " + site(b1));
}

TEST_F(order_of_locks, is_not_asked_by_a_try) {
  hold first = a.acquire(), second = b.try_acquire();
  EXPECT_EQ(pairs(), 0U);
  second = {}, first = {};
  const std::scoped_lock both{a, b};  // waits for one and tries the other
  EXPECT_EQ(pairs(), 0U);
}

TEST_F(order_of_locks, counts_what_a_guard_a_reader_and_a_permit_have) {
  shared_mutex s{one, "s"};
  const semaphore p{one, "p", 2};
  {
    const std::scoped_lock mine{a};
    const std::shared_lock reads{s};
    hold permit = p.acquire();
    EXPECT_EQ(pairs(), 3U);
  }
  hold h = b.acquire();
  EXPECT_EQ(pairs(), 3U) << "all are given back";
}

TEST_F(order_of_locks, of_a_multi_mutex_is_that_of_its_names) {
  multi_mutex both{one, {"b", "a"}};
  { const std::scoped_lock mine{both}; }
  static_cast<void>(both.acquire());
  EXPECT_EQ(pairs(), 1U);
  hold second = b.acquire(), first = a.acquire();
  EXPECT_EQ(reversed(), 1U);
}

TEST_F(order_of_locks, forgets_a_hold_that_another_thread_has_given_back_or_that_ended_with_its_client) {
  hold h = a.acquire();
  std::thread{[theirs = std::move(h)]() mutable { theirs = {}; }}.join();
  h = b.acquire();
  EXPECT_EQ(pairs(), 0U);
  h = {};
  {
    client third = engine.connect({.order = order});
    hold ends = mutex{third, "c"}.acquire();
    third.close();
  }
  h = b.acquire();
  EXPECT_EQ(pairs(), 0U);
}

// It was still noted as held, as long as some lock object of the client was left.
TEST_F(order_of_locks, counted_a_hold_that_was_given_back_after_its_client_was_closed) {
  hold h = a.acquire();
  one.close();
  h = {};
  EXPECT_TRUE(took(mutex{other, "b"}.acquire()));
  EXPECT_EQ(pairs(), 0U);
}

TEST_F(order_of_locks, has_no_asynchronous_calls) {
  hold h = a.acquire();
  auto later = acquire_later(b);
  engine.advance(0s);
  hold second = later.get().got;
  EXPECT_TRUE(second.valid());
  h = {};
  h = a.acquire();
  EXPECT_EQ(pairs(), 0U);
}

TEST_F(order_of_locks, is_told_on_the_thread_that_asks_where_nothing_may_block) {
  std::thread::id where;
  std::error_code blocking;
  mutex* lock = nullptr;
  const auto told = [&](const debug::order_report&) {
    where = std::this_thread::get_id();
    failure why;
    static_cast<void>(lock->try_acquire(why));
    blocking = why.code;
  };
  client c = engine.connect({.order = std::make_shared<debug::order>(debug::order_options{.on_reversed = told})});
  mutex x{c, "x"}, y{c, "y"}, z{c, "z"};
  lock = &z;
  { const hold first = x.acquire(), second = y.acquire(); }
  { const hold first = y.acquire(), second = x.acquire(); }
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_EQ(blocking, errc::would_deadlock);
}

// The child went on with the call: it waited for threads that it does not have, or drove the parent's connection.
TEST(on_reversed, that_forked_left_the_child_waiting_for_the_lock) {
  if (tyer::test::under_tsan) GTEST_SKIP() << "ThreadSanitizer knows no threads in a forked child";
  pid_t child = -1;
  const auto order =
      std::make_shared<debug::order>(debug::order_options{.on_reversed = [&](const debug::order_report&) {
        child = ::fork();
        if (child == 0) ::alarm(20);  // a child that hangs must not hang the test
      }});
  const client c{"memory://on_reversed_forks", {.order = order}};
  const mutex a{c, "a"}, b{c, "b"};
  for (hold first = a.acquire(); first; first = {}) EXPECT_TRUE(took(b.acquire()));
  const hold second = b.acquire();
  failure why;
  const hold first = a.acquire(why);
  if (child == 0) ::_exit(!first && why == errc::forked ? 0 : 1);
  EXPECT_TRUE(first.valid()) << why.message();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(order_of_locks, of_what_has_no_thread_is_noted_in_a_scope) {
  {
    debug::order::scope flow{*order};
    flow.asks("a");
    flow.took("a");
    flow.asks("my own mutex");
    flow.took("my own mutex");
    flow.gave_back("a");
    flow.gave_back("a");
    flow.asks("b");
    EXPECT_EQ(pairs(), 2U);
  }
  debug::order::scope other_flow{*order};
  other_flow.took("my own mutex");
  other_flow.asks("a");
  EXPECT_EQ(reversed(), 1U);
}

TEST_F(order_of_locks, of_two_processes_is_compared_by_what_they_have_saved) {
  { const hold first = a.acquire(), second = b.acquire(); }
  debug::order both;
  both.load(order->save(), "shop");
  {
    auto theirs = std::make_shared<debug::order>();
    client c = engine.connect({.order = theirs});
    const hold second = mutex{c, "b"}.acquire(), first = mutex{c, "a"}.acquire();
    both.load(theirs->save(), "office");
  }
  ASSERT_EQ(both.reports().size(), 1U);
  EXPECT_NE(both.reports()[0].text.find("(shop debug_test.cpp:"), std::string::npos) << both.reports()[0].text;
  EXPECT_TRUE(failing([&] { both.load("nonsense"); }) == errc::invalid_option);
}

TEST_F(order_of_locks, costs_a_client_nothing_that_has_none) {
  const client plain = engine.connect();
  const hold first = mutex{plain, "a"}.acquire(), second = mutex{plain, "b"}.acquire();
  EXPECT_EQ(order->counts().pairs, 0U);
  EXPECT_EQ(order->counts().left_out, 0U);
}

}  // namespace
}  // namespace tyer::testing_api
