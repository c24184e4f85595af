/* Preloaded into a client, drops what a server has answered: the server has acted, and nobody hears of it.
 *
 * How many reads are to be dropped, and how, says a file that both sides have mapped. After a drop the connection is as
 * if reset; or it stays, and is mute for ever. Works for every protocol, encrypted or not, since nothing is understood.
 * Only connections over IP that the process has made are touched. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { files_max = 4096 };

/* The layout is shared with tools/lib/drop_replies.py. */
struct orders {
  int32_t by_reset, by_silence; /* how many are still to be dropped */
  int32_t dropped;              /* how many were */
  int32_t reserved;
};

static struct orders nothing;
static struct orders* told = &nothing;
static char mute[files_max];

__attribute__((constructor)) static void map_orders(void) {
  const char* path = getenv("TYER_DROP_REPLIES");
  const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* mapped = mmap(NULL, sizeof(struct orders), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) told = mapped;
}

/* True if there was one left, which is then taken. */
static int take(int32_t* left) {
  int32_t seen = __atomic_load_n(left, __ATOMIC_RELAXED);
  while (seen > 0) {
    if (__atomic_compare_exchange_n(left, &seen, seen - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return 1;
  }
  return 0;
}

static int over_ip(int file) {
  struct sockaddr_storage peer;
  socklen_t size = sizeof peer;
  return getpeername(file, (struct sockaddr*)&peer, &size) == 0 &&
         (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

static ssize_t failed(int why) {
  errno = why;
  return -1;
}

/* What a read of so many bytes is to look like. */
static ssize_t judged(int file, ssize_t count) {
  if (count <= 0 || file < 0 || file >= files_max) return count;
  if (mute[file]) return failed(EAGAIN);
  if (__atomic_load_n(&told->by_reset, __ATOMIC_RELAXED) <= 0 &&
      __atomic_load_n(&told->by_silence, __ATOMIC_RELAXED) <= 0) {
    return count;
  }
  if (!over_ip(file)) return count;
  if (take(&told->by_reset)) {
    __atomic_fetch_add(&told->dropped, 1, __ATOMIC_RELAXED);
    return failed(ECONNRESET);
  }
  if (take(&told->by_silence)) {
    __atomic_fetch_add(&told->dropped, 1, __ATOMIC_RELAXED);
    mute[file] = 1;
    return failed(EAGAIN);
  }
  return count;
}

ssize_t recvmsg(int file, struct msghdr* message, int flags) {
  return judged(file, syscall(SYS_recvmsg, file, message, flags));
}
ssize_t recv(int file, void* buffer, size_t size, int flags) {
  return judged(file, syscall(SYS_recvfrom, file, buffer, size, flags, NULL, NULL));
}
ssize_t read(int file, void* buffer, size_t size) { return judged(file, syscall(SYS_read, file, buffer, size)); }
ssize_t readv(int file, const struct iovec* pieces, int count) {
  return judged(file, syscall(SYS_readv, file, pieces, count));
}

/* The number may be given to another file. */
int close(int file) {
  if (file >= 0 && file < files_max) mute[file] = 0;
  return (int)syscall(SYS_close, file);
}
