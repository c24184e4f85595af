// Descriptors that close themselves, and the few socket calls the lab needs. All are non-blocking and CLOEXEC.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace fault {

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor();

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// All throw std::system_error.
descriptor listen_tcp(std::uint16_t& port);  // on 127.0.0.1; port 0 is replaced by the one the kernel chose
descriptor connect_tcp(std::uint16_t port);  // under way when it returns
descriptor listen_unix(const std::string& path, int type);
descriptor accept_on(const descriptor& listener);  // empty if nobody is there

// Closing will send a reset instead of an orderly end.
void close_by_reset(const descriptor& socket);

// The kernel kills us when the process that started us is gone, so that nothing is ever left running.
void end_with_parent();

}  // namespace fault
