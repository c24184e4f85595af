// The inside of a connection. Only connection.cpp includes this: it brings all of Boost.Redis.
#pragma once

#include "engines/redis/batch.hpp"
#include "engines/redis/connection.hpp"
#include "engines/redis/session.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <deque>
#include <random>
#include <vector>

namespace tyer::redis {

using engine::failure;
using engine::time_point;
using engine::why;
using std::chrono::milliseconds;

namespace asio = boost::asio;

// The server cannot be reached, or does not want us.
inline failure away(why kind, std::string words) {
  return {kind, make_error_code(kind == why::refused ? errc::refused : errc::unavailable), std::move(words)};
}

class connection::body final : session::host {
 public:
  explicit body(settings s) : s_(std::move(s)), random_(s_.seed), work_(context_.get_executor()) {
    if (s_.where.tls && !s_.where.verify)
      log(log_level::warning, s_.where.shown + ": ?verify=none, anybody can pose as the server");
  }
  ~body() {
    if (session_) session_->end();
  }

  void open(listener& l) {
    listener_ = &l;
    next_attempt_ = now();
    stand_in_front();
  }

  void add(std::string_view command, std::span<const std::string_view> words, const script* via, then back) {
    if (closing_) return refuse(away(why::not_sent, "the client was closed"), std::move(back));
    if (stage_ != stage::up) return refuse(absence_, std::move(back));
    if (in_flight_ >= s_.where.in_flight_max) {
      return refuse({why::over_limit, make_error_code(errc::over_limit),
                     std::to_string(in_flight_) + " requests are in flight, see ?in_flight_max="},
                    std::move(back));
    }
    send(command, words, via, std::move(back));
  }

  void call(const script& via, std::span<const std::string_view> words, then back) {
    scratch_.assign({via.sha1});
    scratch_.insert(scratch_.end(), words.begin(), words.end());
    add("EVALSHA", scratch_, &via, std::move(back));
  }

  void refuse(failure f, then back) {
    refused_.push_back({std::move(f), std::move(back)});
    ready_.push_back({item::kind::refused, 0, nullptr});
  }

  void close(core::function<void()> done) {
    closing_ = true;
    closed_ = std::move(done);
  }

  const server_clock& clock() const noexcept { return clock_; }
  void read_clock() { next_time_ = std::min(next_time_, now()); }

  void run(time_point until);
  void wake() noexcept;

 private:
  enum class stage : std::uint8_t { away, arriving, up };

  // Something for deliver().
  struct item {
    enum class kind : std::uint8_t { reply, refused, message, up, down };
    kind what;
    std::uint32_t index;
    batch* from;
  };
  struct refused_call {
    failure words;
    then back;
  };

  // How Boost.Redis hands over the nodes of the answers to a batch: it finds boost_redis_adapt by the argument's type.
  struct node_reader {
    body* home;
    batch* to;
    std::size_t get_supported_response_size() const noexcept { return static_cast<std::size_t>(-1); }
    void operator()(std::size_t i, const boost::redis::resp3::node_view& n, session::error_code&) const {
      home->on_node(*to, i, n);
    }
  };
  struct node_sink {
    node_reader reader;
    friend node_reader boost_redis_adapt(node_sink& s) { return s.reader; }
  };

  time_point now() const noexcept { return s_.clock->now(); }
  void log(log_level level, const std::string& words) const {
    if (s_.log) s_.log(level, words);
  }

  // The way out
  void send(std::string_view command, std::span<const std::string_view> words, const script* via, then back);
  void flush();
  batch& fresh();
  void finished(batch&);
  void recycle(batch&);

  // The connection
  void attempt(time_point);
  void on_read() override { last_read_ = now(); }
  void on_greeted(session&) override;
  void on_subscribed(session&, std::string_view error) override;
  void on_push(std::string_view message) override;
  void prepare();
  void prepared();
  void load_scripts();
  void lose(std::string words, why kind = why::not_sent);
  void fail(batch&, why, const std::string& words);

  // The loop
  void stand_in_front();
  void serve(lease_clock::duration);
  void tick(time_point);
  void tick_requests(time_point);
  time_point due() const;
  void ask_time(time_point);
  void note_time(const received&);
  bool idle() const { return ready_.empty() && flying_.empty() && (open_ == nullptr || open_->entries.empty()); }
  void finish_close();

  // The way back
  void on_node(batch&, std::size_t i, const boost::redis::resp3::node_view&);
  void deliver();
  void deliver(const item&);
  void deliver_reply(batch&, std::uint32_t index);
  bool send_again(batch&, batch::entry&);
  bool overtaken(const batch&, const batch::entry&, std::string_view key) const;

  settings s_;
  listener* listener_ = nullptr;
  std::minstd_rand random_;
  server_clock clock_;

  // Batches outlive the context: its handlers point at them.
  std::vector<std::unique_ptr<batch>> all_;
  std::vector<batch*> spare_;
  batch* open_ = nullptr;
  std::deque<batch*> flying_;  // in the order they were sent
  std::size_t in_flight_ = 0;

  std::vector<item> ready_;
  std::deque<refused_call> refused_;
  std::deque<std::string> messages_;
  std::vector<std::string_view> scratch_, leaves_;

  stage stage_ = stage::away;
  failure absence_ = away(why::not_sent, "not connected yet");
  engine::server_facts facts_;
  bool outage_ = false, closing_ = false;
  std::size_t preparing_ = 0, loading_scripts_ = 0;  // answers still to come
  core::function<void()> closed_;
  std::uint64_t attempts_ = 0;
  milliseconds backoff_{};
  time_point next_attempt_ = time_point::max(), arrive_by_{}, up_since_{}, next_time_ = time_point::max(), last_read_{};
  std::string drop_;  // set while delivering: the connection is of no more use

  std::atomic<bool> woken_{false};
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer front_{context_};
  std::shared_ptr<session> session_;
};

}  // namespace tyer::redis
