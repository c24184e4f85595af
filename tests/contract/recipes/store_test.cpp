// The stores that need no server.
#include "contract/recipes/file_store.hpp"
#include "contract/recipes/store_cases.hpp"

#include <malloc.h>

namespace contract {
namespace {

struct in_memory {
  std::shared_ptr<tyer::recipes::store> made = std::make_shared<tyer::recipes::memory_store>();
};
INSTANTIATE_TYPED_TEST_SUITE_P(memory, store_contract, in_memory);

// The tests' own, which the processes of death_test share.
struct in_files {
  in_files() { std::filesystem::create_directories(folder); }
  ~in_files() { std::filesystem::remove_all(folder); }
  std::filesystem::path folder = ::testing::TempDir() + "store-" + std::to_string(::getpid());
  std::shared_ptr<tyer::recipes::store> made = std::make_shared<file_store>(folder);
};
INSTANTIATE_TYPED_TEST_SUITE_P(files, store_contract, in_files);

TEST(memory_store, values_end_by_the_clock_it_is_given) {
  tyer::lease_clock::time_point now{1h};
  tyer::recipes::memory_store s{[&] { return now; }};
  ASSERT_TRUE(s.put("k", pass(1), {"v", 10s}));
  now += 9999ms;
  EXPECT_EQ(s.find("k")->left, 1ms);
  now += 1ms;
  EXPECT_FALSE(s.find("k"));
  ASSERT_TRUE(s.put("k", pass(1), {"for ever", std::chrono::milliseconds::max()}));
  now += 24h * 365;
  EXPECT_TRUE(s.find("k"));
}

TEST(memory_store, values_that_had_ended_stayed_in_memory) {
  constexpr std::size_t size = 1 << 20, keys = 64;
  tyer::lease_clock::time_point now{1h};
  tyer::recipes::memory_store s{[&] { return now; }};
  const auto before = ::mallinfo2();
  for (std::size_t i = 0; i < keys; ++i) {
    ASSERT_TRUE(s.put("k" + std::to_string(i), pass(5), {std::string(size, 'v'), 1s}));
    now += 1s;
  }
  const auto after = ::mallinfo2();
  EXPECT_LT(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + 4 * size);
  EXPECT_FALSE(s.put("k0", pass(4), {"older", 1s}));  // the fence is kept
}

TEST(memory_store, a_value_that_is_put_again_ends_when_the_new_one_does) {
  tyer::lease_clock::time_point now{1h};
  tyer::recipes::memory_store s{[&] { return now; }};
  ASSERT_TRUE(s.put("k", pass(1), {"short", 1s}));
  ASSERT_TRUE(s.put("k", pass(1), {"long", 1min}));
  ASSERT_TRUE(s.put("other", pass(1), {"short", 1s}));
  now += 2s;
  EXPECT_FALSE(s.find("other"));
  ASSERT_TRUE(s.find("k"));
  EXPECT_EQ(s.find("k")->value, "long");
  ASSERT_TRUE(s.erase("k", pass(1)));
  now += 2min;
  EXPECT_FALSE(s.find("k"));
}

}  // namespace
}  // namespace contract
