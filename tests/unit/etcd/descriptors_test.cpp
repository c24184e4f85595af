// A process that has too few descriptors left for gRPC, which ends the process when it finds none.
#include "core/clock.hpp"
#include "engine/table.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <vector>

namespace {

// While it lives, no more than so many can be had.
class few_left {
 public:
  explicit few_left(int count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    auto now = before_;
    now.rlim_cur = std::min<rlim_t>(before_.rlim_cur, 256);
    ::setrlimit(RLIMIT_NOFILE, &now);
    for (int fd = 0; (fd = ::dup(STDERR_FILENO)) >= 0;) taken_.push_back(fd);
    for (; count > 0 && !taken_.empty(); --count, taken_.pop_back()) ::close(taken_.back());
  }
  few_left(const few_left&) = delete;
  ~few_left() {
    for (const int fd : taken_) ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
  std::vector<int> taken_;
};

tyer::engine::made made() {
  auto parsed = tyer::core::parse_uri("etcd://localhost:1");
  static tyer::core::boot_clock clock;
  static tyer::core::random_ids ids;
  return ::tyer_engine_etcd(parsed.value, {"", &ids, &clock, std::chrono::milliseconds{2000}, {}});
}

// It was: gRPC ended the process.
TEST(etcd_descriptors, of_which_too_few_are_left_ended_the_process) {
  for (const int left : {0, 1, 15}) {
    const few_left now{left};
    const auto m = made();
    EXPECT_EQ(m.value, nullptr) << left;
    EXPECT_EQ(m.error.code, std::make_error_code(std::errc::too_many_files_open)) << left;
  }
  EXPECT_NE(made().value, nullptr) << "and none of them is kept";
}

}  // namespace
