#include "redis/wire.hpp"

#include "core/uri.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <stdexcept>

namespace bench {

wire::wire(const std::string& uri) {
  const auto parsed = tyer::core::parse_uri(uri);
  if (parsed.error || parsed.value.hosts.empty()) throw std::runtime_error("not a redis:// URI");
  const auto& host = parsed.value.hosts.front();
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.host.c_str(), std::to_string(host.port).c_str(), &hints, &found) != 0) {
    throw std::runtime_error("cannot resolve " + host.host);
  }
  socket_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int connected = ::connect(socket_, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  if (connected != 0) throw std::runtime_error("cannot connect");
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

wire::~wire() { ::close(socket_); }

void wire::add(std::span<const std::string_view> words) {
  out_ += '*' + std::to_string(words.size()) + "\r\n";
  for (const auto w : words) {
    out_ += '$' + std::to_string(w.size()) + "\r\n";
    out_ += w;
    out_ += "\r\n";
  }
}

void wire::flush() {
  for (std::size_t sent = 0; sent < out_.size();) {
    const auto n = ::send(socket_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) throw std::runtime_error("the server closed the connection");
    sent += static_cast<std::size_t>(n);
  }
  out_.clear();
}

std::size_t wire::whole() const {
  const std::string_view rest = std::string_view{in_}.substr(at_);
  const auto end = rest.find("\r\n");
  if (end == std::string_view::npos) return 0;
  if (rest[0] != '$') return end + 2;
  long size = 0;
  std::from_chars(rest.data() + 1, rest.data() + end, size);
  const std::size_t all = end + 2 + (size < 0 ? 0 : static_cast<std::size_t>(size) + 2);
  return rest.size() >= all ? all : 0;
}

bool wire::has_reply() const { return whole() != 0; }

std::string_view wire::reply() {
  std::size_t n = 0;
  while ((n = whole()) == 0) {
    in_.erase(0, at_);
    at_ = 0;
    const auto old = in_.size();
    in_.resize(old + 65536);
    const auto got = ::recv(socket_, in_.data() + old, 65536, 0);
    if (got <= 0) throw std::runtime_error("the server closed the connection");
    in_.resize(old + static_cast<std::size_t>(got));
  }
  const auto text = std::string_view{in_}.substr(at_, n);
  at_ += n;
  if (text[0] == '-') throw std::runtime_error("the server says: " + std::string{text});
  if (text[0] != '$') return text.substr(1, n - 3);
  const auto head = text.find("\r\n") + 2;
  return head >= n ? std::string_view{} : text.substr(head, n - head - 2);
}

std::string_view wire::call(std::initializer_list<std::string_view> words) {
  add(words);
  flush();
  return reply();
}

}  // namespace bench
