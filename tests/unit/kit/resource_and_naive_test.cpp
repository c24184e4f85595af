#include "unit/kit/resource_and_naive.hpp"

#include <gtest/gtest.h>

namespace tyer::kit {
namespace {

template <class Subject>
void expect_the_same(const Subject& s, std::uint32_t seeds, bool same_tokens = true) {
  for (std::uint32_t seed = 0; seed < seeds; ++seed) {
    both<Subject> b{seed, s};
    b.same_tokens = same_tokens;
    if constexpr (std::is_same_v<Subject, stored_name>) b.head_only = s.reads_the_head_only();
    for (int n = 0; n < 400; ++n) {
      ASSERT_TRUE(b.operate()) << "seed " << seed << " after\n" << b.report();
    }
  }
}

TEST(resource_and_naive, decide_the_same) { expect_the_same(resource{}, 300); }

TEST(resource_and_naive, decide_the_same_if_each_operation_reads_and_writes_what_is_marked) {
  expect_the_same(stored_name{}, 100);
}

TEST(resource_and_naive, decide_the_same_if_only_the_head_of_the_queue_is_read) {
  for (const std::size_t head : {0U, 1U, 2U}) expect_the_same(stored_name{{.head = head}}, 60);
}

TEST(resource_and_naive, decide_the_same_if_one_write_tells_of_few_turns) {
  expect_the_same(stored_name{{.turns = 1}}, 60);
  expect_the_same(stored_name{{.turns = 1, .head = 2}}, 60);
}

TEST(resource_and_naive, give_tokens_in_the_same_order_if_the_write_tells_them) {
  expect_the_same(stored_name{{.stamped_by_write = true}}, 60, false);
  expect_the_same(stored_name{{.stamped_by_write = true, .turns = 2, .head = 2}}, 60, false);
}

}  // namespace
}  // namespace tyer::kit
