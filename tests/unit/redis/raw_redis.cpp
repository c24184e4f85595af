#include "unit/redis/raw_redis.hpp"

#include "core/uri.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace tyer::test {

std::string server_uri() {
  const char* uri = std::getenv("TYER_URI");
  if (uri == nullptr) throw std::runtime_error("TYER_URI is not set: run under tools/engines run redis -- ...");
  return uri;
}

raw_redis::raw_redis(std::string_view uri) {
  const auto at = core::parse_uri(uri).value.hosts.at(0);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{10, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(at.port);
  ::inet_pton(AF_INET, at.host.c_str(), &to.sin_addr);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("cannot connect");
}

raw_redis::~raw_redis() { ::close(socket_); }

raw_value raw_redis::ask(const std::vector<std::string>& words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const auto& w : words) text += "$" + std::to_string(w.size()) + "\r\n" + w + "\r\n";
  for (std::string_view rest = text; !rest.empty();) {
    const auto sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent <= 0) throw std::runtime_error("cannot send");
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return read();
}

raw_value raw_redis::read() {
  const std::string head = line();
  raw_value v;
  v.type = head.at(0);
  v.text = head.substr(1);
  if (v.type == ':') v.number = std::stoll(v.text);
  if (v.type == '$' || v.type == '*') {
    const long long count = std::stoll(v.text);
    v.text.clear();
    if (count < 0) v.type = '_';
    if (count >= 0 && v.type == '$') {
      v.text = bytes(static_cast<std::size_t>(count));
      bytes(2);
    }
    for (long long i = 0; v.type == '*' && i < count; ++i) v.items.push_back(read());
  }
  return v;
}

std::map<std::string, std::int64_t> raw_redis::calls() {
  std::map<std::string, std::int64_t> found;
  std::istringstream info{ask({"INFO", "commandstats"}).text};
  for (std::string row; std::getline(info, row);) {  // cmdstat_get:calls=3,usec=…
    const auto colon = row.find(":calls=");
    if (!row.starts_with("cmdstat_") || colon == row.npos) continue;
    found[row.substr(8, colon - 8)] = std::stoll(row.substr(colon + 7));
  }
  return found;
}

std::string raw_redis::line() {
  std::size_t end;
  while ((end = buffer_.find("\r\n")) == buffer_.npos) fill();
  auto text = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return text;
}

std::string raw_redis::bytes(std::size_t count) {
  while (buffer_.size() < count) fill();
  auto text = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return text;
}

void raw_redis::fill() {
  char more[65536];
  const auto got = ::recv(socket_, more, sizeof more, 0);
  if (got <= 0) throw std::runtime_error("the server said nothing");
  buffer_.append(more, static_cast<std::size_t>(got));
}

}  // namespace tyer::test
