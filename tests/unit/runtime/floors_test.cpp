#include "runtime/floors.hpp"

#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

TEST(floors, the_largest_part_of_a_name_is_known) {
  runtime::floors f;
  EXPECT_EQ(f.of("a"), 0u);
  f.raise("a", 7);
  f.raise("a", 5);
  EXPECT_EQ(f.of("a"), 7u);
  EXPECT_EQ(f.of("b"), 0u);
}

TEST(floors, the_last_of_a_million_names_are_known) {
  runtime::floors f;
  constexpr std::uint64_t names = 1'000'000, last = 8192;
  for (std::uint64_t n = 1; n <= names; ++n) f.raise("order-" + std::to_string(n), n);
  std::uint64_t known = 0;
  for (std::uint64_t n = names - last + 1; n <= names; ++n) known += f.of("order-" + std::to_string(n)) == n ? 1 : 0;
  EXPECT_EQ(known, last);
}

// The lane of a name is dropped when 1,024 others have been idle since; with it went what was known of its tokens.
TEST(coordinator_floors, the_floor_of_a_name_outlives_a_thousand_idle_ones) {
  bench b;
  b.give_back(b.held(5'000'000));
  for (int i = 0; i < 3000; ++i) {
    auto c = b.want(bench::make_lock("other-" + std::to_string(i), 9s));
    b.engine.acquires.back().grant(static_cast<std::uint64_t>(6'000'000 + i));
    b.give_back(c);
  }
  b.want();
  EXPECT_EQ(b.engine.acquires.back().what.seen, 5'000'000u);
}

TEST(coordinator_floors, the_floor_is_that_of_the_name_whatever_the_mode_and_the_ttl) {
  bench b;
  b.give_back(b.held(5'000'000));
  b.want(bench::readers_of(*b.lock));
  EXPECT_EQ(b.engine.acquires.back().what.seen, 5'000'000u);
  b.want(bench::make_lock(b.lock->name, 3s));
  EXPECT_EQ(b.engine.acquires.back().what.seen, 5'000'000u);
}

}  // namespace
}  // namespace tyer::testing
