// How many threads this process has, and none to be had.
#pragma once

#include <dirent.h>
#include <pthread.h>

#include <cstddef>
#include <thread>

namespace tyer::test {

inline int threads() {
  DIR* const tasks = ::opendir("/proc/self/task");
  int n = 0;
  while (const dirent* one = ::readdir(tasks)) n += one->d_name[0] != '.' ? 1 : 0;
  ::closedir(tasks);
  return n;
}

// A sanitizer has a thread of its own, from the first on.
inline int threads_at_least() {
  std::thread{[] {}}.join();
  return threads();
}

// A thread whose stack no address space holds is refused.
class no_thread {
 public:
  no_thread() {
    pthread_attr_t huge;
    ::pthread_getattr_default_np(&before_);
    ::pthread_getattr_default_np(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
    ::pthread_setattr_default_np(&huge);
    ::pthread_attr_destroy(&huge);
  }
  no_thread(const no_thread&) = delete;
  ~no_thread() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

}  // namespace tyer::test
