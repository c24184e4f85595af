#include "guard/note.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace cli {

namespace {
constexpr std::size_t text_max = 64 * 1024;
}

void line::hang_up() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

bool line::send(const note& n, std::string_view text) const noexcept {
  std::array<iovec, 2> parts{{{const_cast<note*>(&n), sizeof n}, {const_cast<char*>(text.data()), text.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(fd_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent >= 0;
}

line::state line::receive(note& n, std::string* text) const {
  static thread_local std::array<char, text_max> buffer;
  std::array<iovec, 2> parts{{{&n, sizeof n}, {buffer.data(), buffer.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t got = ::recvmsg(fd_, &message, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return state::nothing_yet;
  if (got < static_cast<ssize_t>(sizeof n)) return state::ended;
  if (text != nullptr) text->assign(buffer.data(), static_cast<std::size_t>(got) - sizeof n);
  return state::told;
}

two_lines connect_lines() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  return {line{fds[0]}, line{fds[1]}};
}

}  // namespace cli
