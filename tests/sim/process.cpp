#include "sim/process.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sim {

namespace {

using phase = tyer::detail::hold_state::phase;

moment alarm_of(const tyer::detail::hold_state& h) { return h.alarm_at(); }

}  // namespace

moment own_clock::truth_of(moment local) const noexcept {
  const auto shown = (local - offset_ - beginning).count();
  moment t = beginning + duration{shown / (1'000'000 + ppm_) * 1'000'000};  // not after it, and at most a second before
  t += (local - at(t)) * 1'000'000 / (1'000'000 + ppm_);
  while (at(t) < local) t += 1ns;
  return t;
}

core::id own_ids::next() {
  const std::uint64_t serial = ++count_;
  core::id i;
  std::memcpy(i.bytes.data(), &nonce_, sizeof nonce_);
  std::memcpy(i.bytes.data() + sizeof nonce_, &serial, sizeof serial);
  return i;
}

process::process(surroundings& s, std::size_t index, dice d) : around_(s), index_(index), dice_(d) {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    auto sp = std::make_shared<runtime::spec>();
    const auto ttl = i / 2 % ttls.size();
    const auto name = i / 2 / ttls.size();
    const auto& m = s.terms.of[name];
    sp->name = names[name];
    if (name == shared_name && i % 2 == 1) sp->how = mode::shared;
    if (name == permit_name) {
      sp->how = mode::permit;
      sp->take = 1 + i % 2;
      sp->capacity = permits;
    }
    sp->ttl = ttls[ttl];
    sp->waiter_ttl = scenario::waiter_ttl(sp->ttl);
    sp->lock_delay = m.lock_delay;
    if (s.planted != bug::min_hold_ignored) sp->min_hold = m.min_hold;
    if (s.planted != bug::max_hold_ignored) sp->max_hold = m.max_hold;
    sp->handoffs = s.planted == bug::handoff_beyond_bound ? 255 : s.terms.handoffs[ttl];
    specs_[i] = std::move(sp);
  }
}

process::~process() { kill(); }

// ---- life, pause and death

void process::start() {
  if (life_) return;
  ++lives_;
  paused_ = closing_ = false;
  since_ = around_.time.now();
  armed_ = moment::max();
  const auto most = static_cast<std::int64_t>(around_.terms.drift_ppm_max);
  const auto ppm = static_cast<std::int64_t>(dice_.below(static_cast<std::uint64_t>(2 * most + 1))) - most;
  life_ = std::make_unique<living>(around_, dice_.between(0s, 1000s), ppm, lives_ << 8 | (index_ + 1));
  life_->wire = std::make_unique<link>(
      link::setting{around_.time, around_.wires, around_.peer, index_, life_->clock, around_.terms.request_timeout,
                    around_.planted, dice_.fork(), [this](const id& who) { around_.checks.asked_back(who); },
                    [this](duration d, task t) { inside(d, thread::io, std::move(t)); }});
  runtime::limits bounds;
  bounds.request_timeout = around_.terms.request_timeout;
  bounds.unavailable_after = around_.terms.unavailable_after;
  bounds.idle_lanes_max = 4;  // few, so that lanes are dropped
  life_->coordinator.reset(new runtime::coordinator{*life_->wire, life_->clock, life_->ids, *this, bounds});
  life_->wire->open(*life_->coordinator);
  around_.time.note("c start", index_, lives_);
  for (std::size_t n = 0; n < life_->workers.size(); ++n) life_->workers[n].start(*this, n, dice_.fork());
}

void process::close() {
  if (!running()) return;
  around_.time.note("c closes", index_, lives_);
  closing_ = true;
  life_->coordinator->close();
  arm();
}

void process::kill() {
  if (!life_) return;
  around_.time.note("c killed", index_, lives_);
  unknowns += life_->wire->unknowns;
  not_sents += life_->wire->not_sents;
  for (worker& w : life_->workers) w.die();
  backlog_.clear();
  unrung_.clear();
  life_.reset();
}

void process::pause() {
  if (!running()) return;
  paused_ = true;
  around_.time.note("c paused", index_, lives_);
}

void process::resume() {
  if (!life_ || !paused_) return;
  paused_ = false;
  since_ = around_.time.now();
  around_.time.note("c resumed", index_, lives_);
  // The thread of the alarms is as fast as any other.
  for (auto& h : std::exchange(unrung_, {})) {
    around_.time.in(dice_.between(0ms, 40ms), [this, life = lives_, h = std::move(h)] {
      if (life == lives_ && life_) ring(h);
    });
  }
  auto all = std::exchange(backlog_, {});
  const auto order = dice_.below(3);
  if (order == 1)
    std::stable_partition(all.begin(), all.end(), [](const deferred& d) { return d.by == thread::caller; });
  if (order == 2) on_timer();
  for (auto& d : all) enter(d.by, std::move(d.what));
  arm();
}

void process::stall(duration d) {
  if (life_) life_->wire->stall(d);
}

void process::cut(bool lingers, duration away) {
  if (!life_ || !life_->wire->connected()) return;
  around_.time.note("c cut", index_, lives_);
  life_->wire->cut(lingers, away);
}

void process::jump(duration d) {
  if (life_) life_->clock.jump(d);
}

// ---- what happens inside

void process::inside(duration d, thread by, task t) {
  if (d == 0ms) return enter(by, std::move(t));
  around_.time.in(d, [this, life = lives_, by, t = std::move(t)]() mutable {
    if (life == lives_ && life_) enter(by, std::move(t));
  });
}

void process::later(duration d, task t) { inside(std::max<duration>(d, 1us), thread::caller, std::move(t)); }

void process::enter(thread by, task t) {
  if (!life_) return;
  if (paused_) {
    backlog_.push_back({by, std::move(t)});
    return;
  }
  t();
  arm();
}

void process::arm() {
  const auto due = life_->coordinator->next_due();
  if (due == moment::max()) return;
  const auto when = life_->clock.truth(due);
  if (when >= armed_) return;
  armed_ = when;
  around_.time.at(when, [this, life = lives_, when] {
    if (life != lives_ || !life_ || armed_ != when) return;  // an earlier time was found since
    armed_ = moment::max();
    enter(thread::io, [this] { on_timer(); });
  });
}

void process::on_timer() { life_->coordinator->on_time(life_->clock.now()); }

void process::push(const kit::notice& n) {
  if (life_ && n.who.nonce() >> 8 == lives_) life_->wire->push(n);
}

// ---- runtime::watcher, as the thread of the alarms does it

void process::guard(const runtime::hold_ptr& h) { ring_later(h); }

void process::tell(const runtime::hold_ptr& h) noexcept {
  ++losses;
  const bool by_proof = life_->clock.now() < alarm_of(*h);
  around_.time.note("c lost", index_, by_proof, h->token());
  const server& s = around_.peer;
  const bool there = s.holds(index_of(h->what().name), h->who()) && !s.excused(h->who()) && !s.was_broken(h->who());
  if (by_proof && there && !closing_) {
    around_.time.broken("live", "a hold was lost that the server still has, client " + std::to_string(index_));
  }
  h->tell_lost();
  for (worker& w : life_->workers) w.on_lost(h, by_proof);
}

void process::ask(const runtime::hold_ptr& h) noexcept {
  around_.time.note("c asked", index_, h->token());
  h->tell_revoked();
  for (worker& w : life_->workers) w.on_asked(h);
}

void process::ring_later(const runtime::hold_ptr& h) {
  const auto when = life_->clock.truth(alarm_of(*h)) + dice_.between(0ms, 3ms);
  around_.time.at(when, [this, life = lives_, h] {
    if (life != lives_ || !life_) return;
    if (paused_) {
      unrung_.push_back(h);
    } else {
      ring(h);
    }
  });
}

void process::ring(const runtime::hold_ptr& h) {
  if (h->where() != phase::held) return;
  if (paused_) return unrung_.push_back(h);
  const auto now = life_->clock.now();
  if (now < alarm_of(*h)) return ring_later(h);
  if (!h->end(phase::lost)) return;
  ++losses;
  around_.time.note("c rung", index_, h->token());
  if (now >= h->valid_until() && around_.time.now() - since_ > 50ms) {
    around_.time.broken("live", "lost() was told too late, client " + std::to_string(index_));
  }
  h->tell_lost();
  for (worker& w : life_->workers) w.on_lost(h, false);
}

// ---- for the workers

void process::give_back(const worker& by, const runtime::hold_ptr& h, runtime::release_reply told) {
  // A planted hand-off: another worker gets the very same hold.
  const bool handed = around_.planted == bug::handoff_without_token
                          ? h->valid(life_->clock.now())
                          : around_.planted == bug::handoff_past_validity && !h->valid(life_->clock.now());
  if (handed && std::ranges::any_of(life_->workers, [&](worker& w) { return &w != &by && w.takes_over(h); })) {
    if (told) told({}, release_outcome::released);
    return;
  }
  life_->coordinator->give_back(h, std::move(told));
}

// ---- for the checks

bool process::waits_for(std::size_t name) const {
  return running() &&
         std::any_of(life_->workers.begin(), life_->workers.end(), [&](const worker& w) { return w.waits_for(name); });
}

bool process::upgrades(std::size_t name) const {
  return running() && std::ranges::any_of(life_->workers, [&](const worker& w) { return w.upgrades(name); });
}

bool process::only_reads(const id& who) const {
  const auto settled = around_.time.now() - 3 * around_.terms.request_timeout - 1s;
  if (!running() || who.nonce() >> 8 != lives_ || since_ > settled) return false;
  if (!life_->wire->connected() || life_->wire->connected_since() > settled) return false;
  return std::ranges::any_of(life_->workers, [&](const worker& w) { return w.only_reads(who, settled); });
}

bool process::idle() const {
  return !life_ || (life_->coordinator->drained() && std::all_of(life_->workers.begin(), life_->workers.end(),
                                                                 [](const worker& w) { return w.idle(); }));
}

void process::look() {
  if (!running() || around_.time.now() - since_ < 250ms) return;
  for (const worker& w : life_->workers) w.look();
}

std::optional<moment> process::let_go(const id& who) const {
  const auto settled = around_.time.now() - around_.terms.request_timeout - 1s;
  const bool mine = running() && who.nonce() >> 8 == lives_ && since_ < settled;
  if (!mine || !life_->wire->connected() || life_->wire->connected_since() >= settled) return std::nullopt;
  return life_->wire->let_go(who);
}

}  // namespace tyer::sim
