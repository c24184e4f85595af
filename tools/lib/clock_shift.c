/* Preloaded into a server, moves its wall clock by the nanoseconds in a file that both sides have mapped.
 *
 * Only the wall clock: that is what steps in real life, and what servers measure expiry with. The kernel is asked
 * directly: looking up the C library's own function allocates, and this one is called from inside allocators. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { ns_per_s = 1000000000 };

static const int64_t unmoved = 0;
static const int64_t* shift_ns = &unmoved;

__attribute__((constructor)) static void map_shift(void) {
  const char* path = getenv("TYER_CLOCK_SHIFT");
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) shift_ns = mapped;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  const int64_t shift = __atomic_load_n(shift_ns, __ATOMIC_RELAXED);
  const int64_t ns = now->tv_nsec + shift % ns_per_s;
  const int carry = ns < 0 ? -1 : ns >= ns_per_s ? 1 : 0;
  now->tv_sec += shift / ns_per_s + carry;
  now->tv_nsec = ns - (int64_t)carry * ns_per_s;
  return 0;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec precise;
  const int result = clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return result;
}

time_t time(time_t* out) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (out) *out = precise.tv_sec;
  return precise.tv_sec;
}
