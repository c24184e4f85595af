// The addresses of a host, asked for in a way that nobody ever waits for.
//
// getaddrinfo() takes as long as the name server lets it, and nobody can call it back. So it runs on a thread of its own, which
// owns the name and what was found, and nothing of whoever has asked: that may go at any time, and so may the process. A name is
// looked up once at a time, for all who ask meanwhile: a name server that hangs costs a thread for each name, however often it is
// tried again. One that is slower than whoever asks has patience is heard by the next who asks.
//
// Thread safety: all of it.
#pragma once

#include <tyer/export.hpp>

#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace tyer::core {

struct found_hosts {
  struct address {
    sockaddr_storage raw{};  // without a port
    socklen_t size = 0;
  };
  int error = 0;                            // of getaddrinfo(); 0: there is an address at least
  int why = 0;                              // errno, with EAI_SYSTEM
  std::vector<address> all;                 // in the order in which they are to be tried
  mutable std::atomic<bool> heard = false;  // by somebody, who says so
};

// Who wants to know. It is let go of when it is told, on the thread that looked up: perhaps as the last who knows it.
class host_asker {
 public:
  host_asker() = default;
  host_asker(const host_asker&) = delete;
  virtual ~host_asker() = default;
  // From any thread. Throws std::bad_alloc only; then it is not told.
  virtual void tell(std::shared_ptr<const found_hosts>) = 0;
};

// Asked only weakly: who has gone is not told. Throws std::bad_alloc, and std::system_error if there is no thread to be had. There
// is no memory for an answer: nobody is told, so whoever asks has a time limit of its own.
TYER_EXPORT void look_up(const std::string& host, const std::shared_ptr<host_asker>&);

}  // namespace tyer::core
