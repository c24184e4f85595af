#include "engines/zookeeper/wire/question.hpp"

#include "engines/net/lookup.hpp"
#include "engines/zookeeper/wire/socket.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <memory>
#include <utility>

namespace tyer::zookeeper::wire {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using error_code = boost::system::error_code;

constexpr std::size_t answer_bytes_max = 64 * 1024;

class question : public std::enable_shared_from_this<question> {
 public:
  question(loop& l, std::string word, std::function<void(std::string)> then)
      : loop_(&l), word_(std::move(word)), then_(std::move(then)), socket_(l.context()), limit_(l.context()) {}

  void start(const core::endpoint& to, engine::milliseconds limit) {
    limit_.expires_after(limit);
    limit_.async_wait([me = shared_from_this()](const error_code& e) {
      if (!e) me->end({});
    });
    lookup_.start(loop_->context(), to.host, to.port, [me = weak_from_this()](const error_code& e, auto found) {
      if (const auto still = me.lock()) e ? still->end({}) : still->connect(found.front());
    });
  }

 private:
  void connect(const tcp::endpoint& at) {
    if (open(socket_, at)) return end({});
    socket_.async_connect(at, [me = shared_from_this()](const error_code& e) { e ? me->end({}) : me->ask(); });
  }

  void ask() {
    asio::async_write(socket_, asio::buffer(word_),
                      [me = shared_from_this()](const error_code& e, std::size_t) { e ? me->end({}) : me->read(); });
  }

  void read() {
    socket_.async_read_some(asio::buffer(in_), [me = shared_from_this()](const error_code& e, std::size_t n) {
      me->said_.append(me->in_.data(), n);
      e || me->said_.size() > answer_bytes_max ? me->end(std::exchange(me->said_, {})) : me->read();
    });
  }

  void end(std::string words) {
    const auto then = std::exchange(then_, nullptr);
    if (!then) return;
    error_code ignored;
    lookup_.forget();
    limit_.cancel();
    socket_.close(ignored);
    loop_->note([then, words = std::move(words)](engine::events*) { then(words); });
  }

  loop* loop_;
  const std::string word_;
  std::function<void(std::string)> then_;
  tcp::socket socket_;
  asio::steady_timer limit_;
  net::lookup lookup_;
  std::array<char, 4096> in_{};
  std::string said_;
};

}  // namespace

void ask_server(loop& l, const core::endpoint& to, const std::string& word, engine::milliseconds limit,
                std::function<void(std::string)> then) {
  std::make_shared<question>(l, word, std::move(then))->start(to, limit);
}

}  // namespace tyer::zookeeper::wire
