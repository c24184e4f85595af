// The coordinator reports rare things: losses, requests to give a lock back, waits that take long, and whether the engine is
// there. Callers are told of their own holds by other means, and earlier; this is for those who watch a service.
//
// A wait is slow when it has lasted for `slow_wait`. Each lane is reported at most once in that time, and then each time
// the first of its callers has waited twice as long as at the report before: a lock that many wait for, or that is stuck for
// a day, makes few reports, each of which costs one request.
#include "core/owner.hpp"
#include "runtime/coordinator/relay.hpp"
#include "runtime/hold_state.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tyer::runtime {

namespace {

constexpr std::chrono::milliseconds later{100};
constexpr long looks_max = 16;  // requests under way: more reports wait for them

}  // namespace

void coordinator::report_to(reporter r, lease::duration slow_wait, clock_look::reader clocks) noexcept {
  report_ = std::move(r);
  clocks_ = clock_look{std::move(clocks)};
  slow_wait_ = slow_wait > lease::duration::zero() ? slow_wait : lease::duration::max();
}

namespace {

std::string_view in_words(clock_look::what w) noexcept {
  switch (w) {
    case clock_look::what::set_ahead: return "this machine's clock was set ahead";
    case clock_look::what::set_back: return "this machine's clock was set back";
    case clock_look::what::suspended: return "this machine was suspended";
  }
  return {};
}

event about(const detail::hold_state& h, event_kind kind, lease::time_point until) {
  return {.kind = kind,
          .what = h.terms(),
          .who = h.who(),
          .handoffs = h.handoffs(),
          .token = h.token(),
          .lasted = until - h.granted_at()};
}

}  // namespace

void coordinator::report_loss(const detail::hold_state& h, loss_reason why, lease::time_point end,
                              std::string_view refusal) noexcept {
  report([&] {
    event e = about(h, event_kind::lost, end);
    e.reason = why;
    if (why == loss_reason::deadline) e.words = refusal;
    return e;
  });
}

void coordinator::report_asked(const detail::hold_state& h, std::string_view words) noexcept {
  report([&] {
    event e = about(h, event_kind::revoked, clock_.now());
    e.words = words;
    return e;
  });
}

// An engine of several servers says `up` for each of them: that is news only of one that was away.
void coordinator::report_up(const engine::server_facts& server, const presence::change& how) noexcept {
  if (how.what == presence::news::none) return;
  report([&] {
    return event{.kind = how.what == presence::news::another ? event_kind::server_changed : event_kind::connected,
                 .lasted = how.away,
                 .server = server};
  });
}

void coordinator::report_down(const engine::failure& f) noexcept {
  report([&] { return event{.kind = event_kind::disconnected, .words = f.words}; });
}

void coordinator::look_at_clocks(lease::time_point now) noexcept {
  for (const auto& j : clocks_.look(now)) {
    if (!j) continue;
    report([&] {
      return event{.kind = event_kind::clock_jumped, .lasted = j->by, .words = std::string{in_words(j->what)}};
    });
  }
}

// ---- slow waits

lease::time_point coordinator::due_of(const acquisition& w) const noexcept {
  if (slow_wait_ == lease::duration::max() || !w.waits) return w.limit;
  return std::min(w.limit, w.since + slow_wait_);
}

void coordinator::on_slow(acquisition& w, lease::time_point now) noexcept {
  lane& l = *w.queued_at;
  if (now >= l.slow_again_at) {
    const bool too_many = looking_for_holders_.use_count() > looks_max;
    l.slow_again_at = now + (too_many ? later : now - w.since);
    if (!too_many) look_for_holders(w);
  }
  acquisition_times_.set(w, std::min(w.limit, l.slow_again_at));
}

void coordinator::look_for_holders(acquisition& w) noexcept {
  try {
    ask_engine<engine::page>(queries::holders(w.what->name),
                             [this, w = w.weak_from_this(), under_way = looking_for_holders_](auto&& o) {
                               const auto waits = w.lock();
                               if (waits && waits->queued_at != nullptr) report_slow(*waits->queued_at, std::move(o));
                             });
  } catch (const std::bad_alloc&) {  // the next report comes
  }
}

// The engine knows whom it has granted the lock. To whom it went from there inside this client, only this client knows.
holder coordinator::who_has(engine::entry&& seen) {
  holder h{std::move(seen)};
  const ticket* t = find(h.seen.who);
  if (t == nullptr || !t->current || t->current->handoffs() == 0) return h;
  const detail::hold_state& now = *t->current;
  const auto asked =
      clock_.wall() - std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - now.asked_at());
  const auto& where = now.where_asked();
  h.handoffs = now.handoffs();
  h.seen.owner = core::owner_text(now.what().owner, where.file_name(), where.line(), asked, now.what().note);
  return h;
}

// Nothing is reported of a lock that this lane has been granted meanwhile: the answer is on its way.
void coordinator::report_slow(lane& l, engine::outcome<engine::page>&& o) noexcept {
  const auto* seen = std::get_if<engine::page>(&o.result);
  const auto is_ours = [&](const engine::entry& x) {
    const ticket* t = x.what == core::fate::waiting ? nullptr : find(x.who);
    return t != nullptr && t->home == &l && !t->current;
  };
  if (seen != nullptr && std::ranges::any_of(seen->entries, is_ours)) return;
  report([&] {
    const acquisition& first = static_cast<const acquisition&>(*l.line.front());
    event e{.kind = event_kind::slow_wait,
            .what = first.what,
            .lasted = clock_.now() - first.since,
            .where = first.where,
            .waiters = l.line.size()};
    if (auto* f = std::get_if<engine::failure>(&o.result)) {
      e.words = std::move(f->words);
    } else {
      for (auto& x : std::get<engine::page>(o.result).entries) {
        if (x.what != core::fate::waiting) e.holders.push_back(who_has(std::move(x)));
      }
    }
    return e;
  });
}

}  // namespace tyer::runtime
