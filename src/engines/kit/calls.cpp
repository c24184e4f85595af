#include "engines/kit/calls.hpp"

#include <algorithm>
#include <new>
#include <vector>

namespace tyer::kit {

failure no(why kind, errc code, std::string_view words) noexcept {
  failure f{kind, make_error_code(code), {}};
  try {
    f.words = words;
  } catch (const std::bad_alloc&) {}
  return f;
}

failure no_time_left() noexcept { return no(why::not_sent, errc::unavailable, "no time was left to send the request"); }

// ---- one call

void calls::enter(const std::shared_ptr<call>& c, time_point now) {
  now_ = now;
  c->sent = c->counts_from = now;
  c->deadline = now + timeout_;
  c->self_ = c;
  under_way_.push_back(*c);
}

void calls::admit(const std::shared_ptr<call>& c, time_point now) {
  called_ = true;
  enter(c, now);
  if (closed_) fail(*c, no(why::not_sent, errc::closed, "the engine was closed"));
}

void calls::fail(call& c, failure f) {
  if (c.over()) return;
  const bool at_once = may_deliver();
  c.note(std::move(f));
  if (const auto alive = settle(c, at_once)) c.deliver();
}

bool calls::too_late(call& c, time_point now) {
  if (now < c.not_after) return false;
  fail(c, no_time_left());
  return true;
}

// Ends a call. With at_once the caller of this function delivers its reply; else it is delivered at the end of the step, or in
// the next one.
std::shared_ptr<call> calls::settle(call& c, bool at_once) {
  std::shared_ptr<call> alive;
  const auto never = std::move(c.start_);  // destroyed here, since it may own the call
  c.over_ = true;
  under_way_.erase(c);
  if (at_once) alive = std::move(c.self_);
  if (!at_once) ready_.push_back(c);
  if (auto told = std::move(c.when_over)) told();
  if (c.turn.linked) leave_line(c);
  return alive;
}

void calls::deliver(call& c) {
  const auto alive = std::move(c.self_);
  c.deliver();
}

// Without the replies that these ones add: else a reply that makes new calls again and again would never return to the loop.
void calls::hand_out() {
  for (auto n = ready_.size(); n > 0 && !ready_.empty(); --n) deliver(*ready_.pop_front());
}

// ---- in turn, for each name

void calls::in_turn(const std::shared_ptr<call>& c, std::string_view name, core::function<void()> start) {
  if (c->over()) return;
  c->name_ = name;
  auto at = lanes_.find(name);
  if (at == lanes_.end()) at = lanes_.emplace(c->name_, lane{}).first;
  c->start_ = std::move(start);
  at->second.all.push_back(*c);
  if (at->second.all.front() != c.get()) return;
  c->started_ = true;  // `sent` stays the time at which it was made
  auto go = std::move(c->start_);
  go();
}

void calls::leave_line(call& c) {
  const auto at = lanes_.find(c.name_);
  at->second.all.erase(c);
  if (!at->second.starting) go_on(at);
}

// A loop instead of recursion: each call that starts may be over at once.
void calls::go_on(std::map<std::string, lane, std::less<>>::iterator at) {
  lane& l = at->second;
  l.starting = true;
  while (!l.all.empty() && !l.all.front()->started_) {
    call& next = *l.all.front();
    const auto alive = next.self_;
    next.started_ = true;
    next.sent = next.counts_from = std::max(next.sent, now_);  // the time of this step may be older than the call
    auto go = std::move(next.start_);
    try {
      go();
    } catch (const std::bad_alloc&) {  // answered as unknown at its deadline; then the next one starts
    }
  }
  l.starting = false;
  if (l.all.empty()) lanes_.erase(at);
}

// ---- time and the end

time_point calls::due() const noexcept {
  if (!ready_.empty()) return time_point::min();
  return under_way_.empty() ? time_point::max() : under_way_.front()->deadline;
}

void calls::on_time(time_point now) {
  while (!under_way_.empty() && under_way_.front()->deadline <= now) {
    fail(*under_way_.front(), no(why::unknown, errc::outcome_unknown, "no answer within the request_timeout"));
  }
}

bool calls::gives_back() const noexcept {
  for (const call* c = under_way_.front(); c != nullptr; c = c->place.next) {
    if (c->gives_back) return true;
  }
  return false;
}

void calls::give_up(bool also_what_gives_back) {
  std::vector<std::shared_ptr<call>> all;
  for (const call* c = under_way_.front(); c != nullptr; c = c->place.next) {
    if (also_what_gives_back || !c->gives_back) all.push_back(c->self_);
  }
  for (auto c = all.rbegin(); c != all.rend(); ++c) {  // in reverse: else each would start the next call of its name
    fail(**c, no(why::unknown, errc::closed, "the engine was closed before it answered"));
  }
}

void calls::drop_all() noexcept {
  lanes_.clear();
  for (auto* all : {&under_way_, &ready_}) {
    while (call* c = all->pop_front()) {
      const auto alive = std::move(c->self_);
      c->over_ = true;
      c->turn = {};
      c->start_ = nullptr;
      c->when_over = nullptr;
      c->drop();
    }
  }
}

}  // namespace tyer::kit
