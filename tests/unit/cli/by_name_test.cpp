// Entries of a listing, put together by name.
#include "text/entries.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace cli {
namespace {

tyer::lock_entry entry(const std::string& name, std::size_t number, bool waiting) {
  tyer::lock_entry e;
  auto id = std::to_string(number);
  id.insert(0, tyer::hold_id::length - id.size(), '0');
  e.name = name, e.id = tyer::hold_id::from(id), e.waiting = waiting;
  return e;
}

TEST(by_name, holders_come_first_and_what_two_pages_have_counts_once) {
  const auto all = by_name({entry("b", 1, true), entry("a", 2, false), entry("b", 3, false), entry("b", 1, true)});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "a");
  ASSERT_EQ(all[1].all.size(), 2U);
  EXPECT_FALSE(all[1].all[0].waiting);
  EXPECT_TRUE(all[1].all[1].waiting);
}

TEST(by_name, those_without_an_id_are_all_there) {
  tyer::lock_entry foreign;
  foreign.name = "a";
  EXPECT_EQ(by_name({foreign, foreign})[0].all.size(), 2U);
}

TEST(by_name, a_queue_of_a_hundred_thousand_took_minutes) {
  entries all;
  for (std::size_t i = 1; i <= 100'000; ++i) all.push_back(entry("a", i, true));
  const auto began = std::clock();  // of the processor: however busy the machine is
  EXPECT_EQ(by_name(std::move(all))[0].all.size(), 100'000U);
  EXPECT_LT(std::clock() - began, 20 * CLOCKS_PER_SEC);  // 28 s for 30,000 before
}

}  // namespace
}  // namespace cli
