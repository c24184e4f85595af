#include "engines/redis/redisson/waiters.hpp"

#include <gtest/gtest.h>

namespace {

using tyer::redis::redisson::waiters;

class redisson_waiters : public testing::Test {
 protected:
  tyer::core::random_ids ids;
  const tyer::core::id one = ids.next(), two = ids.next();
  waiters all;
};

TEST_F(redisson_waiters, a_channel_is_given_up_by_the_last_one) {
  all.join(one, "x");
  all.join(two, "x");
  EXPECT_EQ(all.of("x"), (std::vector{one, two}));
  EXPECT_EQ(all.leave(one), std::nullopt);
  EXPECT_EQ(all.leave(two), "x");
  EXPECT_TRUE(all.of("x").empty());
}

TEST_F(redisson_waiters, joining_again_changes_nothing) {
  all.join(one, "x");
  all.join(one, "x");
  EXPECT_EQ(all.of("x"), std::vector{one});
  EXPECT_EQ(all.leave(one), "x");
}

TEST_F(redisson_waiters, whoever_does_not_wait_has_nothing_to_leave) {
  EXPECT_EQ(all.leave(one), std::nullopt);
  EXPECT_EQ(all.channel_of(one), nullptr);
  all.join(one, "x");
  EXPECT_EQ(*all.channel_of(one), "x");
}

}  // namespace
