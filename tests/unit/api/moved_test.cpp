// Lock objects in containers: what was moved from is no trap, whoever stands behind it.
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace tyer::testing_api {
namespace {

class moved : public ::testing::Test {
 protected:
  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
};

// Given back before the next one asks, who would else wait for that: and time goes on while all wait.
bool can_be_had(const acquirable& lock) {
  hold h = lock.acquire();
  const bool valid = h.valid();
  static_cast<void>(h.release());
  return valid;
}

TEST_F(moved, a_mutex_that_was_moved_from_crashed) {
  mutex m{a, "x"};
  const acquirable lock = std::move(m);
  EXPECT_EQ(m.name(), "x");  // NOLINT: here and below, that it goes on is the point
  EXPECT_TRUE(can_be_had(m));
  EXPECT_TRUE(can_be_had(lock));
  const mutex next = std::move(m);
  EXPECT_TRUE(can_be_had(m));
  m.lock();
  m.unlock();
}

TEST_F(moved, a_guard_goes_on_with_a_mutex_that_was_moved_from) {
  mutex m{a, "x"};
  std::unique_lock guard{m};
  mutex next = std::move(m);
  EXPECT_EQ(next.held().token(), m.held().token());
  EXPECT_FALSE(next.try_lock());
  guard.unlock();
  EXPECT_TRUE(next.try_lock());
  EXPECT_FALSE(m.try_lock());
  next.unlock();
}

TEST_F(moved, one_who_waits_at_a_mutex_is_not_forgotten) {
  mutex m{a, "x"};
  m.lock();
  auto waiting = std::async(std::launch::async, [&] {
    m.lock();
    m.unlock();
  });
  mutex next = std::move(m);
  next.unlock();
  within_reason(std::move(waiting));
}

TEST_F(moved, locks_of_every_kind_grow_in_a_vector) {
  std::vector<mutex> mutexes;
  std::vector<shared_mutex> shared;
  std::vector<recursive_mutex> recursive;
  std::vector<multi_mutex> several;
  std::vector<semaphore> slots;
  std::vector<election> offices;
  for (int i = 0; i < 20; ++i) {
    const auto name = std::to_string(i);
    mutexes.emplace_back(a, "mutex/" + name).lock();
    shared.emplace_back(a, "shared/" + name).lock_shared();
    recursive.emplace_back(a, "recursive/" + name).lock();
    several.emplace_back(a, std::vector{"several/" + name, "more/" + name}).lock();
    slots.emplace_back(a, "slots/" + name, 3);
    offices.emplace_back(a, "office/" + name);
  }
  std::swap(mutexes.front(), mutexes.back());
  EXPECT_EQ(mutexes.front().name(), "mutex/19");
  EXPECT_EQ(mutexes.front().held().name(), "mutex/19");
  EXPECT_FALSE(took(mutex(b, "mutex/0").try_acquire()));
  for (auto& m : mutexes) m.unlock();
  for (auto& m : shared) m.unlock_shared();
  for (auto& m : recursive) m.unlock();
  for (auto& m : several) m.unlock();
  for (const auto& s : slots) {
    const hold both = s.permits(2).acquire();
    EXPECT_EQ(both.slot_numbers().size(), 2U);
  }
  for (const auto& l : offices) EXPECT_TRUE(l.campaign().valid());
  EXPECT_TRUE(took(mutex(b, "mutex/0").try_acquire()));
}

}  // namespace
}  // namespace tyer::testing_api
