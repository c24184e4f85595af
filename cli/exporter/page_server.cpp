#include "exporter/page_server.hpp"

#include "base/trouble.hpp"
#include "text/plain.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <vector>

namespace cli {

namespace {

using std::chrono::steady_clock;

std::string error_text(const endpoint& at, int error) {
  return "cannot listen on " + plain(at.host) + ':' + std::to_string(at.port) + ": " + std::strerror(error);
}

// 0, 127.1 and 010.0.0.1 are addresses to getaddrinfo(), and not those that most people would say.
bool is_written_out(const std::string& host) {
  in_addr parsed{};
  return host.find(':') != host.npos || ::inet_pton(AF_INET, host.c_str(), &parsed) == 1;
}

int listen_on(const endpoint& at) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (!is_written_out(at.host) || ::getaddrinfo(at.host.c_str(), std::to_string(at.port).c_str(), &hints, &found) != 0)
    throw trouble{exit_code::usage, plain(at.host) + " is not an address",
                  "Write it like 127.0.0.1:9465 or [::1]:9465."};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> first{found, ::freeaddrinfo};
  const int fd = ::socket(first->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int yes = 1;
  if (fd >= 0) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (fd < 0 || ::bind(fd, first->ai_addr, first->ai_addrlen) != 0 || ::listen(fd, 64) != 0) {
    const int why = errno;
    if (fd >= 0) ::close(fd);
    throw trouble{exit_code::failed, error_text(at, why), "--listen chooses another address and port."};
  }
  return fd;
}

std::string response(const char* status, const char* type, const std::string& body, bool with_body = true) {
  return std::string{"HTTP/1.1 "} + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         (with_body ? body : "");
}

// Of a request that names the server too, as one for a proxy does: http://host/metrics.
std::string path_of(const std::string& target) {
  constexpr std::string_view scheme = "http://";
  if (!target.starts_with(scheme)) return target;
  const auto slash = target.find('/', scheme.size());
  return slash == target.npos ? "/" : target.substr(slash);
}

// Also where lines end in \n alone, as people type them.
bool is_whole(const std::string& request) {
  return request.find("\r\n\r\n") != request.npos || request.find("\n\n") != request.npos;
}

bool may_go_on(ssize_t n) { return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)); }

}  // namespace

endpoint parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  endpoint at;
  const char* const end = text.data() + text.size();
  const bool has_port = colon != text.npos && colon > 0 && [&] {
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, at.port);
    return error == std::errc{} && stop == end;
  }();
  if (!has_port)
    throw trouble{exit_code::usage, '\'' + plain(text) + "' is not an address and a port",
                  "Write them like 127.0.0.1:9465 or [::1]:9465."};
  at.host = text.substr(0, colon);
  if (at.host.size() > 2 && at.host.front() == '[' && at.host.back() == ']')
    at.host = at.host.substr(1, at.host.size() - 2);
  return at;
}

// One connection: first the request comes in, then the answer goes out, then what was not read is: closing a socket with unread bytes
// resets it, and the visitor may lose the answer.
struct page_server::visit {
  explicit visit(int socket) : fd(socket) {}
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;
  ~visit() { ::close(fd); }

  const int fd;
  const steady_clock::time_point until = steady_clock::now() + patience;
  std::string in, out;
  std::size_t sent = 0;

  bool is_asking() const { return out.empty(); }
  bool is_answered() const { return !out.empty() && sent == out.size(); }
  short awaits() const { return is_asking() || is_answered() ? POLLIN : POLLOUT; }
};

page_server::page_server(const endpoint& at) : listens_(listen_on(at)), ends_(::eventfd(0, EFD_CLOEXEC)) {
  if (ends_ < 0) {
    ::close(listens_);
    throw trouble{exit_code::failed, error_text(at, errno)};
  }
  thread_ = std::thread{[this] { serve(); }};
}

page_server::~page_server() {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(ends_, &one, sizeof one));
  thread_.join();
  ::close(listens_);
  ::close(ends_);
}

void page_server::show(std::string text) {
  const std::lock_guard lock{mutex_};
  text_ = std::move(text);
}

std::string page_server::url() const {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  char host[NI_MAXHOST], port[NI_MAXSERV];
  auto* const address = reinterpret_cast<sockaddr*>(&bound);
  if (::getsockname(listens_, address, &size) != 0 ||
      ::getnameinfo(address, size, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return {};
  const std::string h = bound.ss_family == AF_INET6 ? '[' + std::string{host} + ']' : host;
  return "http://" + h + ':' + port + "/metrics";
}

std::string page_server::answer_to(const std::string& request) const {
  const auto method = request.substr(0, request.find(' '));
  const auto rest = request.substr(std::min(method.size() + 1, request.size()));
  const auto path = path_of(rest.substr(0, rest.find_first_of(" ?\r\n")));
  const bool head = method == "HEAD";
  if (!head && method != "GET")
    return response("405 Method Not Allowed\r\nAllow: GET, HEAD", "text/plain", "only GET\n");
  if (path == "/") return response("200 OK", "text/html", "<a href=\"/metrics\">metrics</a> of Tyer's locks\n", !head);
  if (path != "/metrics") return response("404 Not Found", "text/plain", "see /metrics\n", !head);
  const std::lock_guard lock{mutex_};
  if (text_.empty()) return response("503 Service Unavailable", "text/plain", "the first look is under way\n", !head);
  return response("200 OK", "text/plain; version=0.0.4; charset=utf-8", text_, !head);
}

bool page_server::read_request(visit& v) const {
  char bytes[1024];
  const auto n = ::recv(v.fd, bytes, sizeof bytes, 0);
  if (!may_go_on(n)) return false;
  if (n > 0) v.in.append(bytes, static_cast<std::size_t>(n));
  if (is_whole(v.in)) {
    v.out = answer_to(v.in);
  } else if (v.in.size() > request_max) {
    v.out = response("431 Request Header Fields Too Large", "text/plain", "too long\n");
  }
  return true;
}

bool page_server::send_answer(visit& v) {
  const auto n = ::send(v.fd, v.out.data() + v.sent, v.out.size() - v.sent, MSG_NOSIGNAL);
  if (n > 0) v.sent += static_cast<std::size_t>(n);
  if (v.is_answered()) ::shutdown(v.fd, SHUT_WR);
  return may_go_on(n);
}

bool page_server::read_rest(const visit& v) {
  char bytes[4096];
  return may_go_on(::recv(v.fd, bytes, sizeof bytes, 0));
}

bool page_server::go_on(visit& v) const {
  if (v.is_asking()) return read_request(v);
  return v.is_answered() ? read_rest(v) : send_answer(v);
}

// Whoever has been silent for longest leaves; else whoever has been slow for longest. So nobody keeps others out by coming and staying.
void page_server::make_room(visits& all) {
  if (all.empty()) return;
  const auto silent = std::ranges::find_if(all, [](const auto& v) { return v->is_asking() || v->is_answered(); });
  all.erase(silent == all.end() ? all.begin() : silent);
}

// Those that wait to be let in, but not more of them than there is room for: others want to be served meanwhile.
void page_server::let_in(visits& all) const {
  for (std::size_t i = 0; i < connections_max; ++i) {
    const int fd = ::accept4(listens_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == ECONNABORTED || errno == EINTR)) continue;
    if (fd < 0) {
      if (errno == EAGAIN) return;
      if (all.empty()) std::this_thread::sleep_for(patience / 50);  // no descriptor, no memory: it stays ready
      return make_room(all);
    }
    if (all.size() == connections_max) make_room(all);
    all.push_back(std::make_unique<visit>(fd));
    if (!go_on(*all.back())) all.pop_back();  // the request is there already, as a rule
  }
}

void page_server::serve() {
  visits all;
  for (;;) {
    std::vector<pollfd> fds{{ends_, POLLIN, 0}, {listens_, POLLIN, 0}};
    for (const auto& v : all) fds.push_back({v->fd, v->awaits(), 0});
    ::poll(fds.data(), fds.size(), all.empty() ? -1 : 100);
    if (fds[0].revents != 0) return;
    const auto now = steady_clock::now();
    std::size_t at = 2;
    std::erase_if(all, [&](const auto& v) {
      const bool ready = fds[at++].revents != 0;
      return now > v->until || (ready && !go_on(*v));
    });
    if (fds[1].revents != 0) let_in(all);
  }
}

}  // namespace cli
