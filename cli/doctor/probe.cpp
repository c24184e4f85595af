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
#include <optional>
#include <thread>
#include <utility>

namespace cli::doctor {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t words_max = 64;
constexpr milliseconds moment{225};  // for threads to run, after the time is over

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
  bool closed = false;  // without a word
};

heard ask(const addrinfo& to, std::string_view question, clock::time_point until) {
  const socket s{::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (s.get() < 0) return {errno, {}};
  if (const int error = connected(s, to, until); error != 0) return {error, {}};
  if (!question.empty()) static_cast<void>(::send(s.get(), question.data(), question.size(), MSG_NOSIGNAL));
  std::array<char, words_max> answer{};
  if (!ready(s.get(), POLLIN, until)) return {};
  const auto n = ::recv(s.get(), answer.data(), answer.size(), 0);
  return {0, std::string(answer.data(), n > 0 ? static_cast<std::size_t>(n) : 0), n <= 0};
}

// A ClientHello with TLS 1.2 and one cipher suite: any TLS server answers, or complains, in TLS.
constexpr std::string_view hello{
    "\x16\x03\x01\x00\x2d\x01\x00\x00\x29\x03\x03"
    "tyer doctor asks if this is TLS."
    "\x00\x00\x02\xc0\x2f\x01\x00",
    50};
constexpr std::string_view is_there_tls{"\x00\x00\x00\x08\x04\xd2\x16\x2f", 8};  // PostgreSQL's SSLRequest

// An error begins with a word in capitals: -NOAUTH, -ERR, -LOADING, -BUSY and many more.
bool is_redis(std::string_view words) {
  if (words.starts_with("+PONG")) return true;
  const auto word = words.substr(0, words.find(' '));
  return word.size() > 3 && word.front() == '-' &&
         std::ranges::all_of(word.substr(1), [](char c) { return c >= 'A' && c <= 'Z'; });
}
bool is_tls(std::string_view words) {
  return words.size() > 1 && (words[0] == '\x15' || words[0] == '\x16') && words[1] == '\x03';
}
bool is_http(std::string_view words) { return words.starts_with("HTTP/"); }
bool is_postgres(std::string_view words) { return words == "S" || words == "N"; }
bool is_zookeeper(std::string_view words) {
  return words.starts_with("Zookeeper version") || words.starts_with("srvr is not executed") ||
         words.starts_with("This ZooKeeper instance");
}
// It greets, or says why not, before it is asked: a length, a number, and 10 or 255.
bool is_mysql(std::string_view words) {
  return words.size() > 4 && words[2] == '\0' && words[3] <= '\1' && (words[4] == '\x0a' || words[4] == '\xff');
}

struct language {
  speech what;
  std::string_view question;
  bool (*is_answer)(std::string_view);
};
// In the form that clients send: some proxies close the connection on a command in plain words.
constexpr std::array<language, 6> languages{{{speech::redis, "*1\r\n$4\r\nPING\r\n", is_redis},
                                             {speech::tls, hello, is_tls},
                                             {speech::http, "OPTIONS * HTTP/1.0\r\n\r\n", is_http},
                                             {speech::postgres, is_there_tls, is_postgres},
                                             {speech::zookeeper, "srvr", is_zookeeper},
                                             {speech::mysql, "", is_mysql}}};

sighting sighting_of(int error) {
  return {error == ECONNREFUSED ? speech::nobody : speech::unreachable, std::strerror(error), error == ETIMEDOUT};
}

// Whatever was asked: a server may answer a question that it does not understand.
sighting in_which(std::string_view words) {
  const auto* const found = std::ranges::find_if(languages, [&](const language& l) { return l.is_answer(words); });
  return found == languages.end() ? sighting{speech::other, std::string{words}} : sighting{found->what, {}};
}

sighting listen_to(const addrinfo& to, speech expected, clock::time_point end, milliseconds one) {
  auto questions = languages;
  std::ranges::stable_partition(questions, [&](const language& l) { return l.what == expected; });
  std::optional<sighting> heard_so_far;
  for (const auto& l : questions) {
    if (heard_so_far && clock::now() >= end) break;
    const auto h = ask(to, l.question, std::min(end, clock::now() + one));
    if (h.error != 0) return heard_so_far.value_or(sighting_of(h.error));
    if (!heard_so_far || (heard_so_far->what == speech::silent && h.closed))
      heard_so_far = sighting{h.closed ? speech::closing : speech::silent, {}, true};
    if (h.words.empty()) continue;
    heard_so_far = in_which(h.words);
    if (heard_so_far->what != speech::other) break;
  }
  return heard_so_far.value_or(sighting{});
}

struct addresses {
  int error;  // of getaddrinfo
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all;
};

addresses addresses_of(const server& where) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int error = ::getaddrinfo(where.host.c_str(), where.port.c_str(), &hints, &found);
  return {error, {error == 0 ? found : nullptr, &::freeaddrinfo}};
}

sighting look(const server& where, speech expected, patience p) {
  const auto end = clock::now() + p.all;
  const auto found = addresses_of(where);
  if (found.error != 0) return {speech::unknown_host, ::gai_strerror(found.error)};
  sighting first;
  for (const addrinfo* a = found.all.get(); a != nullptr; a = a->ai_next) {
    auto seen = listen_to(*a, expected, end, p.one);
    if (seen.what != speech::nobody && seen.what != speech::unreachable) return seen;
    if (a == found.all.get()) first = std::move(seen);
  }
  return first;
}

// What an engine takes for a URL without a port. Empty: not known.
std::string usual_port(std::string_view scheme) {
  if (scheme == "etcd" || scheme == "etcds") return "2379";
  if (scheme.starts_with("postgres")) return "5432";
  if (scheme == "mysql" || scheme == "mariadb") return "3306";
  if (scheme == "zk" || scheme == "zks") return "2181";
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

bool knows_no(std::string_view command, const server& where, milliseconds at_most) {
  const auto end = clock::now() + at_most;
  const auto question = std::string{command} + "\r\n";
  const auto found = addresses_of(where);
  for (const addrinfo* a = found.all.get(); a != nullptr; a = a->ai_next) {
    const auto h = ask(*a, question, end);
    if (!h.words.empty()) return h.words.starts_with("-ERR unknown command");
  }
  return false;
}

// On a thread that is detached, since a name server may not answer.
std::future<sighting> start_looking(const server& where, speech expected, patience p) {
  std::promise<sighting> told;
  auto answer = told.get_future();
  std::thread{[told = std::move(told), where, expected, p]() mutable {
    told.set_value(look(where, expected, p));
  }}.detach();
  return answer;
}

sighting seen_by(std::future<sighting>& look, clock::time_point until) {
  if (look.wait_until(until + moment) == std::future_status::ready) return look.get();
  return {speech::unknown_host, "no name server has answered in time", true};
}

}  // namespace cli::doctor
