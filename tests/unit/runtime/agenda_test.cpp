#include "runtime/agenda.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace tyer::runtime {
namespace {

using namespace std::chrono_literals;
using lease::time_point;

time_point at(lease::duration d) { return time_point{d}; }

struct somebody : timed {};

TEST(agenda, gives_each_at_its_time_in_order) {
  agenda<somebody> a;
  std::vector<somebody> s(3);
  for (int i = 0; i < 3; ++i) a.admit();
  a.set(s[0], at(3s));
  a.set(s[1], at(1s));
  a.set(s[2], at(2s));
  EXPECT_EQ(a.next(), at(1s));
  EXPECT_EQ(a.take_due(at(0s)), nullptr);
  EXPECT_EQ(a.take_due(at(2s)), &s[1]);
  EXPECT_EQ(a.take_due(at(2s)), &s[2]);
  EXPECT_EQ(a.take_due(at(2s)), nullptr);
  EXPECT_EQ(a.next(), at(3s));
}

TEST(agenda, a_time_that_is_moved_or_taken_back_leaves_nothing_behind) {
  agenda<somebody> a;
  somebody s;
  a.admit();
  for (int i = 1; i <= 1000; ++i) a.set(s, at(i * 1h));
  EXPECT_EQ(a.size(), 1u);
  EXPECT_EQ(a.next(), at(1000h));
  a.set(s, time_point::max());
  EXPECT_EQ(a.size(), 0u);
  EXPECT_EQ(a.next(), time_point::max());
  a.set(s, at(1s));
  a.dismiss(s);
  EXPECT_EQ(a.size(), 0u);
}

TEST(agenda, is_in_order_whatever_is_moved_and_taken_out) {
  agenda<somebody> a;
  std::vector<somebody> all(500);
  for (std::size_t i = 0; i < all.size(); ++i) a.admit();
  std::mt19937 dice{7};
  std::multiset<time_point> expected;
  const auto forget = [&](somebody& s) {
    if (s.at != timed::nowhere) expected.erase(expected.find(s.when));
  };
  for (int n = 0; n < 20'000; ++n) {
    somebody& s = all[dice() % all.size()];
    forget(s);
    if (dice() % 4 == 0) {
      a.remove(s);
    } else {
      const auto when = at(dice() % 1000 * 1ms);
      a.set(s, when);
      expected.insert(when);
    }
    ASSERT_EQ(a.size(), expected.size());
    ASSERT_EQ(a.next(), expected.empty() ? time_point::max() : *expected.begin());
  }
  for (auto last = time_point::min(); a.size() > 0;) {
    const auto next = a.next();
    ASSERT_GE(next, last);
    ASSERT_NE(a.take_due(next), nullptr);
    last = next;
  }
}

}  // namespace
}  // namespace tyer::runtime
