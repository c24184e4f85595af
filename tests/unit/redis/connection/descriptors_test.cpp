// A process that has no descriptor left.
#include "none_left.hpp"
#include "sanitized.hpp"
#include "unit/redis/engine_client.hpp"

#include <tyer/error.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;

class no_descriptors : public testing::TestWithParam<const char*> {
  void SetUp() override {
    if (under_pointer_checks) GTEST_SKIP() << "UBSan needs descriptors itself";
  }
};

TEST_P(no_descriptors, when_an_engine_is_made_threw_an_exception_of_another_library) {
  std::string words;
  std::error_code code;
  {
    const none_left now;
    try {
      engine_client a{GetParam()};
    } catch (const tyer::error& e) {
      code = e.code();
      words = e.words();
    }
  }
  EXPECT_EQ(code, std::errc::too_many_files_open);
  EXPECT_NE(words.find("Too many open files"), std::string::npos) << words;
}

TEST_P(no_descriptors, while_connecting_was_told_as_a_time_out) {
  engine_client a{GetParam()};
  std::optional<none_left> now{std::in_place};
  EXPECT_TRUE(a.until([&] {
    now->take_all();
    return a.logged.find("Too many open files") != std::string::npos;
  })) << a.logged;
  EXPECT_EQ(a.logged.find("timeout"), std::string::npos) << a.logged;
  now.reset();
  a.logged.clear();  // nobody listens there
  EXPECT_TRUE(a.until([&] { return a.logged.find("refused") != std::string::npos; })) << a.logged;
}

INSTANTIATE_TEST_SUITE_P(of, no_descriptors,
                         testing::Values("redis://127.0.0.1:1", "redis://127.0.0.1:1?protocol=redisson",
                                         "redis+sentinel://127.0.0.1:1,127.0.0.1:2/m",
                                         "redis+cluster://127.0.0.1:1,127.0.0.1:2"));

}  // namespace
