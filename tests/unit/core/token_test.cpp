#include "core/token.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tyer::core {
namespace {

TEST(token, a_later_grant_is_above_every_hand_off_of_an_earlier_one) {
  EXPECT_LT(make_token(7, handoffs_max), make_token(8, 0));
  EXPECT_LT(make_token(7, 0), make_token(7, 1));
}

TEST(token, knows_its_part) {
  EXPECT_EQ(part_of(make_token(7, 0)), 7u);
  EXPECT_EQ(part_of(make_token(7, handoffs_max)), 7u);
}

TEST(token, fits_a_signed_column) {
  EXPECT_LE(make_token(part_max, handoffs_max), static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

TEST(token, microseconds_fit_for_two_hundred_years) {
  constexpr std::uint64_t year = 365u * 24 * 3600 * 1'000'000ull;
  EXPECT_GT(part_max, 200 * year);
}

}  // namespace
}  // namespace tyer::core
