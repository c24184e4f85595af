#include "primitives/multi.hpp"

#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace tyer::primitives {
namespace {

multi_part part(const char* address, const char* name) {
  auto what = std::make_shared<runtime::spec>();
  what->name = name;
  return {std::string{"tyer:  "} + address,
          std::make_shared<detail::lock_state>(nullptr, std::move(what), std::source_location::current())};
}

std::vector<std::string> order_of(std::vector<multi_part> parts) {
  std::vector<std::string> names;
  for (const auto& l : in_order(std::move(parts))) names.push_back(l->what->name);
  return names;
}

// The server is the same one. Ordered by address first, one takes a and waits for b, the other takes b and waits for a.
TEST(multi_order, two_addresses_of_one_server_made_two_wait_for_each_other) {
  const auto one = order_of({part("redis://localhost:1", "b"), part("redis://127.0.0.1:1", "a")});
  const auto other = order_of({part("redis://localhost:1", "a"), part("redis://127.0.0.1:1", "b")});
  EXPECT_EQ(one, other);
  EXPECT_EQ(one, (std::vector<std::string>{"a", "b"}));
}

TEST(multi_order, the_same_name_on_two_servers_is_two_locks_in_the_order_of_the_servers) {
  const auto first = part("redis://one:1", "x"), second = part("redis://two:1", "x");
  const auto all = in_order({second, first, second});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0], first.lock);
  EXPECT_EQ(all[1], second.lock);
}

}  // namespace
}  // namespace tyer::primitives
