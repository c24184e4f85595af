// One attempt to be connected to one address, with Boost.Redis. Internal to connection.cpp.
//
// Boost.Redis 1.88 can reconnect by itself, but then forgets subscriptions, keeps an old HELLO error, and tells neither why
// it failed nor what was sent. So a session is used once: a new attempt is a new object.
//
// Boost.Redis lets Asio resolve every host, on a thread that ~io_context waits for: so it gets addresses, which resolve at
// once. The TLS check still expects the host name of the URI.
#pragma once

#include "engines/redis/config.hpp"
#include "engines/redis/connection/greeting.hpp"
#include "engines/redis/connection/limits.hpp"
#include "engines/redis/connection/resp2.hpp"
#include "engines/redis/connection/tls.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/redis/connection.hpp>
#include <boost/redis/error.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

namespace tyer::redis {

class session {
 public:
  using executor = boost::asio::io_context::executor_type;
  using error_code = boost::system::error_code;

  // Called from inside handlers of Asio: must only record the event.
  class host {
   public:
    virtual void on_read() = 0;
    virtual void on_greeted(session&) = 0;
    virtual void on_subscribed(session&, std::string_view channel, std::string_view error) = 0;
    virtual void on_unsubscribed(session&, std::string_view channel) = 0;
    virtual void on_push(std::string_view channel, std::string_view message) = 0;

   protected:
    ~host() = default;
  };

  // Keeps a copy of `where`, which may change later.
  session(boost::asio::io_context& context, tls::context tls, config where, bool resp3, host& h)
      : stream(context.get_executor(), boost::asio::ssl::context{tls.release()}, read_bytes_max),
        where_(std::move(where)),
        resp3_(resp3),
        host_(&h) {
    if (where_.tls) net::tls::expect(stream.next_layer().native_handle(), tls::terms(where_));
    stream.set_receive_response(pushes_);
  }
  session(const session&) = delete;

  // `tcp`: how long it may take to be connected; `limit`: every step after that.
  template <class Handler>
  void start(const boost::asio::ip::tcp::endpoint& to, std::chrono::milliseconds tcp, std::chrono::milliseconds limit,
             Handler done) {
    family_ = to.protocol().family();
    auto given = settings(limit);
    given.addr = {to.address().to_string(), std::to_string(to.port())};
    given.connect_timeout = tcp;
    stream.async_run(given, hooks{this}, std::move(done));
  }

  // Boost.Redis stops reading if pushes are not consumed; their contents were read while they were parsed.
  void drain() {
    for (error_code error; undrained_ > 0 && !error; --undrained_) stream.receive(error);
    undrained_ = 0;
  }

  // What went wrong, in words; `error` if nothing better is known.
  std::string explain(const error_code& error) const {
    if (!why_.empty()) return why_;
    return "the connection to " + where_.shown + " was lost: " + error.message() + advice(error) +
           greeting::advice_when_lost(where_, step_);
  }
  std::string explain_slowness() const { return greeting::too_slow(where_, step_); }
  bool is_refused() const noexcept { return refused_; }
  // It answered HELLO with an error, or closed the connection without a word, as some proxies do with what they do not know.
  bool may_know_only_resp2() const noexcept { return resp3_ && (hello_unknown_ || step_ == greeting::step::greeting); }
  bool is_silent() const noexcept { return step_ == greeting::step::greeting; }        // it never said anything
  bool was_connected() const noexcept { return step_ != greeting::step::connecting; }  // with TCP

  void end() {
    over_ = true;
    stream.cancel();
  }

  boost::redis::basic_connection<executor> stream;
  std::uint64_t commands = 0;  // written to the stream so far

 private:
  // Boost.Redis reports to its logger what it does not report to its callers.
  struct hooks {
    session* s;

    void on_resolve(const error_code& e, const boost::asio::ip::tcp::resolver::results_type&) { s->resolved(e); }
    void on_connect(const error_code& e, const boost::asio::ip::tcp::endpoint&) { s->connected(e); }
    void on_ssl_handshake(const error_code& e) { s->secured(e); }
    void on_write(const error_code&, const std::string&) {}
    void on_read(const error_code& e, std::size_t) {
      if (!e) s->read();
    }
    void on_hello(const error_code& e, const boost::redis::generic_response& r) { s->greeted(e, r); }
    void set_prefix(std::string_view) {}
    void trace(std::string_view) {}
    void trace(std::string_view, const error_code&) {}
  };

  // Reads what the server pushes: ["message", channel, payload] and ["subscribe", channel, count]; with an s in front where
  // the channel belongs to a shard of a cluster.
  struct push_reader {
    session* s;
    std::size_t get_supported_response_size() const noexcept { return static_cast<std::size_t>(-1); }
    void operator()(std::size_t, const boost::redis::resp3::node_view& n, error_code&) const { s->pushed(n); }
  };
  struct push_sink {
    session* s;
    friend push_reader boost_redis_adapt(push_sink& p) { return {p.s}; }
  };

  boost::redis::config settings(std::chrono::milliseconds limit) const {
    boost::redis::config c;
    c.use_ssl = where_.tls;
    c.username = where_.user.empty() ? "default" : where_.user;
    c.password = where_.password;
    c.clientname = resp3_ ? "tyer" : resp2::marker;
    c.database_index = where_.database;
    c.health_check_interval = {};    // done by connection.cpp
    c.reconnect_wait_interval = {};  // and this too
    c.resolve_timeout = c.ssl_handshake_timeout = limit;
    return c;
  }

  // With TLS 1.3 a server checks our certificate after the handshake has ended for us: a refusal looks like a lost
  // connection.
  std::string advice(const error_code& e) const {
    if (!where_.tls || e.category() != boost::asio::error::get_ssl_category()) return {};
    return net::tls::advice(tls::terms(where_), static_cast<unsigned long>(e.value()));
  }

  auto& socket() { return stream.next_layer().next_layer(); }

  // Asio opens sockets without SOCK_CLOEXEC, and has no hook between socket() and connect().
  void close_on_exec() {
    if (socket().is_open()) ::fcntl(socket().native_handle(), F_SETFD, FD_CLOEXEC);
  }

  void resolved(const error_code& e) {
    if (e) {
      why_ = "cannot connect to " + where_.shown + ": " + e.message();
      return;
    }
    // Right behind the handler that opens the socket.
    boost::asio::post(stream.get_executor(), [this, alive = self.lock()] { close_on_exec(); });
  }

  // Asio treats a socket that it could not open as one that was closed meanwhile, and Boost.Redis treats that as a
  // time-out: the reason is lost. So it is found by opening another socket.
  std::string why_no_socket() const {
    const int fd = ::socket(family_, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int why = errno;
    if (fd < 0) return "no socket can be opened: " + std::generic_category().message(why);
    ::close(fd);
    return "no socket could be opened";
  }

  std::string why_not(const error_code& e) {
    if (e != boost::redis::error::connect_timeout) return e.message();
    return over_ || socket().is_open() ? "no answer in time" : why_no_socket();
  }

  void connected(const error_code& e) {
    if (e) {
      why_ = "cannot connect to " + where_.shown + ": " + why_not(e);
      return;
    }
    step_ = where_.tls ? greeting::step::securing : greeting::step::greeting;
    close_on_exec();
    error_code ignored;
    if (over_) socket().close(ignored);
    socket().set_option(boost::asio::ip::tcp::no_delay(true), ignored);
  }

  static bool spoke_tls(const error_code& e) {
    return e.category() == boost::asio::error::get_ssl_category() &&
           ERR_GET_REASON(static_cast<unsigned long>(e.value())) != SSL_R_WRONG_VERSION_NUMBER;
  }

  void secured(const error_code& e) {
    if (!e) {
      step_ = greeting::step::greeting;
      return;
    }
    why_ = where_.shown + ": " +
           net::tls::explain(stream.next_layer().native_handle(), tls::terms(where_), e.message()) + advice(e);
    if (!spoke_tls(e)) why_ += greeting::advice_when_lost(where_, step_);
  }

  void read() {
    step_ = greeting::step::greeted;
    host_->on_read();
  }

  void greeted(const error_code& e, const boost::redis::generic_response& r) {
    if (e || over_) return;
    std::string error;
    if (r.has_error()) {
      error = r.error().diagnostic;
    } else {
      for (const auto& n : r.value()) {
        if (n.data_type == boost::redis::resp3::type::simple_error) error = n.value;
      }
    }
    if (error.empty()) return host_->on_greeted(*this);
    why_ = greeting::refused(where_, error);
    refused_ = greeting::refuses_us(error);
    hello_unknown_ = greeting::knows_no_hello(error);
  }

  enum class push : std::uint8_t { other, message, subscribed, unsubscribed };
  static push kind_of(std::string_view word) {
    if (word == "message" || word == "smessage") return push::message;
    if (word == "subscribe" || word == "ssubscribe") return push::subscribed;
    return word == "unsubscribe" || word == "sunsubscribe" ? push::unsubscribed : push::other;
  }

  void pushed(const boost::redis::resp3::node_view& n) {
    using boost::redis::resp3::type;
    if (n.depth == 0) {
      ++undrained_;
      index_ = 0;
      // With nothing asked, an error can only be the answer to SUBSCRIBE.
      if (n.data_type == type::simple_error) host_->on_subscribed(*this, {}, n.value);
      return;
    }
    if (index_ == 0) what_ = kind_of(n.value);
    if (index_ == 1) channel_ = n.value;
    if (index_ == 1 && what_ == push::subscribed) host_->on_subscribed(*this, channel_, {});
    if (index_ == 1 && what_ == push::unsubscribed) host_->on_unsubscribed(*this, channel_);
    if (index_ == 2 && what_ == push::message) host_->on_push(channel_, n.value);
    ++index_;
  }

 public:
  std::weak_ptr<session> self;  // set by whoever made it

 private:
  const config where_;
  const bool resp3_;
  host* host_;
  push_sink pushes_{this};
  std::string why_, channel_;
  std::size_t index_ = 0, undrained_ = 0;
  push what_ = push::other;
  greeting::step step_ = greeting::step::connecting;
  int family_ = AF_INET;
  bool over_ = false, refused_ = false, hello_unknown_ = false;
};

}  // namespace tyer::redis
