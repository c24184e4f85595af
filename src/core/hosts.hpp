// Looks up the addresses of a host without blocking the caller.
//
// getaddrinfo() may take as long as the name server does, and cannot be cancelled. So it runs on a thread of its own, which
// owns the name and the result and refers to nothing of the client that asked: the client may end at any time, and so may
// the process. Each name has one lookup at a time, shared by all who ask meanwhile: a name server that hangs costs one
// thread for each name, however often a client retries. A result that comes after the client has given up is delivered to
// the next one that asks.
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
  int error = 0;                            // of getaddrinfo(); 0: there is at least one address
  int why = 0;                              // errno, with EAI_SYSTEM
  std::vector<address> all;                 // in the order in which they are to be tried
  mutable std::atomic<bool> heard = false;  // delivered; set by the receiver
};

// Receives the result. The lookup's thread drops its reference afterwards, and that may be the last one.
class host_asker {
 public:
  host_asker() = default;
  host_asker(const host_asker&) = delete;
  virtual ~host_asker() = default;
  // Called from any thread. Throws std::bad_alloc only; then the result is not delivered.
  virtual void tell(std::shared_ptr<const found_hosts>) = 0;
};

// Keeps only a weak reference to the asker. Without a thread to be had the result is EAI_SYSTEM. Throws std::bad_alloc. If there is
// no memory for the result, nothing is delivered: so the asker needs a time limit of its own.
TYER_EXPORT void look_up(const std::string& host, const std::shared_ptr<host_asker>&);

}  // namespace tyer::core
