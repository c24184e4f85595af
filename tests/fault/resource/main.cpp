// fault_resource SOCKET HISTORY
//
// One thread takes offers over a Unix socket (SOCK_SEQPACKET: one message, one offer), one after the other, and writes
// down each one with its verdict before it answers. Prints `ready` when it listens, and runs until it is killed.
#include "common/socket.hpp"
#include "history/writer.hpp"
#include "resource/gate.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>

namespace {

using namespace fault;

class server {
 public:
  server(const char* path, const char* history)
      : history_(history), listener_(listen_unix(path, SOCK_SEQPACKET)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    watch(listener_.get());
  }

  [[noreturn]] void run() {
    for (;;) {
      epoll_event events[64];
      const int count = ::epoll_wait(epoll_.get(), events, std::size(events), -1);
      for (int i = 0; i < count; ++i) ready(events[i].data.fd);
    }
  }

 private:
  void watch(int fd) {
    epoll_event e{EPOLLIN, {.fd = fd}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &e);
  }

  void ready(int fd) {
    if (fd == listener_.get()) {
      const int client = ::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (client >= 0) watch(client);
      return;
    }
    offer o;
    const auto count = ::recv(fd, &o, sizeof o, 0);
    if (count == sizeof o) return answer(fd, o);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    ::close(fd);  // the worker has gone
  }

  void answer(int fd, const offer& o) {
    const auto v = gates_.show(o);
    history_.append({.t_ns = now_ns(),
                     .token = o.token,
                     .hold = o.hold,
                     .name = o.name,
                     .what = op::write,
                     .outcome = static_cast<std::uint8_t>(v),
                     .how = o.how,
                     .slots = o.slots});
    ::send(fd, &v, sizeof v, MSG_NOSIGNAL);
  }

  history_writer history_;
  gates gates_;
  descriptor listener_, epoll_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: fault_resource SOCKET HISTORY\n", stderr);
    return 2;
  }
  fault::end_with_parent();
  try {
    server s{argv[1], argv[2]};
    std::puts("ready");
    std::fflush(stdout);
    s.run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fault_resource: %s\n", e.what());
    return 2;
  }
}
