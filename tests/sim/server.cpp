#include "sim/server.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sim {

answers server::execute(const call& c) {
  answers a;
  switch (c.what) {
    case call::kind::acquire: a = acquire(c); break;
    case call::kind::keep: {
      std::vector<fate> fates;
      for (const auto& t : c.targets) fates.push_back(keep(t, c));
      a = std::move(fates);
      break;
    }
    case call::kind::release: a = release(c.targets.front(), c); break;
  }
  publish();
  return a;
}

answers server::acquire(const call& c) {
  const auto now = world_.now();
  const auto who = c.ask.what.who;
  const auto name = index_of(c.ask.what.name);
  if (now > c.not_after && bug_ != bug::late_request) {
    world_.note("s too late", name, who.nonce(), who.serial());
    return engine::failure{core::why::not_sent, {}, "it would have been executed after its not_after"};
  }
  asked_for_.insert_or_assign(who, now);
  auto result = catalogue_.acquire(names[name], c.ask, now, out_);
  if (auto* f = std::get_if<engine::failure>(&result)) return std::move(*f);
  auto& answer = std::get<engine::answer>(result);
  if (auto* g = std::get_if<engine::granted>(&answer)) {
    promise(name, c.sent, c.ask.ttl);
    g->part = bent(name, who, g->part);
    expired_ok_.insert(who);
    world_.note("s granted", name, who.nonce(), who.serial(), g->part);
  } else if (const auto* q = std::get_if<engine::queued>(&answer)) {
    queued_once_.insert(who);
    world_.note("s queued", name, who.nonce(), who.serial(), q->ahead);
  } else {
    world_.note("s busy", name, who.nonce(), who.serial());
  }
  return std::move(answer);
}

fate server::keep(const engine::target& t, const call& c) {
  const auto name = index_of(t.name);
  auto was = catalogue_.keep(t.name, t.who, c.as, c.ttl, world_.now(), out_);
  if (was == fate::gone && c.as == fate::holding) {
    if (bug_ == bug::keep_recreates) take_by_force(t, c);
    const bool revives = bug_ == bug::renewal_revives && expired_ok_.contains(t.who);
    if ((bug_ == bug::keep_recreates || revives) && grant_again(t, c)) was = fate::holding;
  }
  if (was == fate::holding && c.as == fate::holding) promise(name, c.sent, c.ttl);
  world_.note(c.as == fate::holding ? "s keep hold" : "s keep place", name, t.who.nonce(), t.who.serial(),
              static_cast<std::uint64_t>(was));
  return was;
}

fate server::release(const engine::target& t, const call& c) {
  const auto name = index_of(t.name);
  const auto was = catalogue_.release(t.name, t.who, c.clean, world_.now(), out_);
  world_.note("s release", name, t.who.nonce(), t.who.serial(), static_cast<std::uint64_t>(was));
  expired_ok_.erase(t.who);
  if (was == fate::gone && bug_ == bug::no_compare_on_release) {
    const auto all = entries(name);
    if (!all.empty() && all.front().what == fate::holding) {
      catalogue_.release(t.name, all.front().who, true, world_.now(), out_);
    }
  }
  if (bug_ == bug::token_floor_lost && entries(name).empty()) counters_[name] = {};
  return was;
}

moment server::last_asked_for(const id& who) const {
  const auto at = asked_for_.find(who);
  return at == asked_for_.end() ? moment::min() : at->second;
}

void server::publish() {
  for (const auto& n : std::exchange(out_, {})) tell(n);
}

void server::promise(std::size_t name, moment sent, milliseconds ttl) {
  promised_[name] = std::max(promised_[name], sent + ttl);
}

// ---- faults

void server::forget(std::size_t name) { lost(name, promised_[name]); }

void server::roll_back() {
  catalogue_ = backup_;
  for (std::size_t n = 0; n < names.size(); ++n) {
    for (const auto& e : entries(n)) resurrected_.insert(e.who);
    forget(n);
  }
}

void server::wipe() {
  catalogue_.clear();
  for (std::size_t n = 0; n < names.size(); ++n) forget(n);
}

void server::break_one(std::uint64_t which) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto n = (which + i) % names.size();
    const auto all = entries(n);
    if (all.empty()) continue;
    catalogue_.lose(all.front().who, world_.now(), out_);
    forget(n);
    return publish();
  }
}

// ---- planted bugs

void server::take_by_force(const engine::target& t, const call&) {
  for (const auto& e : entries(index_of(t.name))) catalogue_.release(t.name, e.who, true, world_.now(), out_);
  for (const auto& e : entries(index_of(t.name))) catalogue_.release(t.name, e.who, true, world_.now(), out_);
  out_.clear();
}

bool server::grant_again(const engine::target& t, const call& c) {
  engine::request r;
  r.what = t;
  r.ttl = c.ttl;
  const auto result = catalogue_.acquire(t.name, r, world_.now(), out_);
  const auto* a = std::get_if<engine::answer>(&result);
  return a != nullptr && std::holds_alternative<engine::granted>(*a);
}

std::uint64_t server::bent(std::size_t name, const id& who, std::uint64_t part) {
  if (bug_ != bug::token_floor_lost && bug_ != bug::equal_tokens_on_hand_over) return part;
  counter& c = counters_[name];
  const auto [at, fresh] = c.shown.emplace(who, 0);
  if (fresh) {
    const bool handed_over = bug_ == bug::equal_tokens_on_hand_over && queued_once_.contains(who) && c.last != 0;
    if (bug_ == bug::token_floor_lost) part = c.last + 1;
    at->second = c.last = handed_over ? c.last : part;
  }
  return at->second;
}

}  // namespace tyer::sim
