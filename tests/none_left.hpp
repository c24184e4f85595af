// A process that has no descriptor left, for tests of what it is told then.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace tyer::test {

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

}  // namespace tyer::test
