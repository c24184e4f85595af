#include "etcd/server.hpp"

#include "core/uri.hpp"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace bench {

namespace {

int connected(const std::string& host, const std::string& port) {
  const addrinfo wanted{.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0)
    throw std::runtime_error("no such host: " + host);
  const int s = ::socket(found->ai_family, found->ai_socktype, found->ai_protocol);
  const bool fine = s >= 0 && ::connect(s, found->ai_addr, found->ai_addrlen) == 0;
  ::freeaddrinfo(found);
  if (!fine) throw std::runtime_error("cannot reach " + host + ':' + port);
  return s;
}

// The sum over all lines of that metric in which the words stand.
double sum(const std::string& metrics, std::string_view metric, std::string_view words = {}) {
  std::istringstream lines{metrics};
  double all = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(metric) || line.find(words) == line.npos) continue;
    const auto value = std::string_view{line}.substr(line.rfind(' ') + 1);
    double n = 0;
    std::from_chars(value.data(), value.data() + value.size(), n);
    all += n;
  }
  return all;
}

std::string of(const std::string& method) { return "grpc_method=\"" + method + '"'; }

}  // namespace

etcd_server::etcd_server(const std::string& uri) {
  const auto parsed = tyer::core::parse_uri(uri);
  if (parsed.error) throw std::runtime_error(parsed.error.words);
  host_ = parsed.value.hosts.front().host;
  port_ = std::to_string(parsed.value.hosts.front().port);
}

std::string etcd_server::metrics() const {
  const int s = connected(host_, port_);
  const std::string ask = "GET /metrics HTTP/1.0\r\nHost: " + host_ + "\r\n\r\n";
  std::string text;
  if (::send(s, ask.data(), ask.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(ask.size())) {
    char piece[16384];
    for (ssize_t n = 0; (n = ::recv(s, piece, sizeof piece, 0)) > 0;) text.append(piece, static_cast<std::size_t>(n));
  }
  ::close(s);
  if (text.find("grpc_server_msg_received_total") == text.npos) throw std::runtime_error("the server has no metrics");
  return text;
}

std::uint64_t etcd_server::requests() const {
  return static_cast<std::uint64_t>(sum(metrics(), "grpc_server_msg_received_total{"));
}

std::uint64_t etcd_server::requests(const std::string& method) const {
  return static_cast<std::uint64_t>(sum(metrics(), "grpc_server_msg_received_total{", of(method)));
}

std::int64_t etcd_server::watch_streams() const {
  const auto text = metrics();
  const auto watch = of("Watch");
  return static_cast<std::int64_t>(sum(text, "grpc_server_started_total{", watch) -
                                   sum(text, "grpc_server_handled_total{", watch));
}

}  // namespace bench
