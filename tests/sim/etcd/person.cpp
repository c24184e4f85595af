#include "sim/etcd/person.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tyer::sim::etcd {

namespace {

constexpr auto between_beats = 5ms;

}  // namespace

core::id person::own_ids::next() {
  const std::uint64_t serial = ++count;
  core::id i;
  std::memcpy(i.bytes.data(), &number, sizeof number);
  std::memcpy(i.bytes.data() + sizeof number, &serial, sizeof serial);
  return i;
}

person::person(surroundings& s, std::size_t index, dice d) : around_(s), index_(index), dice_(d), clock_(s.time) {}

// --- life and death ---

void person::start() {
  if (life_) return;
  ++lives_;
  process_stopped_ = loop_stopped_ = run_is_due_ = false;
  around_.wires.acting = index_;
  life_ = std::make_unique<living>(lives_ << 8 | (index_ + 1));
  tyer::etcd::config c;
  for (std::size_t s = 0; s < servers; ++s) {
    c.servers.push_back({std::to_string(index_), static_cast<std::uint16_t>((s + index_) % servers)});
  }
  life_->engine = std::make_unique<tyer::etcd::etcd_engine>(
      c, engine::environment{prefix, &life_->ids, &clock_, around_.request_timeout, {}});
  life_->engine->open(*this);
  for (caller& each : life_->callers) each.start(*this, dice_.fork());
  around_.time.note("c start", index_, lives_);
  run_soon();
  beat();
}

void person::kill() {
  if (!life_) return;
  around_.time.note("c killed", index_, lives_);
  for (caller& each : life_->callers) each.die();
  from_wire_.clear();
  from_callers_.clear();
  around_.wires.acting = index_;
  life_.reset();
}

void person::stop(bool whole_process) {
  if (!life_) return;
  (whole_process ? process_stopped_ : loop_stopped_) = true;
  around_.time.note("c stopped", index_, whole_process);
}

void person::go_on() {
  if (!life_ || !(process_stopped_ || loop_stopped_)) return;
  process_stopped_ = loop_stopped_ = false;
  around_.time.note("c goes on", index_);
  for (auto& t : std::exchange(from_wire_, {})) enter(std::move(t));
  for (auto& t : std::exchange(from_callers_, {})) enter(std::move(t));
  run_soon();
}

// --- what happens inside ---

void person::enter(task t) {
  if (!life_) return;
  around_.wires.acting = index_;
  t();
  run_soon();
}

void person::deliver(task t) {
  if (process_stopped_) return from_wire_.push_back(std::move(t));
  enter(std::move(t));
}

void person::later(duration d, task t) {
  around_.time.in(std::max<duration>(d, 1us), [this, life = lives_, t = std::move(t)]() mutable {
    if (life != lives_ || !life_) return;
    if (process_stopped_ || loop_stopped_) return from_callers_.push_back(std::move(t));
    enter(std::move(t));
  });
}

void person::run_soon() {
  if (std::exchange(run_is_due_, true)) return;
  around_.time.in(10us, [this, life = lives_] {
    if (life != lives_ || !life_) return;
    run_is_due_ = false;
    run();
  });
}

void person::run() {
  if (process_stopped_ || loop_stopped_) return;
  around_.wires.acting = index_;
  life_->engine->wake();  // so that it does not even look whether it should wait, which would be in real time
  life_->engine->run(clock_.now());
}

void person::beat() {
  around_.time.in(between_beats, [this, life = lives_] {
    if (life != lives_ || !life_) return;
    run();
    beat();
  });
}

// --- events ---

caller* person::find(const id& who) {
  const auto at = std::ranges::find(life_->callers, who, &caller::who);
  return at == life_->callers.end() ? nullptr : &*at;
}

void person::wake(const id& who) {
  if (auto* c = find(who)) c->on_wake();
}
void person::suspect(const id& who) {
  if (auto* c = find(who)) c->on_suspect();
}
void person::gone(const id& who) {
  if (auto* c = find(who)) c->on_gone();
}
void person::up(const engine::server_facts&) {
  for (caller& each : life_->callers) each.on_suspect();
}

// --- for the judge ---

bool person::waits_for(std::size_t name) const {
  return life_ && !process_stopped_ && !loop_stopped_ &&
         std::ranges::any_of(life_->callers, [&](const caller& c) { return c.waits_for(name); });
}

bool person::idle() const { return !life_ || std::ranges::all_of(life_->callers, &caller::idle); }

bool person::could_take_away(const id& who) const {
  return life_ && !process_stopped_ && !loop_stopped_ && who.nonce() >> 8 == lives_ &&
         std::ranges::none_of(life_->callers, [&](const caller& c) { return !c.idle() && c.who() == who; });
}

std::string person::stuck() const {
  if (!life_) return {};
  std::string all;
  for (const caller& c : life_->callers) {
    if (!c.idle()) all += " (" + c.words() + ")";
  }
  return all;
}

}  // namespace tyer::sim::etcd
