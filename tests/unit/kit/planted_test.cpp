// The judge of the resource is worth what it finds: bugs inside the resource, one at a time (plant.cmake).
#include "unit/kit/planted.hpp"

#include "unit/kit/resource_and_naive.hpp"

#include <gtest/gtest.h>

#include <array>

namespace tyer::kit {
namespace {

constexpr std::array words{
#include "planted/words.inc"
};

template <class Subject>
bool finds(const Subject& s, bool same_tokens, bool head_only) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    both<Subject> b{seed, s};
    b.same_tokens = same_tokens;
    b.head_only = head_only;
    for (int n = 0; n < 200; ++n) {
      if (!b.operate()) return true;
    }
  }
  return false;
}

bool the_judge_finds_something() {
  return finds(resource{}, true, false) || finds(stored_name{}, true, false) ||
         finds(stored_name{{.turns = 1}}, true, false) || finds(stored_name{{.head = 1}}, true, true);
}

class planted_bug : public ::testing::TestWithParam<int> {
 protected:
  ~planted_bug() override { planted = 0; }
};

TEST_P(planted_bug, is_found) {
  planted = GetParam();
  EXPECT_TRUE(the_judge_finds_something()) << words[static_cast<std::size_t>(planted - 1)];
}

TEST(planted_bugs, none_is_no_bug) { EXPECT_FALSE(the_judge_finds_something()); }

INSTANTIATE_TEST_SUITE_P(each, planted_bug, ::testing::Range(1, static_cast<int>(words.size()) + 1));

}  // namespace
}  // namespace tyer::kit
