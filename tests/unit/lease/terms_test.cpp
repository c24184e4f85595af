#include "lease/terms.hpp"

#include "at.hpp"

#include <gtest/gtest.h>

namespace tyer::lease {
namespace {

TEST(terms, the_margin_is_a_twentieth_but_at_least_ten_milliseconds) {
  EXPECT_EQ(margin(10s), 500ms);
  EXPECT_EQ(margin(200ms), 10ms);
  EXPECT_EQ(margin(100ms), 10ms);
}

TEST(terms, validity_is_counted_from_sending_minus_the_margin) { EXPECT_EQ(valid_until(at(0s), 10s), at(9500ms)); }

TEST(terms, the_alarm_rings_before_the_end) {
  for (const duration ttl : {duration{100ms}, duration{1s}, duration{10s}, duration{24h}}) {
    EXPECT_LT(alarm_at(valid_until(at(0s), ttl), ttl), valid_until(at(0s), ttl));
    EXPECT_GT(alarm_at(valid_until(at(0s), ttl), ttl), at(0s) + renew_every(ttl)) << "a renewal comes before the alarm";
  }
}

TEST(terms, a_failed_renewal_is_tried_several_times_inside_the_validity) {
  for (const duration ttl : {duration{100ms}, duration{1s}, duration{10s}, duration{24h}}) {
    const auto left = alarm_at(valid_until(at(0s), ttl), ttl) - (at(0s) + renew_every(ttl));
    EXPECT_GE(left / renew_retry(ttl), 5) << ttl.count();
  }
}

TEST(terms, a_dead_waiter_costs_less_than_a_dead_holder) {
  EXPECT_EQ(default_waiter_ttl(10s), 3s);
  EXPECT_EQ(default_waiter_ttl(3s), 1s);
  EXPECT_EQ(default_waiter_ttl(100ms), 500ms);  // but never so short that a slow network costs the place
  EXPECT_EQ(default_waiter_ttl(24h), 3s);
}

}  // namespace
}  // namespace tyer::lease
