// A lock that its own thread may lock again, by whatever object of the name.
#include "api/access.hpp"
#include "api/recursive_name.hpp"
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace tyer::testing_api {
namespace {

template <class F>
std::error_code code_of(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.code();
  }
  return {};
}

class recursive_on_hand_time : public ::testing::Test {
 protected:
  template <class F>
  auto elsewhere(F f) {
    return within_reason(std::async(std::launch::async, f));
  }
  bool free_for_others() { return took(theirs.try_acquire()); }
  // What is unlocked goes back in the background.
  bool soon_free_for_others() { return took(theirs.try_acquire_for(5s)); }

  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
  recursive_mutex one{a, "k", {.ttl = 10s}}, two{a, "k", {.ttl = 60s, .note = "two"}};
  mutex theirs{b, "k", {.ttl = 10s}};
};

void pay(const client& c) {
  recursive_mutex own{c, "k"};
  const std::scoped_lock in{own};
}

TEST_F(recursive_on_hand_time, a_function_that_locks_could_not_call_another_that_locks_the_name_with_its_own_object) {
  const std::scoped_lock in{one};
  pay(a);
  EXPECT_EQ(one.depth(), 1U);
  EXPECT_TRUE(one.held().valid());
  EXPECT_FALSE(free_for_others());
}

TEST_F(recursive_on_hand_time, the_hold_is_of_the_object_that_acquired) {
  one.lock();
  two.lock();
  EXPECT_EQ(&one.held(), &two.held());
  EXPECT_LE(two.held().remaining(), 10s);
  one.unlock();
  EXPECT_TRUE(two.held().valid());
  EXPECT_EQ(&one.held(), &two.held()) << "it is the thread's, whichever object it has locked";
  two.unlock();
  EXPECT_EQ(code_of([&] { static_cast<void>(two.held()); }), errc::not_held);
  two.lock();
  EXPECT_GT(one.held().remaining(), 10s);
  two.unlock();
}

TEST_F(recursive_on_hand_time, a_lost_hold_is_not_entered_by_another_object) {
  one.lock();
  engine.lose(one.held());
  EXPECT_EQ(code_of([&] { two.lock(); }), errc::lost);
  EXPECT_EQ(code_of([&] { static_cast<void>(two.try_lock()); }), errc::lost);
  EXPECT_EQ(code_of([&] { static_cast<void>(two.try_lock_for(1s)); }), errc::lost);
  EXPECT_EQ(two.depth(), 1U);
  one.unlock();
  two.lock();
  EXPECT_TRUE(two.held().valid());
  two.unlock();
}

TEST_F(recursive_on_hand_time, another_thread_waits_whichever_object_it_has) {
  one.lock();
  EXPECT_FALSE(elsewhere([&] { return two.try_lock(); }));
  EXPECT_FALSE(elsewhere([&] { return two.try_lock_for(5s); }));
  EXPECT_EQ(elsewhere([&] { return two.depth(); }), 0U);
  EXPECT_EQ(elsewhere([&] { return code_of([&] { static_cast<void>(two.held()); }); }), errc::not_held);
  one.unlock();
  EXPECT_TRUE(elsewhere([&] {
    const std::scoped_lock in{two};
    return two.held().valid() && one.depth() == 1;
  }));
}

TEST_F(recursive_on_hand_time, what_was_not_locked_is_not_unlocked) {
  one.lock();
  two.unlock();
  EXPECT_EQ(one.depth(), 1U);
  elsewhere([&] { one.unlock(); });
  EXPECT_EQ(one.depth(), 1U);
  EXPECT_FALSE(free_for_others());
  one.unlock();
  one.unlock();
  EXPECT_TRUE(soon_free_for_others());
}

TEST_F(recursive_on_hand_time, an_object_destroyed_while_it_is_locked_is_counted_no_more) {
  std::optional<recursive_mutex> third{std::in_place, a, "k"};
  one.lock();
  third->lock();
  third->lock();
  third.reset();
  EXPECT_EQ(one.depth(), 1U);
  EXPECT_FALSE(free_for_others());
  one.unlock();
  third.emplace(a, "k").lock();
  third.reset();
  EXPECT_TRUE(soon_free_for_others());
}

TEST_F(recursive_on_hand_time, a_thread_that_ended_inside_was_taken_for_the_next_one) {
  std::optional<recursive_mutex> left{std::in_place, a, "k"};
  std::thread{[&] { left->lock(); }}.join();
  for (int i = 0; i < 20; ++i) {  // the system gives the id of a thread again
    std::thread{[&] {
      EXPECT_EQ(left->depth(), 0U);
      EXPECT_FALSE(one.try_lock());
    }}.join();
  }
  left.reset();
  EXPECT_TRUE(soon_free_for_others());
}

TEST_F(recursive_on_hand_time, two_clients_exclude_each_other_on_one_thread) {
  recursive_mutex other{b, "k"};
  const std::scoped_lock in{one};
  EXPECT_FALSE(other.try_lock());
  EXPECT_FALSE(elsewhere([&] { return other.try_lock_for(5s); }));
  EXPECT_EQ(other.depth(), 0U);
}

TEST_F(recursive_on_hand_time, names_that_nobody_has_are_forgotten) {
  const auto& names = *detail::access::state(a)->recursive;
  const auto before = names.size();
  {
    std::vector<recursive_mutex> all;
    for (int i = 0; i < 100; ++i) all.emplace_back(a, "n/" + std::to_string(i)).lock();
    EXPECT_EQ(names.size(), before + 100);
  }
  EXPECT_EQ(names.size(), before);
  recursive_mutex moved{std::move(one)};
  EXPECT_EQ(names.size(), before);
  EXPECT_EQ(code_of([&] { recursive_mutex bad{a, ""}; }), errc::invalid_name);
  EXPECT_EQ(names.size(), before);
}

TEST_F(recursive_on_hand_time, an_object_outlives_its_client) {
  one.lock();
  a.close();
  EXPECT_EQ(code_of([&] { two.lock(); }), errc::lost);
  one.unlock();
  EXPECT_EQ(code_of([&] { two.lock(); }), errc::closed);
  const client gone = std::move(a);
  EXPECT_EQ(code_of([&] { const recursive_mutex none{a, "k"}; }), errc::closed);
}

}  // namespace
}  // namespace tyer::testing_api
