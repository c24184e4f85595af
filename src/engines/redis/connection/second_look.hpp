// Whether a server that was silent when it was greeted with HELLO knows it after all: asked on a connection beside the one that
// speaks RESP2. Internal to connection.cpp.
//
// A proxy that knows only RESP2 may close a connection on HELLO without a word, and so does a cut by chance, or a way to the
// server by turns through something that is dead. Which of them it was shows in time only.
#pragma once

#include "core/function.hpp"
#include "engines/redis/connection/session.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <memory>
#include <utility>

namespace tyer::redis {

class second_look final : session::host, public std::enable_shared_from_this<second_look> {
 public:
  second_look(boost::asio::io_context& context, tls::context tls, const config& where)
      : session_(std::make_shared<session>(context, std::move(tls), where, true, static_cast<session::host&>(*this))) {
    session_->self = session_;
  }

  // `found` is called from inside a handler of Asio, if HELLO was answered as it should be; not after end().
  void start(const boost::asio::ip::tcp::endpoint& to, std::chrono::milliseconds limit, core::function<void()> found) {
    found_ = std::move(found);
    session_->start(to, limit, limit, [self = shared_from_this()](session::error_code) {});
  }
  void end() {
    found_ = nullptr;
    session_->end();
  }

 private:
  void on_greeted(session& s) override {
    boost::asio::post(s.stream.get_executor(), [self = shared_from_this()] {
      self->session_->end();
      if (self->found_) std::exchange(self->found_, nullptr)();
    });
  }
  void on_read() override {}
  void on_subscribed(session&, std::string_view, std::string_view) override {}
  void on_unsubscribed(session&, std::string_view) override {}
  void on_push(std::string_view, std::string_view) override {}

  const std::shared_ptr<session> session_;
  core::function<void()> found_;
};

}  // namespace tyer::redis
