#include "sim/link.hpp"

#include <utility>

namespace tyer::sim {

using core::why;

namespace {

constexpr std::size_t keep_batch = 5;  // small, so that batches are split

seam::target interned(const seam::target& t) { return {t.who, names[index_of(t.name)], t.how}; }

}  // namespace

link::~link() {
  if (pipe_) at_.wires.cut(pipe_, at_.chance.chance(500));
}

seam::capabilities link::can() const noexcept {
  return {.queue = true,
          .shared = true,
          .permits = true,
          .push = true,
          .token = true,
          .convert = true,
          .lock_delay = true,
          .ttl_min = milliseconds{1},
          .keep_batch = keep_batch};
}

void link::open(seam::events& e) {
  events_ = &e;
  reconnect(at_.chance.between(1ms, 20ms));
}

// ---- calls

void link::acquire(const seam::request& r, seam::reply<seam::answer> then) {
  auto c = std::make_unique<call>();
  c->what = call::kind::acquire;
  c->ask = r;
  c->ask.what = interned(r.what);
  c->ask.owner = {};
  submit(std::move(c), {.who = r.what.who, .made = {}, .sent = {}, .left = false, .then = std::move(then)});
}

void link::keep(std::span<const seam::target> all, fate as, milliseconds ttl, seam::reply<seam::kept> then) {
  auto c = std::make_unique<call>();
  c->what = call::kind::keep;
  for (const auto& t : all) c->targets.push_back(interned(t));
  c->as = as;
  c->ttl = ttl;
  submit(std::move(c), {.who = {}, .made = {}, .sent = {}, .left = false, .then = std::move(then)});
}

void link::release(const seam::target& t, bool clean, seam::reply<fate> then) {
  auto c = std::make_unique<call>();
  c->what = call::kind::release;
  c->targets.push_back(interned(t));
  c->clean = clean;
  submit(std::move(c), {.who = t.who, .made = {}, .sent = {}, .left = false, .then = std::move(then)});
}

// No id goes with it: it asks for nothing that the client has let go.
void link::convert(const seam::target& t, seam::mode to, milliseconds not_after, seam::reply<seam::answer> then) {
  auto c = std::make_unique<call>();
  c->what = call::kind::convert;
  c->targets.push_back(interned(t));
  c->to = to;
  c->ask.not_after = not_after;
  submit(std::move(c), {.who = {}, .made = {}, .sent = {}, .left = false, .then = std::move(then)});
}

void link::ask(std::string_view name, std::string_view, seam::reply<std::uint32_t> then) {
  auto c = std::make_unique<call>();
  c->what = call::kind::ask;
  c->targets.push_back(interned({{}, name}));
  submit(std::move(c), {.who = {}, .made = {}, .sent = {}, .left = false, .then = std::move(then)});
}

void link::submit(call_ptr c, pending p) {
  const auto now = at_.outside.now();
  const auto serial = c->serial = ++serial_;
  let_go_.erase(p.who);
  p.made = c->made = now;
  p.sent = at_.clock.now();
  // The server's clock is known only to within a round trip, and the limit must not come too early.
  c->not_after = now + c->ask.not_after + at_.chance.between(0ms, 20ms);
  auto lie = crook_.instead_of(*c, p.sent);
  pending& waiting = pending_.emplace(serial, std::move(p)).first->second;
  watch_timeouts();
  if (lie) {
    waiting.sent = lie->sent;
    at_.inside(
        1us, [this, serial, a = std::make_unique<answers>(std::move(lie->what))] { on_answer(serial, std::move(*a)); });
  } else if (pipe_) {
    transmit(std::move(c), waiting);
  } else if (at_.chance.chance(500)) {
    fail_soon(serial, why::not_sent);
  } else {
    parked_.push_back(std::move(c));
  }
}

void link::transmit(call_ptr c, pending& p) {
  c->sent = at_.outside.now();
  p.sent = at_.clock.now();
  p.left = true;
  at_.wires.send(pipe_, std::move(c));
}

// ---- answers

void link::reply(pending p, answers a) {
  std::visit(
      [&]<class T>(seam::reply<T>& then) {
        if (auto* f = std::get_if<seam::failure>(&a)) {
          then({p.sent, std::move(*f)});
        } else {
          then({p.sent, std::get<T>(std::move(a))});
        }
      },
      p.then);
}

void link::on_answer(std::uint64_t serial, answers a) {
  const auto at = pending_.find(serial);
  if (at == pending_.end()) return crook_.on_stray(std::move(a));
  pending p = std::move(at->second);
  pending_.erase(at);
  crook_.bend(p.who, a, p.sent, at_.clock.now());
  if (std::holds_alternative<fate>(a)) let_go_.insert_or_assign(p.who, at_.outside.now());
  reply(std::move(p), std::move(a));
}

void link::fail(std::uint64_t serial, why kind) {
  const auto at = pending_.find(serial);
  if (at == pending_.end()) return;
  pending p = std::move(at->second);
  pending_.erase(at);
  ++(kind == why::unknown ? unknowns : not_sents);
  reply(std::move(p), seam::failure{kind, {}, "simulated"});
}

void link::fail_soon(std::uint64_t serial, why kind) {
  at_.inside(at_.chance.between(1us, 3ms), [this, serial, kind] { fail(serial, kind); });
}

void link::watch_timeouts() {
  if (timing_ || pending_.empty()) return;
  timing_ = true;
  const auto due = pending_.begin()->second.made + at_.request_timeout;
  at_.inside(std::max<duration>(due - at_.outside.now(), 1us), [this] {
    timing_ = false;
    const auto now = at_.outside.now();
    while (!pending_.empty() && pending_.begin()->second.made + at_.request_timeout <= now) {
      fail(pending_.begin()->first, pending_.begin()->second.left ? why::unknown : why::not_sent);
    }
    watch_timeouts();
  });
}

std::optional<moment> link::let_go(const id& who) const {
  const auto at = let_go_.find(who);
  if (at == let_go_.end()) return std::nullopt;
  return at->second;
}

// ---- the connection

void link::stall(duration d) {
  if (pipe_) pipe_->last_arrival = std::max(pipe_->last_arrival, at_.outside.now() + d);
}

void link::cut(bool lingers, duration away) {
  if (!pipe_) return;
  const auto lost = at_.wires.cut(std::exchange(pipe_, nullptr), lingers);
  for (const auto& [serial, p] : pending_) {
    if (!p.left) continue;
    const bool certainly = std::find(lost.begin(), lost.end(), serial) != lost.end();
    fail_soon(serial, certainly && at_.chance.chance(500) ? why::not_sent : why::unknown);
  }
  at_.inside(1us, [this] { events_->down({why::unknown, {}, "simulated"}); });
  reconnect(away);
}

void link::reconnect(duration later) {
  at_.inside(later, [this] {
    if (pipe_) return;
    if (!at_.peer.up || at_.peer.paused) return reconnect(20ms);
    up();
  });
}

void link::up() {
  since_ = at_.outside.now();
  pipe_ = at_.wires.connect(at_.client, [this](std::uint64_t serial, answers a) {
    at_.inside(0ms, [this, serial, a = std::make_unique<answers>(std::move(a))] { on_answer(serial, std::move(*a)); });
  });
  for (auto& c : std::exchange(parked_, {})) {
    const auto at = pending_.find(c->serial);
    if (at != pending_.end()) transmit(std::move(c), at->second);
  }
  events_->up({std::to_string(at_.peer.generation), "simulated"});
}

void link::push(const kit::notice& n) {
  if (!pipe_ || at_.wires.push_is_lost(at_.client)) return;
  const auto way = at_.wires.latency(at_.client);
  at_.outside.in(way, [this, alive = std::weak_ptr{pipe_}, who = n.who, what = n.what] {
    const auto p = alive.lock();
    if (!p || !p->open) return;
    at_.inside(0ms, [this, who, what] {
      using kind = kit::notice::kind;
      if (what == kind::asked) {
        at_.asked(who);
        if (crook_.hears_revocations()) events_->asked(who, "sim");
        return;
      }
      crook_.on_push(who, at_.clock.now());
      what == kind::gone ? events_->gone(who) : events_->wake(who);
    });
  });
}

}  // namespace tyer::sim
