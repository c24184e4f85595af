// The internals of a connection, only for connection.cpp and connection_lifecycle.cpp: it includes all of Boost.Redis.
#pragma once

#include "engines/kit/reconnect.hpp"
#include "engines/net/lookup.hpp"
#include "engines/redis/connection/batch.hpp"
#include "engines/redis/connection/connection.hpp"
#include "engines/redis/connection/second_look.hpp"
#include "engines/redis/connection/session.hpp"

#include <boost/asio/io_context.hpp>

#include <array>
#include <deque>
#include <random>
#include <vector>

namespace tyer::redis {

using engine::failure;
using engine::time_point;
using engine::why;
using std::chrono::milliseconds;

namespace asio = boost::asio;

inline constexpr std::chrono::seconds clock_interval{3};  // how often the server is asked for its time

// The server cannot be reached, or refuses us.
inline failure away(why kind, std::string words) {
  return {kind, make_error_code(kind == why::refused ? errc::refused : errc::unavailable), std::move(words)};
}

class connection::body final : public loop::member,
                               session::host,
                               public std::enable_shared_from_this<connection::body> {
 public:
  body(loop& l, settings s) : loop_(&l), s_(std::move(s)), random_(s_.seed), context_(l.context()) {
    if (s_.where.tls && !s_.where.verify)
      log(log_level::warning, s_.where.shown + ": ?verify=none, anybody can pose as the server");
    loop_->join(*this);
  }

  // No reply or event is delivered any more. Handlers of Asio may keep this object alive until the loop ends: so it drops
  // everything that belongs to others.
  void retire() {
    loop_->leave(*this);
    listener_ = nullptr;
    for (const auto& b : all_) {
      for (auto& e : b->entries) e.back = nullptr;
    }
    refused_.clear();
    closed_ = nullptr;
    s_.log = nullptr;
    lookup_.forget();
    end_look();
    if (const auto old = std::exchange(session_, nullptr)) old->end();
  }

  void open(listener& l) {
    listener_ = &l;
    next_attempt_ = now();
  }

  // Only new requests count toward the limit and are refused by it: not releases, renewals or the connection's own
  // requests.
  void add(std::string_view command, std::span<const std::string_view> words, const script* via, reply_handler back) {
    if (closing_) {
      return refuse(away(why::not_sent, "the connection to " + s_.where.shown + " is being closed"), std::move(back));
    }
    if (stage_ != stage::up) return refuse(why_away(), std::move(back));
    const bool counts = via != nullptr && !is_owed(*via);
    if (counts && is_full()) {
      return refuse({why::over_limit, make_error_code(errc::over_limit),
                     std::to_string(in_flight_) + " requests are in flight, see ?in_flight_max="},
                    std::move(back));
    }
    send(command, words, via, std::move(back), counts);
  }

  void call(const script& via, std::span<const std::string_view> words, reply_handler back) {
    scratch_.assign({via.sha1});
    scratch_.insert(scratch_.end(), words.begin(), words.end());
    add("EVALSHA", scratch_, &via, std::move(back));
  }

  // ASKING makes the server accept the next command although the slot is not its own yet. The two must stay together.
  void call_asking(const script& via, std::span<const std::string_view> words, reply_handler back) {
    const bool taken = stage_ == stage::up && !closing_ && (is_owed(via) || !is_full());
    if (taken) send("ASKING", {}, nullptr, [](const received&) {});
    call(via, words, std::move(back));
  }

  void info(reply_handler back) {
    if (resp3_) return add("INFO", {}, nullptr, std::move(back));
    add("EVAL", by_one_key(resp2::info), nullptr, std::move(back));
  }

  void refuse(failure f, reply_handler back) {
    make_room(1);
    refused_.push_back({std::move(f), std::move(back)});
    ready_.push_back({item::kind::refused, 0, nullptr});
  }

  void close(core::function<void()> done) {
    closing_ = true;
    closed_ = std::move(done);
  }

  void move_to(const core::endpoint&, const std::string& why);
  void hurry();
  void give_up(std::string why);
  void subscribe(bool on, std::string_view channel, bool sharded);

  bool is_up() const noexcept { return stage_ == stage::up; }
  bool speaks_resp3() const noexcept { return resp3_; }
  const settings& given() const noexcept { return s_; }
  const engine::server_facts& facts() const noexcept { return facts_; }
  const failure& absence() const noexcept { return absence_; }
  const server_clock& clock() const noexcept { return clock_; }
  void read_clock() { next_time_ = std::min(next_time_, now()); }

  void flush() override;
  void tick(time_point) override;
  time_point due() const override;
  bool ready() const override { return !ready_.empty() || (closed_ && idle()); }
  void drain() override {
    if (session_) session_->drain();
  }
  void deliver() override;
  // The outcome of requests under way is unknown. If there is no memory to report that, it is reported in the next turn.
  void broken(const std::string& words) override {
    broken_ = true;
    try {
      if (stage_ != stage::away) lose(s_.where.shown + ": " + words);
      broken_ = false;
    } catch (const std::bad_alloc&) {}
  }

 private:
  enum class stage : std::uint8_t { away, arriving, up };

  // Something for deliver().
  struct item {
    enum class kind : std::uint8_t { reply, refused, message, listening, silenced, not_allowed, up, down };
    kind what;
    std::uint32_t index;
    batch* from;
  };
  struct heard {
    std::string channel, text;
  };
  struct refused_call {
    failure words;
    reply_handler back;
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

  // Sending
  bool is_full() const noexcept { return in_flight_ >= s_.where.in_flight_max; }
  void send(std::string_view command, std::span<const std::string_view> words, const script* via, reply_handler back,
            bool counts = false);
  batch& fresh();
  void finished(batch&);
  void recycle(batch&);

  // The connection
  void attempt(time_point);
  void try_next();
  void try_address();
  bool try_resp2(session&, const session::error_code&);
  void try_again_in(bool resp3);
  void look_again(time_point);
  void end_look() noexcept {
    next_look_ = time_point::max();
    if (const auto old = std::exchange(look_, nullptr)) old->end();
  }
  void on_read() override { last_read_ = now(); }
  void on_greeted(session&) override;
  void on_subscribed(session&, std::string_view channel, std::string_view error) override;
  void on_unsubscribed(session&, std::string_view channel) override;
  void on_push(std::string_view channel, std::string_view message) override;
  void note(item::kind, std::string_view channel, std::string_view text);
  void prepare();
  void prepare_in_resp2();
  void drop_because(const failure& wrong);
  void check_role(std::string_view info);
  void check_server(std::string_view info);
  void check_age(std::string_view info);
  void prepared();
  void load_scripts();
  void lose(std::string words, why kind = why::not_sent);
  failure why_away() const;
  void fail(batch&, why, const std::string& words);
  void make_room(std::size_t items);

  // Timers
  void tick_requests(time_point);
  void ask_time(time_point);
  void ask_whether_it_is_there();
  void note_time(time_point sent, time_point came, std::span<const std::string_view> words);
  bool idle() const { return ready_.empty() && flying_.empty() && (open_ == nullptr || open_->entries.empty()); }
  void finish_close();

  // Delivering answers
  void on_node(batch&, std::size_t i, const boost::redis::resp3::node_view&);
  void deliver(const item&);
  void deliver_heard(item::kind);
  void deliver_reply(batch&, std::uint32_t index);
  void settled(batch&) noexcept;
  bool send_again(batch&, batch::entry&, reply_handler& back);
  bool redirected(batch&, batch::entry&, std::string_view error, reply_handler& back);
  bool overtaken(const batch&, const batch::entry&, std::string_view key) const;

  // For EVAL, where only what has a key is passed on. The key is not used.
  std::array<std::string_view, 3> by_one_key(std::string_view text) const { return {text, "1", s_.inbox}; }

  bool speaks_of_locks() const { return s_.purpose == use::locks || s_.purpose == use::shard; }

  loop* loop_;
  settings s_;
  listener* listener_ = nullptr;
  std::minstd_rand random_;
  server_clock clock_;

  // Batches outlive the context: its handlers point at them.
  std::vector<std::unique_ptr<batch>> all_;
  std::vector<batch*> spare_;
  batch* open_ = nullptr;
  std::deque<batch*> flying_;  // in the order they were sent
  std::size_t in_flight_ = 0;  // requests that count toward in_flight_max

  std::vector<item> ready_;
  std::deque<refused_call> refused_;
  std::deque<heard> messages_;
  std::vector<std::string_view> scratch_, leaves_;

  stage stage_ = stage::away;
  failure absence_ = away(why::not_sent, "not connected yet");
  engine::server_facts facts_;
  bool outage_ = false, told_refused_ = false, closing_ = false, broken_ = false;
  std::size_t preparing_ = 0, loading_scripts_ = 0;  // answers still to come
  core::function<void()> closed_;
  std::uint64_t attempts_ = 0;
  kit::reconnect reconnect_;
  time_point next_attempt_ = time_point::max(), arrive_by_{}, next_time_ = time_point::max(), last_read_{};
  std::string drop_;  // set while delivering: why the connection must be dropped
  why drop_kind_ = why::not_sent;

  asio::io_context& context_;
  net::lookup lookup_;
  net::lookup::addresses addresses_;  // of this attempt
  std::size_t next_address_ = 0;
  std::shared_ptr<session> session_;
  bool resp3_ = true;         // else RESP2: see resp2.hpp
  bool resp2_works_ = false;  // in this attempt
  bool said_resp2_ = false;   // it has answered HELLO with an error, and was not only silent
  std::shared_ptr<second_look> look_;
  time_point next_look_ = time_point::max();
  milliseconds look_pause_{};
  std::string without_hello_;  // how the greeting with HELLO ended
};

}  // namespace tyer::redis
