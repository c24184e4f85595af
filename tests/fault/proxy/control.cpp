// The commands of the proxy.
#include "proxy/proxy.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <iterator>
#include <sstream>

namespace fault {

void proxy::accept_commander() {
  descriptor socket = accept_on(control_);
  if (!socket) return;
  const auto number = next_++;
  epoll_event e{EPOLLIN, {.u64 = key_of(number, commander_side)}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &e);
  commanders_[number].socket = std::move(socket);
}

void proxy::listen_to(commander& c, std::uint64_t number) {
  char buffer[512];
  const auto count = ::recv(c.socket.get(), buffer, sizeof buffer, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    commanders_.erase(number);
    return;
  }
  c.input.append(buffer, static_cast<std::size_t>(count));
  for (std::size_t end; (end = c.input.find('\n')) != std::string::npos; c.input.erase(0, end + 1)) {
    const std::string answer = obey(c.input.substr(0, end)) + "\n";
    ::send(c.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
  }
}

std::string proxy::obey(const std::string& line) {
  std::istringstream words{line};
  std::string verb;
  words >> verb;
  if (verb == "drop") return order_drop(line);
  if (verb == "stats") return statistics();
  if (verb == "freeze") {
    orders_.frozen = true;
  } else if (verb == "pass") {
    orders_ = {};
  } else if (verb == "delay") {
    std::int64_t ms = 0, jitter_ms = 0;
    words >> ms >> jitter_ms;
    orders_.delay_ns = ms * 1'000'000;
    orders_.jitter_ns = jitter_ms * 1'000'000;
  } else if (verb == "cut") {
    orders_.cut.emplace(std::istream_iterator<std::string>{words}, std::istream_iterator<std::string>{});
  } else if (verb == "reset") {
    int percent = 100, count = 0;
    words >> percent;
    for (auto& [number, p] : pairs_) {
      if (static_cast<int>(random_() % 100) >= percent) continue;
      reset(*p);
      ++count;
    }
    return "ok " + std::to_string(count);
  } else {
    return "error unknown command " + verb;
  }
  return "ok";
}

std::string proxy::order_drop(const std::string& line) {
  std::istringstream words{line};
  std::string verb, name, how;
  std::uint32_t count = 0;
  if (!(words >> verb >> name >> count >> how) || kind_named(name) == kind::other ||
      (how != "close" && how != "hole")) {
    return "error usage: drop acquire|claim|keep|wait|release|convert|lease N close|hole";
  }
  orders_.drops[static_cast<std::size_t>(kind_named(name))] = {count, how == "hole" ? drop_by::hole : drop_by::close};
  return "ok";
}

std::string proxy::statistics() const {
  std::ostringstream text;
  text << "ok links=" << pairs_.size();
  for (std::size_t k = 0; k < kind_names.size(); ++k) {
    text << ' ' << kind_names[k] << '=' << reader_.counts()[k] << '/' << dropped_[k];
  }
  return text.str();
}

}  // namespace fault
