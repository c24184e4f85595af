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

namespace {

constexpr std::uint32_t overtaking_max = 2;  // a hand-over: giving back, and the claim

failure no_turn() {
  return no(why::not_sent, errc::unavailable, "others of this name came first for all of the request_timeout");
}

// Puts it right behind that one; without one in front of all.
template <class Line>
void put_behind(Line& all, const call* before, call& c) noexcept {
  all.push_back(c);
  call* next = before != nullptr ? before->turn.next : all.front();
  while (next != &c) {
    call& passed = *next;
    next = passed.turn.next;
    all.erase(passed);
    all.push_back(passed);
  }
}

// At the end; or, if it hurries, behind those that have started or hurry too, and behind an earlier one of its own id.
template <class Line, class Started>
void line_up(Line& all, call& c, Started has_started) noexcept {
  if (!c.hurries) return all.push_back(c);
  const call* before = nullptr;
  bool among_the_first = true;
  for (const call* at = all.front(); at != nullptr; at = at->turn.next) {
    among_the_first = among_the_first && (at->hurries || has_started(*at));
    if (among_the_first || at->of == c.of) before = at;
  }
  put_behind(all, before, c);
}

// Whether an earlier call of the same id stands before it.
bool is_behind_its_own(const call& first, const call& c) noexcept {
  if (!c.of) return false;
  const call* at = &first;
  while (at != &c && at->of != c.of) at = at->turn.next;
  return at != &c;
}

}  // namespace

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
  line_up(at->second.all, *c, [](const call& other) { return other.started_; });
  if (at->second.all.front() != c.get() || at->second.starting) return;
  c->started_ = true;  // `sent` stays the time at which it was made
  auto go = std::move(c->start_);
  go();
}

void calls::leave_line(call& c) {
  const auto at = lanes_.find(c.name_);
  at->second.all.erase(c);
  if (!at->second.starting) go_on(at);
}

// The first in line; but when as many as may were let past it, the first of those that do not hurry, and which no call of
// their own id stands before.
call& calls::take_next(lane& l) noexcept {
  call* next = l.all.front();
  if (l.overtook >= overtaking_max) {
    while (next != nullptr && (next->hurries || is_behind_its_own(*l.all.front(), *next))) next = next->turn.next;
  }
  if (next == nullptr) next = l.all.front();
  l.overtook = next->hurries ? l.overtook + 1 : 0;
  if (next != l.all.front()) {
    l.all.erase(*next);
    put_behind(l.all, nullptr, *next);
  }
  return *next;
}

// A loop instead of recursion: each call that starts may be over at once.
void calls::go_on(std::map<std::string, lane, std::less<>>::iterator at) {
  lane& l = at->second;
  l.starting = true;
  while (!l.all.empty() && !l.all.front()->started_) {
    call& next = take_next(l);
    const auto alive = next.self_;
    if (next.deadline <= now_) {
      fail(next, no_turn());
      continue;
    }
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
    call& late = *under_way_.front();
    const bool had_no_turn = late.turn.linked && !late.started_;
    fail(late,
         had_no_turn ? no_turn() : no(why::unknown, errc::outcome_unknown, "no answer within the request_timeout"));
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
  // Those that have not started go first: else each that has would start the next call of its name.
  std::ranges::stable_partition(all, [](const auto& c) { return c->turn.linked && !c->started_; });
  for (const auto& c : all) fail(*c, no(why::unknown, errc::closed, "the engine was closed before it answered"));
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
