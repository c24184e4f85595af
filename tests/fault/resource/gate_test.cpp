#include "resource/gate.hpp"

#include <gtest/gtest.h>

namespace fault {
namespace {

constexpr auto accepted = verdict::accepted;
constexpr auto stale = verdict::stale;

offer of(std::uint64_t token, mode how, std::uint16_t slots = 0, std::uint64_t hold = 0) {
  return {.token = token, .hold = hold != 0 ? hold : token, .name = 1, .how = how, .slots = slots};
}

TEST(Gates, WritersAndReaders) {
  gates g;
  EXPECT_EQ(g.show(of(10, mode::shared)), accepted);
  EXPECT_EQ(g.show(of(9, mode::shared)), accepted);
  EXPECT_EQ(g.show(of(9, mode::exclusive)), stale);
  EXPECT_EQ(g.show(of(11, mode::exclusive)), accepted);
  EXPECT_EQ(g.show(of(11, mode::exclusive)), accepted);
  EXPECT_EQ(g.show(of(11, mode::exclusive, 0, 99)), verdict::conflict);
  EXPECT_EQ(g.show(of(10, mode::shared)), stale);
  EXPECT_EQ(g.show(of(11, mode::shared)), verdict::conflict);
  EXPECT_EQ(g.show(of(12, mode::shared)), accepted);
}

TEST(Gates, OneForEachSlot) {
  gates g;
  EXPECT_EQ(g.show(of(10, mode::permit, 0b011)), accepted);
  EXPECT_EQ(g.show(of(9, mode::permit, 0b100)), accepted);
  EXPECT_EQ(g.show(of(9, mode::permit, 0b110)), stale);
  EXPECT_EQ(g.show(of(11, mode::permit, 0b010)), accepted);
  EXPECT_EQ(g.show(of(10, mode::permit, 0b001)), accepted);
  EXPECT_EQ(g.show(of(12, mode::permit, 0)), verdict::conflict);  // no slot, no way in
}

}  // namespace
}  // namespace fault
