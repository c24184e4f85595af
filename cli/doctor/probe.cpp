#include "doctor/probe.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <utility>

namespace cli::doctor {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t words_max = 64;

class socket {
 public:
  explicit socket(int fd) : fd_(fd) {}
  socket(const socket&) = delete;
  socket& operator=(const socket&) = delete;
  ~socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// False if the time is over.
bool ready(int fd, short for_what, clock::time_point until) {
  const auto left = std::chrono::ceil<milliseconds>(until - clock::now()).count();
  pollfd p{fd, for_what, 0};
  return ::poll(&p, 1, static_cast<int>(std::max<milliseconds::rep>(left, 0))) > 0;
}

// 0, or why not.
int connected(const socket& s, const addrinfo& to, clock::time_point until) {
  if (::connect(s.get(), to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!ready(s.get(), POLLOUT, until)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(s.get(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

struct heard {
  int error = 0;  // of connecting
  std::string words;
};

heard ask(const addrinfo& to, std::string_view question, clock::time_point until) {
  const socket s{::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (s.get() < 0) return {errno, {}};
  if (const int error = connected(s, to, until); error != 0) return {error, {}};
  static_cast<void>(::send(s.get(), question.data(), question.size(), MSG_NOSIGNAL));
  std::array<char, words_max> answer{};
  if (!ready(s.get(), POLLIN, until)) return {};
  const auto n = ::recv(s.get(), answer.data(), answer.size(), 0);
  return {0, std::string(answer.data(), n > 0 ? static_cast<std::size_t>(n) : 0)};
}

constexpr std::string_view ping = "PING\r\n";
// A ClientHello with TLS 1.2 and one cipher suite: any TLS server answers, or complains, in TLS.
constexpr std::string_view hello{
    "\x16\x03\x01\x00\x2d\x01\x00\x00\x29\x03\x03"
    "tyer doctor asks if this is TLS."
    "\x00\x00\x02\xc0\x2f\x01\x00",
    50};
constexpr std::string_view options = "OPTIONS * HTTP/1.0\r\n\r\n";

bool is_tls(std::string_view words) {
  return words.size() > 1 && (words[0] == '\x15' || words[0] == '\x16') && words[1] == '\x03';
}
bool is_redis(std::string_view words) {
  return words.starts_with("+PONG") || words.starts_with("-NOAUTH") || words.starts_with("-ERR") ||
         words.starts_with("-NOPERM") || words.starts_with("-LOADING") || words.starts_with("-DENIED");
}

sighting sighting_of(int error) {
  return {error == ECONNREFUSED ? speech::nobody : speech::unreachable, std::strerror(error)};
}

sighting listen_to(const addrinfo& to, clock::time_point end, milliseconds share) {
  const std::array<std::string_view, 3> questions{ping, hello, options};
  sighting last{speech::silent, {}};
  for (const auto question : questions) {
    const auto h = ask(to, question, std::min(end, clock::now() + share));
    if (h.error != 0) return sighting_of(h.error);
    if (is_tls(h.words)) return {speech::tls, {}};
    if (is_redis(h.words)) return {speech::redis, {}};
    if (h.words.starts_with("HTTP/")) return {speech::http, {}};
    if (!h.words.empty()) last = {speech::other, h.words};
  }
  return last;
}

sighting look(const server& where, milliseconds at_most) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const auto end = clock::now() + at_most;
  if (const int error = ::getaddrinfo(where.host.c_str(), where.port.c_str(), &hints, &found); error != 0)
    return {speech::unknown_host, ::gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all{found, &::freeaddrinfo};
  sighting first;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    auto seen = listen_to(*a, end, at_most / 3);
    if (seen.what != speech::nobody && seen.what != speech::unreachable) return seen;
    if (a == found) first = std::move(seen);
  }
  return first;
}

// What an engine takes for a URL without a port. Empty: not known.
std::string usual_port(std::string_view scheme) {
  if (scheme == "etcd" || scheme == "etcds") return "2379";
  if (scheme.ends_with("+sentinel")) return "26379";
  return scheme.starts_with("redis") || scheme.starts_with("redlock") ? "6379" : "";
}

// "host:1", "[::1]:1", or either without a port.
server server_in(std::string_view text) {
  const auto bracket = text.starts_with('[') ? text.find(']') : text.npos;
  const auto colon = text.find(':', bracket == text.npos ? 0 : bracket);
  const auto host = bracket == text.npos ? text.substr(0, colon) : text.substr(1, bracket - 1);
  return {std::string{host}, std::string{colon == text.npos ? std::string_view{} : text.substr(colon + 1)}};
}

}  // namespace

std::string server::text() const { return (host.find(':') == host.npos ? host : '[' + host + ']') + ':' + port; }

std::vector<server> servers_in(std::string_view address) {
  std::vector<server> all;
  const auto scheme = std::min(address.find("://"), address.size());
  const auto port = usual_port(address.substr(0, scheme));
  auto rest = address.substr(std::min(scheme + 3, address.size()));
  rest = rest.substr(0, rest.find_first_of("/?"));
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    auto one = server_in(rest.substr(0, comma));
    rest = comma == rest.npos ? std::string_view{} : rest.substr(comma + 1);
    if (one.port.empty()) one.port = port;
    if (!one.port.empty()) all.push_back(std::move(one));
  }
  return all;
}

// Runs on a thread that is detached if a name server does not answer.
sighting look_at(const server& where, milliseconds at_most) {
  const auto told = std::make_shared<std::promise<sighting>>();
  auto answer = told->get_future();
  std::thread{[told, where, at_most] { told->set_value(look(where, at_most)); }}.detach();
  if (answer.wait_for(at_most + at_most / 4) == std::future_status::ready) return answer.get();
  return {speech::unknown_host, "no name server has answered in time"};
}

}  // namespace cli::doctor
