// A process that has no descriptor left.
#include "unit/redis/engine_client.hpp"

#include <tyer/error.hpp>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;

// While it lives, none can be had.
class none_left {
 public:
  none_left() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto now = before_;
    now.rlim_cur = std::min<rlim_t>(before_.rlim_cur, 256);
    ::setrlimit(RLIMIT_NOFILE, &now);
    take_all();
  }
  none_left(const none_left&) = delete;
  ~none_left() {
    for (const int fd : taken_) ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

  // Also those that others have given back meanwhile: what an engine leaves behind ends on a thread of its own.
  void take_all() {
    for (int fd = 0; (fd = ::dup(STDERR_FILENO)) >= 0;) taken_.push_back(fd);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

class no_descriptors : public testing::TestWithParam<const char*> {};

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
