// A server of ZooKeeper's protocol that has nothing, and behaves as a test says. It works when it is told to: no thread.
#pragma once

#include "engines/zookeeper/wire/codec.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tyer::zookeeper::test {

class own_server {
 public:
  enum class manner : std::uint8_t { answers_all, answers_pings_alone, greets_and_hangs_up };

  own_server() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof a;
    auto* const raw = reinterpret_cast<sockaddr*>(&a);
    if (::bind(socket_, raw, size) == 0 && ::listen(socket_, 64) == 0 && ::getsockname(socket_, raw, &size) == 0)
      port_ = ntohs(a.sin_port);
  }
  ~own_server() {
    for (const visitor& v : visitors_) ::close(v.socket);
    ::close(socket_);
  }
  own_server(const own_server&) = delete;

  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }

  // Whatever has come.
  void work() {
    for (int one; (one = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0; ++ever) {
      const int at_once =
          1;  // else a second answer waits for up to 40 ms of real time, and a test's own time is quicker
      ::setsockopt(one, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      visitors_.emplace_back().socket = one;
    }
    for (visitor& v : visitors_) hear(v);
    visitors_.remove_if([](const visitor& v) {
      if (v.over) ::close(v.socket);
      return v.over;
    });
  }

  void hang_up() {
    for (const visitor& v : visitors_) ::close(v.socket);
    visitors_.clear();
  }
  void hang_up(std::int64_t session) {
    for (visitor& v : visitors_) v.over = v.over || v.session == session;
  }
  std::size_t connections() const { return visitors_.size(); }

  // Instead of what it says by itself: an error, and the rest of the answer.
  using words = std::pair<std::int32_t, std::string>;
  std::function<std::optional<words>(wire::op, wire::reader)> says;
  // The same, of one that knows the session.
  std::function<std::optional<words>(wire::op, wire::reader, std::int64_t session)> serves;
  // Of a watch, before anything that is answered later.
  void tell(std::int64_t session, wire::event::kind what, std::string_view path) {
    wire::writer w;
    w.number(-1).big(-1).number(wire::ok).number(static_cast<std::int32_t>(what)).number(3).text(path);
    const auto body = w.take();
    for (const visitor& v : visitors_) {
      if (v.session == session && !v.over) say(v, body);
    }
  }
  // How long a session is that comes (0: a new one); 0: it is not known, less: nothing is said.
  std::function<std::int32_t(std::int64_t session)> greets;
  std::optional<wire::op> swallows;  // it is carried out, and there is no answer: once
  std::optional<wire::op> stops_at;  // nothing is read from there on
  manner how = manner::answers_all;
  std::int32_t timeout_ms = 10'000;
  std::size_t ever = 0;  // connections

 private:
  struct visitor {
    int socket = -1;
    std::int64_t session = 0;
    bool greeted = false, over = false;
    wire::framer in;
  };

  void hear(visitor& v) {
    std::array<char, 4096> some{};
    for (ssize_t n; (n = ::recv(v.socket, some.data(), some.size(), 0)) != -1;) {
      if (n == 0) {
        v.over = true;
        return;
      }
      v.in.add({some.data(), static_cast<std::size_t>(n)});
    }
    while (const auto packet = v.in.next()) {
      wire::reader r{*packet};
      if (v.greeted && stops_at && what_is(*packet) == *stops_at) return;
      v.greeted ? answer(v, r) : greet(v, r);
      v.in.done();
    }
  }

  static wire::op what_is(std::string_view packet) {
    wire::reader r{packet};
    r.number();
    return static_cast<wire::op>(r.number());
  }

  void greet(visitor& v, wire::reader& r) {
    r.number();
    r.big();
    r.number();
    const auto number = r.big();
    const auto length = greets ? greets(number) : timeout_ms;
    if (length < 0) return;
    wire::writer w;
    v.session = number != 0 ? number : ++last_session_;
    w.number(0).number(length).big(length != 0 ? v.session : 0).text(std::string(16, 'p')).flag(false);
    say(v, w.take());
    v.greeted = true;
  }

  void answer(visitor& v, wire::reader& r) {
    const auto number = r.number();
    const auto what = static_cast<wire::op>(r.number());
    if (how == manner::greets_and_hangs_up) v.over = true;
    if (v.over || (how == manner::answers_pings_alone && what != wire::op::ping)) return;
    wire::writer w;
    w.number(number).big(++transactions_);
    auto said = says ? says(what, r) : std::nullopt;
    if (!said && serves) said = serves(what, r, v.session);
    if (swallows == what) {
      swallows.reset();
      v.over = true;
      return;
    }
    if (said) {
      w.number(said->first).raw(said->second);
      return say(v, w.take());
    }
    const bool known = what == wire::op::ping || what == wire::op::create || what == wire::op::set_data ||
                       what == wire::op::close || what == wire::op::sync;
    w.number(known ? wire::ok : wire::no_node);
    if (what == wire::op::create || what == wire::op::sync) w.text(r.text());
    if (what == wire::op::set_data) w.raw(std::string(68, '\0'));
    say(v, w.take());
  }

  static void say(const visitor& v, std::string_view body) {
    const auto packet = wire::writer{}.text(body).take();
    [[maybe_unused]] const auto sent = ::send(v.socket, packet.data(), packet.size(), MSG_NOSIGNAL);
  }

  const int socket_;
  std::uint16_t port_ = 0;
  std::int64_t last_session_ = 0, transactions_ = 0;
  std::list<visitor> visitors_;
};

}  // namespace tyer::zookeeper::test
