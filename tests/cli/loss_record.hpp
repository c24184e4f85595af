// What the processes of a command leave behind: who they were, and when each was last alive.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace loss {

struct life {
  std::atomic<std::int32_t> pid;
  std::atomic<std::int64_t> last;  // nanoseconds of CLOCK_BOOTTIME
};

struct record {
  std::atomic<std::uint32_t> count;
  life lives[64];
};

inline std::int64_t now() {
  timespec t{};
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

inline record& open_record(const char* path) {
  const int fd = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(record)) != 0) {
    std::perror(path);
    std::exit(2);
  }
  void* at = ::mmap(nullptr, sizeof(record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (at == MAP_FAILED) {
    std::perror("mmap");
    std::exit(2);
  }
  return *static_cast<record*>(at);  // a new file is all zero
}

}  // namespace loss
