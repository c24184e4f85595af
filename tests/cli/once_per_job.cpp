// A job that notes when it was started, and takes its time: once_per_job FILE MILLISECONDS
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int, char** argv) {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  const int fd = ::open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  char line[64];
  const int length = std::snprintf(line, sizeof line, "%lld.%09ld\n", static_cast<long long>(now.tv_sec), now.tv_nsec);
  if (fd < 0 || ::write(fd, line, static_cast<std::size_t>(length)) != length) return 2;
  ::usleep(static_cast<useconds_t>(std::atoi(argv[2])) * 1000);
}
