// The coordinator reports rare things: losses, requests to give a lock back, waits that take long, and whether the engine is
// there. Callers are told of their own holds by other means, and earlier; this is for those who watch a service.
//
// A wait is slow when it has lasted for `slow_wait`. Each lane is reported at most once in that time, and then each time
// the first of its callers has waited twice as long as at the report before: a lock that many wait for, or that is stuck for
// a day, makes few reports, each of which costs one request.
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

void coordinator::report_to(reporter r, lease::duration slow_wait) noexcept {
  report_ = std::move(r);
  slow_wait_ = slow_wait > lease::duration::zero() ? slow_wait : lease::duration::max();
}

void coordinator::report_hold(event_kind kind, const detail::hold_state& h, std::optional<loss_reason> why,
                              std::string_view words) noexcept {
  report([&] {
    return event{.kind = kind,
                 .what = h.terms(),
                 .who = h.who(),
                 .handoffs = h.handoffs(),
                 .token = h.token(),
                 .reason = why,
                 .lasted = clock_.now() - h.granted_at(),
                 .words = std::string{words}};
  });
}

void coordinator::report_up(const engine::server_facts& server) noexcept {
  report([&] {
    const bool another = !server_.empty() && server_ != server.id;
    event e{.kind = another ? event_kind::server_changed : event_kind::connected, .server = server};
    if (away_since_) e.lasted = clock_.now() - *away_since_;
    server_ = server.id;
    away_since_.reset();
    return e;
  });
}

void coordinator::report_down(const engine::failure& f) noexcept {
  report([&] {
    if (!away_since_) away_since_ = clock_.now();
    return event{.kind = event_kind::disconnected, .words = f.words};
  });
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

void coordinator::report_slow(lane& l, engine::outcome<engine::page>&& o) noexcept {
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
      e.holders = std::move(std::get<engine::page>(o.result));
      std::erase_if(e.holders.entries, [](const engine::entry& x) { return x.what == core::fate::waiting; });
    }
    return e;
  });
}

}  // namespace tyer::runtime
