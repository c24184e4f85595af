#include "runtime/noting.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <thread>

namespace tyer::testing {
namespace {

using namespace std::chrono_literals;
using detail::hold_state;
using engine::mode;
using runtime::noting;
using runtime::spec;

constexpr lease::time_point now{1000s};

std::shared_ptr<spec> lock_of(mode how, std::uint32_t take = 1, std::uint32_t capacity = 1) {
  auto s = std::make_shared<spec>();
  s->name = "x";
  s->how = how;
  s->take = take;
  s->capacity = capacity;
  return s;
}

class what_threads_have : public ::testing::Test {
 protected:
  std::shared_ptr<hold_state> take(std::shared_ptr<spec> s, std::source_location where = {}) {
    const auto how = s->how;
    auto h = std::make_shared<hold_state>(std::move(s), core::id{},
                                          hold_state::grant{1, now, now + 10s, now + 9s, how, {}, {}});
    noting::took(notes, *h, where);
    return h;
  }
  bool refuses(const std::shared_ptr<spec>& s, lease::time_point at = now) {
    return notes->asks(*s, {}, at) == errc::would_deadlock;
  }

  const std::shared_ptr<noting> notes = std::make_shared<noting>(true, nullptr);
  const std::shared_ptr<spec> writes = lock_of(mode::exclusive), reads = lock_of(mode::shared);
};

TEST_F(what_threads_have, keeps_them_from_waiting_for_it_and_both_call_sites_are_named) {
  const auto first = std::source_location::current();
  const auto held = take(writes, first);
  const auto second = std::source_location::current();
  const auto why = notes->asks(*writes, second, now);
  EXPECT_TRUE(why == errc::would_deadlock);
  EXPECT_EQ(why.words,
            "this thread has acquired 'x' at noting_test.cpp:" + std::to_string(first.line()) +
                ", still has it, and would wait for itself at noting_test.cpp:" + std::to_string(second.line()));
}

TEST_F(what_threads_have, is_theirs_alone_and_of_one_name) {
  const auto held = take(writes);
  auto other = lock_of(mode::exclusive);
  other->name = "y";
  EXPECT_FALSE(refuses(other));
  std::thread{[&] { EXPECT_FALSE(refuses(writes)); }}.join();
  EXPECT_TRUE(refuses(writes));
}

TEST_F(what_threads_have, ends_when_it_is_given_back_by_whichever_thread) {
  auto held = take(writes);
  std::thread{[&] { held->noted.reset(); }}.join();
  EXPECT_FALSE(refuses(writes));
  held = take(writes);
  held.reset();
  EXPECT_FALSE(refuses(writes));
}

TEST_F(what_threads_have, does_not_count_if_it_ends_by_itself) {
  const auto held = take(writes);
  EXPECT_FALSE(refuses(writes, now + 10s)) << "its deadline has passed";
  held->end(hold_state::phase::lost);
  EXPECT_FALSE(refuses(writes));
  auto limited = lock_of(mode::exclusive);
  limited->max_hold = 5s;
  const auto another = take(limited);
  EXPECT_FALSE(refuses(writes));
}

TEST_F(what_threads_have, counts_by_its_mode_of_now) {
  const auto held = take(reads);
  EXPECT_FALSE(refuses(reads));
  EXPECT_TRUE(refuses(writes));
  held->become(mode::exclusive, 2);
  EXPECT_TRUE(refuses(reads));
}

TEST_F(what_threads_have, counts_by_permits) {
  const auto two = take(lock_of(mode::permit, 2, 4)), one = take(lock_of(mode::permit, 1, 4));
  EXPECT_FALSE(refuses(lock_of(mode::permit, 1, 4)));
  EXPECT_TRUE(refuses(lock_of(mode::permit, 2, 4)));
  one->noted.reset();
  EXPECT_FALSE(refuses(lock_of(mode::permit, 2, 4)));
}

TEST_F(what_threads_have, may_be_exchanged) {
  auto mine = take(reads);
  std::shared_ptr<hold_state> theirs;
  std::thread{[&] { theirs = take(reads); }}.join();
  EXPECT_TRUE(noting::is_own(*mine));
  EXPECT_FALSE(noting::is_own(*theirs));
  noting::exchange(*mine, *theirs);
  EXPECT_TRUE(noting::is_own(*theirs));
  EXPECT_TRUE(refuses(writes));
  theirs.reset();
  EXPECT_FALSE(refuses(writes));
  EXPECT_FALSE(noting::is_own(*mine));
}

TEST_F(what_threads_have, is_not_refused_if_only_its_order_is_noted) {
  auto order = std::make_shared<detail::order_book>(debug::order_options{});
  const auto only_order = std::make_shared<noting>(false, order);
  auto held = take(writes);
  noting::took(only_order, *held, {});
  EXPECT_FALSE(refuses(writes)) << "the note was replaced";
  EXPECT_FALSE(only_order->asks(*writes, {}, now));
  auto other = lock_of(mode::exclusive);
  other->name = "y";
  EXPECT_FALSE(only_order->asks(*other, {}, now));
  EXPECT_EQ(order->counts().pairs, 1U);
  held.reset();
  EXPECT_FALSE(only_order->asks(*lock_of(mode::exclusive, 1, 1), {}, now));
  EXPECT_EQ(order->counts().pairs, 1U);
}

}  // namespace
}  // namespace tyer::testing
