// The stores that need no server.
#include "contract/recipes/file_store.hpp"
#include "contract/recipes/store_cases.hpp"

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

}  // namespace
}  // namespace contract
