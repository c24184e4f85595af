#include "lease/tenure.hpp"

#include "at.hpp"

#include <gtest/gtest.h>

namespace tyer::lease {
namespace {

tenure granted_at(duration sent) { return {at(sent), valid_until(at(sent), 10s), 10s}; }

TEST(tenure, a_confirmed_renewal_extends_it_from_its_sending) {
  tenure t = granted_at(0s);
  EXPECT_TRUE(t.on_kept(at(3s), 10s));
  EXPECT_EQ(t.valid_until(), valid_until(at(3s), 10s));
}

TEST(tenure, answers_that_come_in_another_order_never_shorten_it) {
  tenure t = granted_at(0s);
  EXPECT_TRUE(t.on_kept(at(6s), 10s));
  EXPECT_FALSE(t.on_kept(at(3s), 10s));
  EXPECT_EQ(t.valid_until(), valid_until(at(6s), 10s));
}

TEST(tenure, is_over_when_the_alarm_rings) {
  const tenure t = granted_at(0s);
  EXPECT_FALSE(t.over(at(8999ms)));
  EXPECT_TRUE(t.over(at(9s)));
}

TEST(tenure, can_be_handed_off_while_a_third_of_it_is_left) {
  const tenure t = granted_at(0s);  // valid until 9.5 s
  EXPECT_TRUE(t.can_hand_off(at(6s)));
  EXPECT_FALSE(t.can_hand_off(at(6200ms)));
  EXPECT_FALSE(t.can_hand_off(at(100s)));
}

TEST(tenure, an_engine_that_gave_less_than_the_ttl_has_confirmed_it_all_the_same) {
  const tenure t{at(5s), valid_until(at(5s), 8s), 10s};
  EXPECT_EQ(t.confirmed_at(), at(5s));
  EXPECT_EQ(t.valid_until(), valid_until(at(5s), 8s));
}

}  // namespace
}  // namespace tyer::lease
