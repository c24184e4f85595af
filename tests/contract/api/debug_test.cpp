// What a client refuses and tells about the order of its locks, on every engine.
#include "contract/api/fixture.hpp"

#include <tyer/debug.hpp>

#include <memory>
#include <source_location>
#include <string>

namespace contract {
namespace {

std::string site(const std::source_location& at) { return "debug_test.cpp:" + std::to_string(at.line()); }

class debugging : public fixture {};

TEST_F(debugging, a_wait_for_a_lock_that_the_thread_has_is_refused_with_both_call_sites) {
  const auto c = connect({.request_timeout = slack, .refuse_own_wait = true});
  tyer::mutex lock{c, name()}, same{c, name()};
  const auto first = std::source_location::current();
  tyer::hold h = lock.acquire(first);
  const auto second = std::source_location::current();
  const auto words = words_of([&] { static_cast<void>(same.acquire(second)); });
  EXPECT_NE(words.find(site(first)), std::string::npos) << words;
  EXPECT_NE(words.find(site(second)), std::string::npos) << words;
  EXPECT_EQ(code_of([&] { static_cast<void>(same.try_acquire_for(patience)); }), errc::would_deadlock);
  EXPECT_EQ(code_of([&] { same.lock(); }), errc::would_deadlock);
  EXPECT_TRUE(h.valid());
  h.release();
  EXPECT_TRUE(took(same.acquire()));
}

TEST_F(debugging, two_orders_are_told_with_four_call_sites_and_nobody_need_hang) {
  const auto order = std::make_shared<tyer::debug::order>();
  const auto one = connect({.request_timeout = slack, .order = order});
  const auto other = connect({.request_timeout = slack, .order = order});
  const auto first = std::source_location::current();
  {
    const tyer::hold a = tyer::mutex{one, name() + "a"}.acquire(first);
    const tyer::hold b = tyer::mutex{one, name() + "b"}.acquire(first);
  }
  EXPECT_TRUE(order->reports().empty());
  const auto second = std::source_location::current();
  soon(in_background([&] {
    const tyer::hold b = tyer::mutex{other, name() + "b"}.acquire(second);
    const tyer::hold a = tyer::mutex{other, name() + "a"}.acquire(second);
    return a.valid() && b.valid();
  }));
  const auto all = order->reports();
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].steps.size(), 2U);
  EXPECT_EQ(all[0].steps[0].held, name() + "b");
  EXPECT_EQ(all[0].steps[0].asked_at, site(second));
  EXPECT_EQ(all[0].steps[1].held, name() + "a");
  EXPECT_EQ(all[0].steps[1].held_at, site(first));
}

}  // namespace
}  // namespace contract
