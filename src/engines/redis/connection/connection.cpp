#include "engines/redis/connection/connection.hpp"

#include "engines/redis/connection/connection_body.hpp"
#include "engines/redis/locks/answers.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tyer::redis {

using std::chrono::microseconds;
using std::chrono::seconds;

namespace {

// How many answers are delivered before the requests they lead to are sent. Delivering all at once would make client and
// server wait for each other.
constexpr std::size_t answers_per_flush = 16;

bool read_time(std::span<const std::string_view> words, microseconds& out) {
  if (words.size() != 2) return false;
  std::int64_t s = 0, us = 0;
  std::from_chars(words[0].data(), words[0].data() + words[0].size(), s);
  std::from_chars(words[1].data(), words[1].data() + words[1].size(), us);
  out = seconds{s} + microseconds{us};
  return s > 0;
}

}  // namespace

// Sending: collect, send, and note what was sent.

void connection::body::send(std::string_view command, std::span<const std::string_view> words, const script* via,
                            reply_handler back, bool counts) {
  if (open_ == nullptr) open_ = &fresh();
  open_->add(command, words, via, std::move(back));
  open_->entries.back().counted = counts;
  if (counts) ++in_flight_;
}

// If it throws, the batch is in flying_, where lose() finds it.
void connection::body::flush() {
  if (open_ == nullptr || session_ == nullptr) return;
  flying_.push_back(open_);
  batch& b = *std::exchange(open_, nullptr);
  b.sent = now();
  b.executing = true;
  session_->commands += b.request.get_expected_responses();
  b.last_command = session_->commands;
  b.attempt = attempts_;
  node_sink sink{{this, &b}};
  // Cancellation is never passed on: it would close the shared connection.
  try {
    session_->stream.async_exec(
        b.request, boost::redis::any_adapter{sink},
        [this, self = shared_from_this(), alive = session_, &b](session::error_code, std::size_t) { finished(b); });
  } catch (...) {
    b.executing = false;  // finished() will not be called for it
    throw;
  }
}

// Boost.Redis is done with the batch. If answers are missing, the connection is lost: the batch stays in flying_, so that
// lose() finds it when the connection reports why.
void connection::body::finished(batch& b) {
  b.executing = false;
  if (b.unanswered == 0 && !flying_.empty() && flying_.front() == &b) flying_.pop_front();
  if (b.undelivered == 0) recycle(b);
}

batch& connection::body::fresh() {
  if (spare_.empty()) {
    spare_.reserve(all_.size() + 1);  // so that returning a batch never allocates
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

// Timers.

void connection::body::tick(time_point t) {
  if (broken_) broken("out of memory");
  if (closing_ && stage_ == stage::away) return;
  if (t >= next_attempt_) attempt(t);
  if (stage_ == stage::arriving && t >= arrive_by_) {
    lose(session_ ? session_->explain_slowness() : greeting::too_slow(s_.where, greeting::step::looking_up));
  }
  if (!flying_.empty() && t >= flying_.front()->sent + s_.request_timeout) tick_requests(t);
  if (t >= next_time_) ask_time(t);
  if (t >= next_look_) look_again(t);
}

// A later answer is ignored: the outcome of the request counts as unknown.
void connection::body::tick_requests(time_point t) {
  const auto limit = std::to_string(s_.request_timeout.count()) + " ms";
  while (!flying_.empty() && t >= flying_.front()->sent + s_.request_timeout) {
    batch& b = *flying_.front();
    make_room(b.entries.size());
    flying_.pop_front();
    fail(b, why::unknown, s_.where.shown + " did not answer within " + limit);
  }
  // Not a byte in all that time: the connection is half-open, or the server hangs. A new connection will show.
  if (session_ && t >= last_read_ + s_.request_timeout) lose(s_.where.shown + " has said nothing for " + limit);
}

time_point connection::body::due() const {
  auto t = std::min({next_attempt_, next_time_, next_look_});
  if (stage_ == stage::arriving) t = std::min(t, arrive_by_);
  if (!flying_.empty()) t = std::min(t, flying_.front()->sent + s_.request_timeout);
  return t;
}

// Reads the server's clock, and shows that the server is alive when nothing else does.
void connection::body::ask_time(time_point t) {
  next_time_ = t + clock_interval;
  if (!speaks_of_locks()) return ask_whether_it_is_there();
  const auto note = [this](const received& r) {
    if (r.wrong == nullptr) note_time(r.sent, r.came, r.words);
  };
  if (resp3_)
    send("TIME", {}, nullptr, note);
  else
    send("EVAL", by_one_key(resp2::time), nullptr, note);
  flush();
}

// On a listening connection an error belongs to an earlier SUBSCRIBE: PING itself does not fail.
void connection::body::ask_whether_it_is_there() {
  send("PING", {}, nullptr, [this, mine = attempts_](const received& r) {
    if (r.wrong == nullptr || mine != attempts_ || stage_ != stage::up) return;
    if (s_.purpose == use::listening && listener_ != nullptr) listener_->on_not_allowed(r.wrong->words);
  });
  flush();
}

void connection::body::note_time(time_point sent, time_point came, std::span<const std::string_view> words) {
  microseconds server{};
  if (!read_time(words, server)) return;
  if (!clock_.observe(sent, came, server)) {
    log(log_level::warning, s_.where.shown + ": the server's clock has jumped, or this machine's has");
  }
}

void connection::body::finish_close() {
  next_attempt_ = time_point::max();
  if (stage_ != stage::away) {
    outage_ = true;
    lose("the connection to " + s_.where.shown + " was closed: it is not needed any more");
    loop_->serve();
    ready_.clear();
  }
  next_attempt_ = time_point::max();
  if (closed_) std::exchange(closed_, nullptr)();
}

// Delivering answers: from run(), with no handler of Asio on the stack.

void connection::body::on_node(batch& b, std::size_t i, const boost::redis::resp3::node_view& n) {
  const bool expected = b.entries[i].now == batch::state::waiting;
  if (!b.take(i, n) || !expected) return;
  if (b.entries[i].via == nullptr) b.entries[i].came = now();
  ready_.push_back({item::kind::reply, static_cast<std::uint32_t>(i), &b});
}

void connection::body::deliver() {
  const auto count = ready_.size();  // what a callback adds waits for the next turn
  std::size_t i = 0;
  const auto take_out = [&] { ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(i)); };
  try {
    while (i < count) {
      deliver(item{ready_[i++]});
      if (i % answers_per_flush == 0 && open_ != nullptr) {
        flush();
        loop_->serve();
      }
    }
  } catch (...) {
    take_out();
    throw;
  }
  take_out();
  if (!drop_.empty()) lose(std::exchange(drop_, {}), std::exchange(drop_kind_, why::not_sent));
  if (closed_ && idle()) finish_close();
}

void connection::body::deliver(const item& it) {
  switch (it.what) {
    case item::kind::reply: return deliver_reply(*it.from, it.index);
    case item::kind::refused: {
      auto r = std::move(refused_.front());
      refused_.pop_front();
      const auto t = now();
      return r.back({t, t, {}, &r.words, &s_.where.server});
    }
    case item::kind::message:
    case item::kind::listening:
    case item::kind::silenced:
    case item::kind::not_allowed: return deliver_heard(it.what);
    case item::kind::up:
      facts_.clock = clock_.latest(now());
      if (!closing_) listener_->on_up(facts_);
      return;
    case item::kind::down:
      if (!closing_) listener_->on_down(absence_);
      return;
  }
}

void connection::body::deliver_heard(item::kind what) {
  const auto h = std::move(messages_.front());
  messages_.pop_front();
  if (closing_) return;
  switch (what) {
    case item::kind::listening: return listener_->on_listening(h.channel);
    case item::kind::silenced: return listener_->on_no_longer_listening(h.channel);
    case item::kind::not_allowed: return listener_->on_not_allowed(h.text);
    default:
      if (s_.purpose == use::listening) return listener_->on_heard(h.channel, h.text);
      return listener_->on_message(h.text);
  }
}

// Its answer was taken out, even if memory ran out while doing so.
void connection::body::settled(batch& b) noexcept {
  if (--b.undelivered == 0 && !b.executing) recycle(b);
}

void connection::body::deliver_reply(batch& b, std::uint32_t index) {
  auto& e = b.entries[index];
  const auto state = std::exchange(e.now, batch::state::delivered);
  auto back = std::move(e.back);
  if (e.counted) --in_flight_;
  const auto last = [this](batch* x) { settled(*x); };
  const std::unique_ptr<batch, decltype(last)> done{&b, last};
  leaves_.clear();
  for (std::uint32_t i = 0; i < e.leaves; ++i) leaves_.push_back(b.leaf(e, i));
  failure wrong;
  received r{b.sent, e.came, leaves_, nullptr, &s_.where.server};
  if (state == batch::state::lost) r.wrong = &b.lost;
  if (state == batch::state::refused) {
    const auto error = leaves_.empty() ? std::string_view{} : leaves_[0];
    const bool forgotten = is_noscript(error) && e.via != nullptr;
    if ((forgotten && send_again(b, e, back)) || redirected(b, e, error, back)) return;
    if (ends_connection(error) && b.attempt == attempts_ && stage_ == stage::up && drop_.empty())
      drop_ = s_.where.shown + ": " + std::string{error};
    wrong = refusal(error);
    r.wrong = &wrong;
  }
  back(r);
}

// The server has forgotten the script (a restart, SCRIPT FLUSH): the same request with the whole text. It was certainly not
// executed, so this is the first time. Not if a later request for the name was sent already: the order matters more, and
// the caller may repeat a request that was not sent.
bool connection::body::send_again(batch& b, batch::entry& e, reply_handler& back) {
  if (stage_ != stage::up || closing_) return false;
  auto words = b.words(e);  // EVALSHA sha1 count key...
  if (words.size() < 4 || overtaken(b, e, words[3])) return false;
  load_scripts();
  words[1] = e.via->text;
  send("EVAL", std::span{words}.subspan(1), nullptr, std::move(back), e.counted);
  return true;
}

bool connection::body::redirected(batch& b, batch::entry& e, std::string_view error, reply_handler& back) {
  if (s_.purpose != use::shard || e.via == nullptr || closing_ || !is_redirection(error)) return false;
  const auto words = b.words(e);  // EVALSHA sha1 count key...
  return listener_->on_redirected(error, *e.via, std::span{words}.subspan(2), back);
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

bool connection::listener::on_redirected(std::string_view, const script&, std::span<const std::string_view>,
                                         reply_handler&) {
  return false;
}
void connection::listener::on_unheard(std::string_view, const engine::id&) {}
void connection::listener::on_heard(std::string_view, std::string_view) {}
void connection::listener::on_listening(std::string_view) {}
void connection::listener::on_no_longer_listening(std::string_view) {}
void connection::listener::on_not_allowed(std::string_view) {}

connection::connection(loop& l, settings s) : body_(std::make_shared<body>(l, std::move(s))) {}
connection::~connection() { body_->retire(); }

void connection::open(listener& l) { body_->open(l); }
void connection::call(const script& s, std::span<const std::string_view> words, reply_handler back) {
  body_->call(s, words, std::move(back));
}
void connection::call_asking(const script& s, std::span<const std::string_view> words, reply_handler back) {
  body_->call_asking(s, words, std::move(back));
}
void connection::command(std::string_view name, std::span<const std::string_view> words, reply_handler back) {
  body_->add(name, words, nullptr, std::move(back));
}
void connection::info(reply_handler back) { body_->info(std::move(back)); }
void connection::refuse(engine::failure f, reply_handler back) { body_->refuse(std::move(f), std::move(back)); }
void connection::subscribe(std::string_view channel, bool sharded) { body_->subscribe(true, channel, sharded); }
void connection::unsubscribe(std::string_view channel, bool sharded) { body_->subscribe(false, channel, sharded); }
void connection::move_to(const core::endpoint& server, const std::string& why) { body_->move_to(server, why); }
const core::endpoint& connection::server() const noexcept { return body_->given().where.server; }
void connection::drop(std::string why) { body_->give_up(std::move(why)); }
void connection::close(core::function<void()> done) { body_->close(std::move(done)); }
bool connection::is_up() const noexcept { return body_->is_up(); }
bool connection::speaks_resp3() const noexcept { return body_->speaks_resp3(); }
const engine::server_facts& connection::facts() const noexcept { return body_->facts(); }
const engine::failure& connection::absence() const noexcept { return body_->absence(); }
const server_clock& connection::clock() const noexcept { return body_->clock(); }
void connection::hurry() { body_->hurry(); }
void connection::read_clock() { body_->read_clock(); }

}  // namespace tyer::redis
