#include "engines/etcd/wire/traffic.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd::wire {

// --- one call ---

void traffic::call::on_message(std::string m) {
  messages_.push_back(std::move(m));
  if (both_ways_) ready();
}

void traffic::call::on_end(status s) {
  if (s.ok() && !both_ways_ && messages_.size() != 1) s = {code::internal, "an answer is one message, and it was none"};
  of_->finish(*this, std::move(s));
}

// --- calls ---

void traffic::drop() noexcept {
  session_.reset();
  state_ = state::away;
  while (!all_.empty()) {
    call& c = *all_.begin()->second;
    all_.erase(all_.begin());
    c.over_ = true;
    const auto last = std::exchange(c.self_, nullptr);
    c.forget();
  }
}

void traffic::add(const std::shared_ptr<call>& c, std::string_view first, time_point now, time_point deadline) {
  if (!c->both_ways_) c->unsent_.emplace_back(first);
  c->place_ = all_.emplace(deadline, c.get()).first;
  c->of_ = this;
  c->self_ = c;
  if (state_ != state::up) return;
  try {
    begin(*c, now);
  } catch (...) {
    if (!c->over_ && session_) session_->cancel(*c);
    if (!c->over_) all_.erase(c->place_);
    c->over_ = true;
    c->self_ = nullptr;
    throw;
  }
}

void traffic::begin(call& c, time_point now) {
  const auto deadline = c.place_->first;
  session::request r{c.path_, c.token_, {}};
  if (deadline != time_point::max()) r.within = deadline - now;
  if (!session_->begin(c, r)) {
    return finish(
        c, {code::unavailable,
            session_->is_going_away() ? "the server is going away" : "the connection takes no more calls", false});
  }
  c.begun_ = true;
  for (const auto& m : c.unsent_) session_->send(c, m, !c.both_ways_);
  c.unsent_.clear();
}

void traffic::begin_waiting(time_point now) {
  for (auto at = all_.begin(); at != all_.end();) {
    call& c = *(at++)->second;  // it may end
    if (!c.begun_) begin(c, now);
  }
}

void traffic::send(call& c, std::string_view message) {
  if (c.over_) return;
  if (!c.begun_) {
    c.unsent_.emplace_back(message);
  } else {
    session_->send(c, message, false);
  }
}

void traffic::cancel(call& c) {
  if (c.over_) return;
  if (c.begun_) session_->cancel(c);
  finish(c, {code::cancelled, "cancelled", c.was_sent()});
}

// Takes no memory: whatever happens, it is told.
void traffic::finish(call& c, status s) noexcept {
  if (std::exchange(c.over_, true)) return;
  all_.erase(c.place_);
  if (!s.ok() && !c.both_ways_) c.messages_.clear();
  c.end_ = std::move(s);
  c.ready();
  c.self_ = nullptr;
}

// --- the connection ---

void traffic::connected(time_point now) {
  session_ = std::make_unique<session>(authority_, tls_);
  last_read_ = now;
  asked_.reset();
}

bool traffic::feed(std::string_view bytes, time_point now) {
  if (!session_) return false;
  last_read_ = now;
  asked_.reset();
  if (!session_->feed(bytes)) {
    lost(session_->why());
    return false;
  }
  if (state_ == state::arriving && session_->is_ready()) {
    state_ = state::up;
    begin_waiting(now);
  }
  return end_if_over();
}

bool traffic::output(std::string& to, time_point) {
  if (!session_) return false;
  if (!session_->output(to, write_about)) {
    lost(session_->why());
    return false;
  }
  return end_if_over();
}

// The server has said that it goes, and all that it had begun with has ended.
bool traffic::end_if_over() {
  if (!session_->is_going_away() || !session_->is_idle()) return true;
  lost("the server is going away");
  return false;
}

// If there is no memory for the words, there are none: the calls end all the same.
void traffic::lost(const std::string& words) noexcept {
  std::string said;
  try {
    said = words;
  } catch (...) {
    said = "out of memory";  // short enough to need none
  }
  state_ = state::away;
  const auto old = std::move(session_);
  while (!all_.empty()) {
    call& c = *all_.begin()->second;
    status s{code::unavailable, {}, c.was_sent()};
    try {
      s.words = said;
    } catch (...) {}
    finish(c, std::move(s));
  }
}

// --- time ---

time_point traffic::due() const {
  auto next = all_.empty() ? time_point::max() : all_.begin()->first;
  if (state_ == state::up && !all_.empty()) {
    next = std::min(next, asked_ ? *asked_ + answers_within : last_read_ + silent_for);
  }
  return next;
}

bool traffic::on_time(time_point now) {
  while (!all_.empty() && all_.begin()->first <= now) {
    call& c = *all_.begin()->second;
    if (c.begun_) session_->cancel(c);
    const char* words = c.was_sent()          ? "no answer in time"
                        : state_ == state::up ? "not sent in time: the server takes no more calls just now"
                                              : "no connection in time";
    finish(c, {code::deadline_exceeded, words, c.was_sent()});
  }
  if (state_ != state::up) return true;
  if (all_.empty()) return end_if_over();
  if (!asked_ && now >= last_read_ + silent_for) {
    session_->ping();
    asked_ = now;
  } else if (asked_ && now >= *asked_ + answers_within) {
    lost("the server does not answer: nothing came for " +
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now - last_read_).count()) + " s");
    return false;
  }
  return true;
}

}  // namespace tyer::etcd::wire
