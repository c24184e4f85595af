#include "engines/kit/settle.hpp"

#include <utility>

namespace tyer::kit {

settle::order settle::start(time_point now) { return give(task_.attempt_first ? verb::attempt : verb::read_head, now); }

settle::order settle::on_attempted(std::uint32_t number, bool done, std::optional<view> instead, time_point now) {
  if (!takes(number, verb::attempt)) return {};
  by_attempt_ = done;
  if (done) return finish();
  return instead ? decide(*std::move(instead), now) : give(verb::read_head, now);
}

settle::order settle::on_view(std::uint32_t number, view v, time_point now) {
  if (!takes(number, read_all_ ? verb::read_all : verb::read_head)) return {};
  return decide(std::move(v), now);
}

// The next read shows whether they have ended or were renewed meanwhile.
settle::order settle::on_ended(std::uint32_t number, time_point now) {
  if (!takes(number, verb::end_leases)) return {};
  return give(read_all_ ? verb::read_all : verb::read_head, now);
}

settle::order settle::on_written(std::uint32_t number, written w, time_point now) {
  if (!takes(number, verb::write)) return {};
  if (!w.applied) {
    if (w.instead) return decide(*std::move(w.instead), now);
    return give(read_all_ ? verb::read_all : verb::read_head, now);
  }
  resource& r = view_->name;
  const bool room = r.holds().empty() || r.holds().front().how != mode::exclusive;
  look_again_ = r.turns_left() || (room && w.joins != view_->joins);
  r.wrote(w.revision, w.parts);
  return finish();
}

settle::order settle::on_joined(std::uint32_t number, view v, time_point now) {
  if (!takes(number, verb::join)) return {};
  joined_ = true;
  return decide(std::move(v), now);
}

settle::order settle::on_failure(std::uint32_t number, failure f, time_point) {
  if (!takes(number, current_.what)) return {};
  if (!changes() && f.kind == why::unknown) f.kind = why::not_sent;  // nothing but reads was sent
  in_doubt_ = f.kind == why::unknown;
  if (!in_doubt_ || current_.what != verb::write) told_.clear();
  return fail(std::move(f));
}

settle::order settle::give_up(failure f) {
  if (!takes(current_.number, current_.what)) return {};
  in_doubt_ = changes();
  if (current_.what != verb::write) told_.clear();
  return fail(std::move(f));
}

// --- helpers ---

bool settle::takes(std::uint32_t number, verb of) {
  const bool over = current_.what == verb::nothing || current_.what == verb::done || current_.what == verb::failed;
  return !over && current_.number == number && current_.what == of;
}

// True if the order under way may change something at the server.
bool settle::changes() const noexcept {
  return current_.what == verb::attempt || current_.what == verb::write || current_.what == verb::join;
}

settle::order settle::give(verb v, time_point now) {
  current_ = {v, current_.number + 1};
  const bool too_late = now >= task_.deadline, not_any_more = changes() && !joined_ && now >= task_.not_after;
  if (too_late || not_any_more) {
    told_.clear();
    return fail(too_late ? no(why::not_sent, errc::unavailable, "others were quicker, until it was too late")
                         : no_time_left());
  }
  read_all_ |= v == verb::read_all;
  return current_;
}

settle::order settle::decide(view v, time_point now) {
  view_ = std::move(v);
  told_.clear();
  resource& r = view_->name;
  task_.decide(r, view_->now, told_);
  if (r.needs_all()) return give(verb::read_all, now);
  if (!r.must_end().empty()) return give(verb::end_leases, now);
  const seat* own = task_.who ? r.find(task_.who) : nullptr;
  if (own != nullptr && own->fresh && own->waits()) return give(verb::join, now);
  if (r.dirty()) return give(verb::write, now);
  look_again_ = r.turns_left();
  return finish();
}

settle::order settle::finish() {
  current_ = {verb::done, current_.number + 1};
  return current_;
}

// Once there is a place in the queue, no failure is "not sent" or "refused": the place must be kept or released.
settle::order settle::fail(failure f) {
  in_doubt_ |= joined_;
  if (in_doubt_) f.kind = why::unknown;
  error_ = std::move(f);
  current_ = {verb::failed, current_.number + 1};
  return current_;
}

}  // namespace tyer::kit
