#include "engines/zookeeper/wire/session.hpp"

#include <algorithm>
#include <utility>

namespace tyer::zookeeper::wire {

namespace {

constexpr std::int32_t of_event = -1, of_ping = -2, of_auth = -4, of_watches = -8;

}  // namespace

// --- the connection

void session::connected(std::string_view host, time_point now) {
  host_ = host;
  state_ = state::greeting;
  in_.clear();
  out_.clear();
  made_ = handed_ = 0;
  writer w;
  w.number(0).big(seen_).number(static_cast<std::int32_t>(asked_.count())).big(number_).text(password_).flag(false);
  out_ = writer{}.text(w.take()).take();
  made_ = out_.size();
  greeted_ = sent_ = heard_ = now;
  reads_.fill({});
  pings_flying_ = 0;
}

bool session::received(std::string_view bytes, time_point now) {
  heard_ = now;
  in_.add(bytes);
  while (const auto packet = in_.next()) {
    if (!on_packet(*packet, now)) return false;
    in_.done();
  }
  return !in_.broken() || fail("the server sent a packet that is too long");
}

void session::lost() {
  if (state_ != state::gone) state_ = state::away;
  out_.clear();
  in_.clear();
  to_set_.clear();
  setting_ = refused_ = false;
  dialogue_.reset();
  while (!flying_.empty()) {  // one that finds no memory is not the last
    auto f = std::move(flying_.front());
    flying_.pop_front();
    if (f.back) f.back({f.end <= handed_ ? response::how::unknown : response::how::not_sent, ok, f.sent});
  }
}

std::string session::take_output(time_point now) {
  for (auto f = flying_.rbegin(); f != flying_.rend() && f->end > handed_; ++f) f->left = std::max(f->sent, now);
  handed_ = made_;
  return std::exchange(out_, {});
}

bool session::fail(std::string words) {
  words_ = std::move(words);
  return false;
}

bool session::refuse(const std::string& words) {
  refused_ = true;
  return fail("the server refused the credentials" + words);
}

bool session::on_packet(std::string_view packet, time_point now) {
  if (state_ == state::greeting) return on_greeting(packet, now);
  reader r{packet};
  const header h{r.number(), r.big(), r.number()};
  if (!r.good()) return fail("the server sent a packet without a header");
  if (h.zxid > 0 && h.xid != of_event) seen_ = h.zxid;
  return on_answer(h, packet.substr(packet.size() - r.left()), now);
}

// A session that another one was given for: the old one is gone, and with it all it had.
bool session::on_greeting(std::string_view packet, time_point now) {
  reader r{packet};
  r.number();
  const milliseconds timeout{r.number()};
  const auto number = r.big();
  const auto password = r.text();
  if (!r.good()) return fail("this is not a ZooKeeper server");
  if (timeout.count() <= 0 || (number_ != 0 && number != number_)) {
    state_ = state::gone;
    fail("the server does not know the session any more");
    listener_->on_gone();
    return false;
  }
  number_ = number;
  password_ = password;
  timeout_ = timeout;
  state_ = state::proving;
  prove(now);
  return true;
}

// --- credentials

void session::prove(time_point now) {
  if (!who_) return settle(now);
  if (who_.sasl) {
    dialogue_.emplace(who_.user, who_.password, host_);
    return queue(op::sasl, writer{}.text({}).take(), now, nullptr);
  }
  send(of_auth, op::auth, writer{}.number(0).text("digest").text(who_.user + ':' + who_.password).take(), now);
}

bool session::on_proof(const header& h, std::string_view body, time_point now) {
  const bool expected = who_.sasl ? !flying_.empty() && h.xid == flying_.front().xid : h.xid == of_auth;
  if (!expected) return fail("the server answered something else than the credentials");
  if (h.error != ok) return refuse(": " + zookeeper::wire::words(h.error));
  if (!who_.sasl) {
    settle(now);
    return true;
  }
  flying_.pop_front();
  reader r{body};
  const auto challenge = r.text();
  const auto next = r.good() ? dialogue_->answer(challenge) : std::nullopt;
  if (!next) return refuse(", or does not know DIGEST-MD5");
  if (dialogue_->proven()) {
    settle(now);
    return true;
  }
  queue(op::sasl, writer{}.text(*next).take(), now, nullptr);
  return true;
}

// --- up

void session::settle(time_point now) {
  state_ = state::up;
  set_from_ = seen_;
  for (const auto& path : watched_) to_set_.emplace_back(op::get_data, path);
  for (const auto& path : listed_) to_set_.emplace_back(op::get_children, path);
  set_some_watches(now);
  listener_->on_up();
}

void session::set_some_watches(time_point now) {
  setting_ = !to_set_.empty();
  if (!setting_) return;
  writer data, lists;
  std::int32_t some_data = 0, some_lists = 0;
  while (!to_set_.empty() && data.size() + lists.size() < watches_in_packet_max) {
    const auto& [what, path] = to_set_.front();
    const bool of_data = what == op::get_data;
    if ((of_data ? watched_ : listed_).contains(path)) {
      (of_data ? data : lists).text(path);
      ++(of_data ? some_data : some_lists);
    }
    to_set_.pop_front();
  }
  writer w;
  w.big(set_from_).number(some_data).raw(data.take()).number(0).number(some_lists).raw(lists.take());
  send(of_watches, op::set_watches, w.take(), now);
}

bool session::on_answer(const header& h, std::string_view body, time_point now) {
  if (h.xid == of_event) {
    reader r{body};
    const auto kind = static_cast<event::kind>(r.number());
    r.number();
    const event e{kind, std::string{r.text()}};
    if (!r.good()) return fail("the server sent an event that cannot be read");
    if (kind != event::kind::children) watched_.erase(e.path);
    if (kind == event::kind::children || kind == event::kind::removed) listed_.erase(e.path);
    listener_->on_event(e);
    return true;
  }
  if (h.xid == of_ping) {
    on_ping(now);
    return true;
  }
  if (state_ == state::proving) return on_proof(h, body, now);
  if (h.xid == of_watches && setting_) {
    if (h.error != ok) return fail("the server did not set the watches again: " + zookeeper::wire::words(h.error));
    set_some_watches(now);
    return true;
  }
  if (h.xid == of_auth) return refuse(": " + zookeeper::wire::words(h.error));
  return on_reply(h, body, now);
}

bool session::on_reply(const header& h, std::string_view body, time_point now) {
  if (flying_.empty() || flying_.front().xid != h.xid) return fail("the server answered out of order");
  auto f = std::move(flying_.front());
  flying_.pop_front();
  note_read(f.left, now);
  if (f.back) f.back({response::how::answered, h.error, f.sent, body});
  return true;
}

// Of several that are under way it is not known which one this answers: the first.
void session::on_ping(time_point now) {
  if (pings_flying_ == 0) return;
  --pings_flying_;
  note_read(first_ping_, now);
}

// --- what the server has read

void session::note_read(time_point left, time_point now) noexcept {
  if (now - reads_[newest_].answered < timeout_ / (reads_noted - 2)) return;
  newest_ = (newest_ + 1) % reads_.size();
  reads_[newest_] = {std::min(left, now), now};
}

time_point session::read_by(time_point t) const noexcept {
  auto last = greeted_;
  for (const read& r : reads_) {
    if (r.answered <= t) last = std::max(last, r.left);
  }
  return last;
}

// --- requests

void session::send(std::int32_t xid, op what, std::string_view body, time_point now) {
  writer w;
  w.number(static_cast<std::int32_t>(8 + body.size())).number(xid).number(static_cast<std::int32_t>(what)).raw(body);
  const auto size = w.size();
  out_ += w.take();
  made_ += size;
  sent_ = now;
}

// Without memory nothing was sent.
void session::queue(op what, std::string_view body, time_point now, handler back) {
  const auto xid = last_xid_ == 0x7fffffff ? 1 : last_xid_ + 1;
  flying_.push_back({xid, 0, now, std::move(back)});
  try {
    send(xid, what, body, now);
  } catch (...) {
    flying_.pop_back();
    throw;
  }
  last_xid_ = xid;
  flying_.back().end = made_;
}

void session::call(op what, std::string body, time_point now, handler back) {
  const bool fits = body.size() + 8 <= request_max && flying_.size() < in_flight_max;
  if (!up() || !fits) {
    if (back) back({response::how::not_sent, ok, now});
    return;
  }
  queue(what, body, now, std::move(back));
}

void session::watch(op what, const std::string& path, time_point now, handler back) {
  call(what, watch_body(path, true), now, [this, what, path, back = std::move(back)](const response& r) mutable {
    if (r.good()) (what == op::get_data ? watched_ : listed_).insert(path);
    back(r);
  });
}

void session::close(time_point now, handler back) { call(op::close, {}, now, std::move(back)); }

// --- time

// A server that does not even greet is left while there is time to find another.
milliseconds session::patience(milliseconds timeout) const noexcept {
  return up() ? timeout * 2 / 3 : std::max<milliseconds>(timeout / pings, milliseconds{500});
}

time_point session::due() const noexcept {
  if (state_ == state::away || state_ == state::gone) return time_point::max();
  const auto t = timeout_.count() > 0 ? timeout_ : asked_;
  const auto silent = heard_ + patience(t);
  return up() ? std::min(sent_ + t / pings, silent) : silent;
}

bool session::on_time(time_point now) {
  if (state_ == state::away || state_ == state::gone) return true;
  const auto t = timeout_.count() > 0 ? timeout_ : asked_;
  if (now >= heard_ + patience(t)) return fail("the server was silent for too long");
  if (!up() || now < sent_ + t / pings) return true;
  send(of_ping, op::ping, {}, now);
  if (pings_flying_++ == 0) first_ping_ = now;
  return true;
}

}  // namespace tyer::zookeeper::wire
