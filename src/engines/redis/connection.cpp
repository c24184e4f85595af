#include "engines/redis/connection.hpp"

#include "engines/redis/answers.hpp"
#include "engines/redis/connection_body.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tyer::redis {

using std::chrono::microseconds;
using std::chrono::seconds;

namespace {

constexpr milliseconds backoff_min{20}, backoff_max{1000};
constexpr seconds clock_interval{3};
constexpr seconds settled_after{1};         // a connection that lasted this long starts a new series of attempts
constexpr milliseconds arrive_limit{5000};  // at least, for name, TCP, TLS and greeting together

// How many answers are delivered before what they led to is sent. All at once would make client and server take turns.
constexpr std::size_t answers_per_flush = 16;

// The value of `field` in an answer of INFO.
std::string_view info_field(std::string_view info, std::string_view field) {
  const auto at = info.find(field);
  if (at == info.npos) return {};
  info.remove_prefix(at + field.size());
  return info.substr(0, info.find('\r'));
}

engine::server_facts facts_from(std::string_view info) {
  const auto valkey = info_field(info, "\nvalkey_version:");
  const auto redis = info_field(info, "\nredis_version:");
  return {std::string{info_field(info, "\nrun_id:")},
          valkey.empty() ? "redis " + std::string{redis} : "valkey " + std::string{valkey}};
}

bool read_time(std::span<const std::string_view> words, microseconds& out) {
  if (words.size() != 2) return false;
  std::int64_t s = 0, us = 0;
  std::from_chars(words[0].data(), words[0].data() + words[0].size(), s);
  std::from_chars(words[1].data(), words[1].data() + words[1].size(), us);
  out = seconds{s} + microseconds{us};
  return s > 0;
}

}  // namespace

// The way out: collect, send, and note what was sent.

void connection::body::send(std::string_view command, std::span<const std::string_view> words, const script* via,
                            then back) {
  if (open_ == nullptr) open_ = &fresh();
  open_->add(command, words, via, std::move(back));
  ++in_flight_;
}

void connection::body::flush() {
  if (open_ == nullptr || session_ == nullptr) return;
  batch& b = *std::exchange(open_, nullptr);
  b.sent = now();
  b.executing = true;
  session_->commands += b.request.get_expected_responses();
  b.last_command = session_->commands;
  b.attempt = attempts_;
  flying_.push_back(&b);
  node_sink sink{{this, &b}};
  // No cancellation is ever passed on: it would close the connection that all share.
  session_->stream.async_exec(b.request, boost::redis::any_adapter{sink},
                              [this, alive = session_, &b](session::error_code, std::size_t) { finished(b); });
}

// Boost.Redis is done with the batch. If answers are missing, the connection is lost: the batch stays among those on their
// way, so that lose() finds it when the connection itself says why.
void connection::body::finished(batch& b) {
  b.executing = false;
  if (b.unanswered == 0 && !flying_.empty() && flying_.front() == &b) flying_.pop_front();
  if (b.undelivered == 0) recycle(b);
}

batch& connection::body::fresh() {
  if (spare_.empty()) {
    all_.push_back(std::make_unique<batch>());
    return *all_.back();
  }
  batch* b = spare_.back();
  spare_.pop_back();
  return *b;
}

void connection::body::recycle(batch& b) {
  b.clear();
  spare_.push_back(&b);
}

// The connection: an attempt resolves, connects, greets, subscribes and prepares; then it is up.

void connection::body::attempt(time_point t) {
  auto made = tls::make_context(s_.where);
  stage_ = stage::arriving;
  ++attempts_;
  next_attempt_ = time_point::max();
  const auto limit = std::max(s_.request_timeout, arrive_limit);
  arrive_by_ = t + limit;
  last_read_ = t;
  if (!made.words.empty()) return lose(std::move(made.words));
  session_ = std::make_shared<session>(context_, std::move(made.value), s_.where, static_cast<session::host&>(*this));
  session_->self = session_;
  session_->start(limit, [this, mine = session_](session::error_code e) {
    if (mine == session_) lose(mine->explain(e), mine->login_refused() ? why::refused : why::not_sent);
  });
}

// SUBSCRIBE goes alone: Boost.Redis expects no reply to it, so an error (an ACL without channels) would be taken for the
// reply to whatever came next, and every later reply would be given to the wrong request.
void connection::body::on_greeted(session& s) {
  asio::post(context_, [this, mine = s.self.lock()] {
    if (mine != session_) return;
    mine->commands = mine->stream.get_usage().commands_sent;
    auto subscribe = std::make_shared<boost::redis::request>();
    subscribe->push("SUBSCRIBE", s_.inbox);
    mine->stream.async_exec(*subscribe, boost::redis::ignore, [mine, subscribe](session::error_code, std::size_t) {});
  });
}

void connection::body::on_subscribed(session& s, std::string_view error) {
  if (!error.empty()) {
    log(log_level::warning, s_.where.shown + " allows no messages to " + s_.inbox +
                                ", waiters will look again instead: " + std::string{error});
  }
  asio::post(context_, [this, mine = s.self.lock()] {
    if (mine == session_ && stage_ == stage::arriving) prepare();
  });
}

void connection::body::on_push(std::string_view message) {
  messages_.emplace_back(message);
  ready_.push_back({item::kind::message, 0, nullptr});
}

void connection::body::prepare() {
  clock_.forget();
  preparing_ = 3;
  const auto one_more = [this, mine = attempts_](const received& r, auto take) {
    if (mine != attempts_ || stage_ != stage::arriving) return;
    if (r.wrong == nullptr)
      take(r);
    else if (drop_.empty())
      drop_ = s_.where.shown + ": " + r.wrong->words;
    if (--preparing_ == 0 && drop_.empty()) prepared();
  };
  constexpr std::string_view server[]{"server"}, replication[]{"replication"};
  load_scripts();
  send("INFO", replication, nullptr, [this, one_more](const received& r) {
    one_more(r, [this](const received& x) {
      if (info_field(x.words.empty() ? "" : x.words[0], "role:") == "slave") {
        drop_ = s_.where.shown + " is a replica; connect to its primary";
      }
    });
  });
  send("INFO", server, nullptr, [this, one_more](const received& r) {
    one_more(r, [this](const received& x) { facts_ = facts_from(x.words.empty() ? "" : x.words[0]); });
  });
  send("TIME", {}, nullptr,
       [this, one_more](const received& r) { one_more(r, [this](const received& x) { note_time(x); }); });
  flush();
}

void connection::body::prepared() {
  const auto t = now();
  stage_ = stage::up;
  up_since_ = t;
  next_time_ = t + clock_interval;
  outage_ = false;
  ready_.push_back({item::kind::up, 0, nullptr});
}

// If the server refuses (an ACL without SCRIPT), every call falls back to sending the text.
void connection::body::load_scripts() {
  if (loading_scripts_ > 0) return;
  for (const script* s : s_.loads) {
    ++loading_scripts_;
    const std::array<std::string_view, 2> words{"LOAD", s->text};
    send("SCRIPT", words, nullptr, [this, mine = attempts_](const received& r) {
      --loading_scripts_;
      if (r.wrong == nullptr || mine != attempts_ || stage_ == stage::away) return;
      if (r.wrong->words.starts_with("LOADING") && drop_.empty()) drop_ = s_.where.shown + ": " + r.wrong->words;
      log(log_level::warning, s_.where.shown + ": SCRIPT LOAD: " + r.wrong->words);
    });
  }
}

void connection::body::lose(std::string words, why kind) {
  const auto t = now();
  if (stage_ == stage::up && t - up_since_ >= settled_after) backoff_ = backoff_min;
  backoff_ = std::clamp(backoff_, backoff_min, backoff_max);
  next_attempt_ = t + backoff_ / 2 + milliseconds{random_() % static_cast<unsigned>(backoff_.count() / 2 + 1)};
  backoff_ *= 2;
  stage_ = stage::away;
  next_time_ = time_point::max();
  absence_ = away(kind, words);

  std::uint64_t written = 0;
  if (const auto old = std::exchange(session_, nullptr)) {
    written = old->stream.get_usage().commands_sent;
    old->end();
  }
  for (batch* b : std::exchange(flying_, {}))
    fail(*b, b->last_command <= written ? why::unknown : why::not_sent, words);
  if (batch* b = std::exchange(open_, nullptr)) fail(*b, why::not_sent, words);

  log(outage_ ? log_level::debug : log_level::warning, words);
  if (!std::exchange(outage_, true) && !closing_) ready_.push_back({item::kind::down, 0, nullptr});
}

void connection::body::fail(batch& b, why kind, const std::string& words) {
  b.lost = {kind, make_error_code(kind == why::unknown ? errc::unknown : errc::unavailable), words};
  for (std::uint32_t i = 0; i < b.entries.size(); ++i) {
    if (b.entries[i].now != batch::state::waiting) continue;
    b.entries[i].now = batch::state::lost;
    ready_.push_back({item::kind::reply, i, &b});
  }
}

// Boost.Redis waits for work on a timer that never expires. Were it the first of all timers, each wait would cost a call of
// timerfd_settime(); with an earlier one in front of it, none does.
void connection::body::stand_in_front() {
  front_.expires_after(std::chrono::hours{1});
  front_.async_wait([this](const session::error_code& e) {
    if (!e) stand_in_front();
  });
}

// The loop: one turn waits until there is something to deliver.

void connection::body::run(time_point until) {
  flush();
  const bool flows = s_.clock->flows();
  if (!flows) until = time_point::max();
  for (;;) {
    const auto t = now();
    tick(t);
    if (!ready_.empty() || woken_ || t >= until || (closing_ && idle())) {
      serve({});
      break;
    }
    serve(flows ? std::min(until, due()) - t : lease_clock::duration{milliseconds{50}});
    if (!ready_.empty()) break;
  }
  deliver();
  woken_ = false;
  if (closing_ && idle()) finish_close();
}

void connection::body::serve(lease_clock::duration limit) {
  try {
    if (limit <= lease_clock::duration::zero()) {
      context_.poll();
    } else {
      context_.run_one_for(limit);
    }
  } catch (const std::exception& e) {  // the limit of the read buffer, or no memory
    lose(s_.where.shown + ": " + e.what());
  }
  if (session_) session_->drain();
}

void connection::body::wake() noexcept {
  if (woken_.exchange(true)) return;
  try {
    asio::post(context_, [] {});
  } catch (...) {  // no memory: run() returns with the next event
  }
}

void connection::body::tick(time_point t) {
  if (closing_ && stage_ == stage::away) return;
  if (t >= next_attempt_) attempt(t);
  if (stage_ == stage::arriving && t >= arrive_by_) {
    lose(s_.where.shown + " does not answer: it did not finish greeting us in time");
  }
  if (!flying_.empty() && t >= flying_.front()->sent + s_.request_timeout) tick_requests(t);
  if (t >= next_time_) ask_time(t);
}

// An answer that comes later is ignored: it counts as unknown what became of the request.
void connection::body::tick_requests(time_point t) {
  const auto limit = std::to_string(s_.request_timeout.count()) + " ms";
  while (!flying_.empty() && t >= flying_.front()->sent + s_.request_timeout) {
    batch& b = *flying_.front();
    flying_.pop_front();
    fail(b, why::unknown, s_.where.shown + " did not answer within " + limit);
  }
  // Not a byte in all that time: half-open, or the server hangs. A new connection finds out.
  if (session_ && t >= last_read_ + s_.request_timeout) lose(s_.where.shown + " has said nothing for " + limit);
}

time_point connection::body::due() const {
  auto t = std::min(next_attempt_, next_time_);
  if (stage_ == stage::arriving) t = std::min(t, arrive_by_);
  if (!flying_.empty()) t = std::min(t, flying_.front()->sent + s_.request_timeout);
  return t;
}

// Dates the server's clock, and shows that the server is there when nothing else does.
void connection::body::ask_time(time_point t) {
  next_time_ = t + clock_interval;
  send("TIME", {}, nullptr, [this](const received& r) {
    if (r.wrong == nullptr) note_time(r);
  });
  flush();
}

void connection::body::note_time(const received& r) {
  microseconds server{};
  if (!read_time(r.words, server)) return;
  if (!clock_.observe(r.sent, r.came, server)) {
    log(log_level::warning, s_.where.shown + ": the server's clock has jumped, or this machine's has");
  }
}

void connection::body::finish_close() {
  next_attempt_ = time_point::max();
  if (session_) {
    outage_ = true;
    lose("the client was closed");
    serve({});
    ready_.clear();
  }
  next_attempt_ = time_point::max();
  if (closed_) std::exchange(closed_, nullptr)();
}

// The way back: from run(), with no handler of Asio on the stack.

void connection::body::on_node(batch& b, std::size_t i, const boost::redis::resp3::node_view& n) {
  const bool expected = b.entries[i].now == batch::state::waiting;
  if (!b.take(i, n) || !expected) return;
  if (b.entries[i].via == nullptr) b.entries[i].came = now();
  ready_.push_back({item::kind::reply, static_cast<std::uint32_t>(i), &b});
}

void connection::body::deliver() {
  const auto count = ready_.size();  // what a callback adds has to wait for the next turn
  for (std::size_t i = 0; i < count; ++i) {
    deliver(item{ready_[i]});
    if ((i + 1) % answers_per_flush == 0 && open_ != nullptr) {
      flush();
      serve({});
    }
  }
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
  if (!drop_.empty()) lose(std::exchange(drop_, {}));
}

void connection::body::deliver(const item& it) {
  switch (it.what) {
    case item::kind::reply: return deliver_reply(*it.from, it.index);
    case item::kind::refused: {
      auto r = std::move(refused_.front());
      refused_.pop_front();
      const auto t = now();
      return r.back({t, t, {}, &r.words});
    }
    case item::kind::message: {
      const auto message = std::move(messages_.front());
      messages_.pop_front();
      if (!closing_) listener_->on_message(message);
      return;
    }
    case item::kind::up:
      if (!closing_) listener_->on_up(facts_);
      return;
    case item::kind::down:
      if (!closing_) listener_->on_down(absence_);
      return;
  }
}

void connection::body::deliver_reply(batch& b, std::uint32_t index) {
  auto& e = b.entries[index];
  const auto state = std::exchange(e.now, batch::state::delivered);
  leaves_.clear();
  for (std::uint32_t i = 0; i < e.leaves; ++i) leaves_.push_back(b.leaf(e, i));
  failure wrong;
  received r{b.sent, e.came, leaves_, nullptr};
  if (state == batch::state::lost) r.wrong = &b.lost;
  if (state == batch::state::refused) {
    const auto error = leaves_.empty() ? std::string_view{} : leaves_[0];
    if (is_noscript(error) && e.via != nullptr && send_again(b, e)) {
      --in_flight_;  // send_again has counted it anew
      if (--b.undelivered == 0 && !b.executing) recycle(b);
      return;
    }
    if (ends_connection(error) && b.attempt == attempts_ && stage_ == stage::up && drop_.empty())
      drop_ = s_.where.shown + ": " + std::string{error};
    wrong = refusal(error);
    r.wrong = &wrong;
  }
  auto back = std::move(e.back);
  --in_flight_;
  back(r);
  if (--b.undelivered == 0 && !b.executing) recycle(b);
}

// The server has forgotten the script (a restart, SCRIPT FLUSH): the same request with the whole text. It was certainly not
// executed, so this is the first time. Not if a later request for the name is already on its way: order counts for more,
// and the caller may repeat what was not sent.
bool connection::body::send_again(batch& b, batch::entry& e) {
  if (stage_ != stage::up || closing_) return false;
  auto words = b.words(e);  // EVALSHA sha1 count key...
  if (words.size() < 4 || overtaken(b, e, words[3])) return false;
  load_scripts();
  words[1] = e.via->text;
  send("EVAL", std::span{words}.subspan(1), nullptr, std::move(e.back));
  return true;
}

bool connection::body::overtaken(const batch& b, const batch::entry& e, std::string_view key) const {
  const auto in = [&](const batch& other, std::size_t from) {
    for (std::size_t i = from; i < other.entries.size(); ++i) {
      if (other.entries[i].via == nullptr) continue;
      const auto words = other.words(other.entries[i]);
      if (words.size() > 3 && words[3] == key) return true;
    }
    return false;
  };
  if (in(b, static_cast<std::size_t>(&e - b.entries.data()) + 1)) return true;
  const auto at = std::find(flying_.begin(), flying_.end(), &b);
  for (auto later = at == flying_.end() ? flying_.begin() : at + 1; later != flying_.end(); ++later) {
    if (in(**later, 0)) return true;
  }
  return open_ != nullptr && in(*open_, 0);
}

connection::connection(settings s) : body_(std::make_unique<body>(std::move(s))) {}
connection::~connection() = default;

void connection::open(listener& l) { body_->open(l); }
void connection::call(const script& s, std::span<const std::string_view> words, then back) {
  body_->call(s, words, std::move(back));
}
void connection::command(std::string_view name, std::span<const std::string_view> words, then back) {
  body_->add(name, words, nullptr, std::move(back));
}
void connection::refuse(engine::failure f, then back) { body_->refuse(std::move(f), std::move(back)); }
void connection::close(core::function<void()> done) { body_->close(std::move(done)); }
const server_clock& connection::clock() const noexcept { return body_->clock(); }
void connection::read_clock() { body_->read_clock(); }
void connection::run(time_point until) { body_->run(until); }
void connection::wake() noexcept { body_->wake(); }

}  // namespace tyer::redis
