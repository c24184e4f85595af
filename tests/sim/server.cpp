#include "sim/server.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sim {

namespace {

kit::limits limits_for(bug planted) {
  kit::limits l;
  if (planted == bug::tombstone_without_ttl) l.tombstone_ttl = milliseconds::max();
  return l;
}

}  // namespace

server::server(world& w, bug planted) : world_(w), bug_(planted), judge_(w) {
  resources_.fill(kit::resource{limits_for(planted)});
}

answers server::execute(const call& c) {
  if (bug_ == bug::dead_head_not_reaped) feed_the_dead();
  answers a;
  switch (c.what) {
    case call::kind::acquire: a = acquire(c); break;
    case call::kind::keep: {
      engine::kept all{{}, c.ttl};
      for (const auto& t : c.targets) all.fates.push_back(keep(t, c));
      a = std::move(all);
      break;
    }
    case call::kind::release: a = release(c.targets.front(), c); break;
    case call::kind::convert: a = convert(c); break;
    case call::kind::ask: a = of(c.targets.front().name).ask("sim", at_server(world_.now()), out_); break;
  }
  if (c.what == call::kind::acquire) {
    judge_.look(index_of(c.ask.what.name), of(c.ask.what.name));
  } else {
    for (const auto& t : c.targets) judge_.look(index_of(t.name), of(t.name));
  }
  publish();
  return a;
}

answers server::refuse_late(const call& c, const id& who) {
  world_.note("s too late", static_cast<std::uint64_t>(c.what), who.nonce(), who.serial());
  return engine::failure{core::why::not_sent, {}, "it would have been executed after its not_after"};
}

answers server::acquire(const call& c) {
  const auto now = world_.now();
  const auto who = c.ask.what.who;
  const auto name = index_of(c.ask.what.name);
  if (now > c.not_after && bug_ != bug::late_request) return refuse_late(c, who);
  asked_for_.insert_or_assign(who, now);
  judge_.on_acquire(name, c.ask, resources_[name]);
  auto asked = c.ask;
  if (bug_ != bug::none) spoil(asked, resources_[name]);
  auto result = resources_[name].acquire(asked, at_server(now), out_);
  if (auto* f = std::get_if<engine::failure>(&result)) return std::move(*f);
  auto& answer = std::get<engine::answer>(result);
  if (auto* g = std::get_if<engine::granted>(&answer)) {
    promise(name, c.sent, c.ask.ttl);
    if (bug_ != bug::none) spoil(*g, name, c);
    world_.note("s granted", name, who.nonce(), who.serial(), g->part);
  } else if (const auto* q = std::get_if<engine::queued>(&answer)) {
    if (bug_ != bug::none) queued_once_.insert(who);
    world_.note("s queued", name, who.nonce(), who.serial(), q->ahead);
  } else {
    world_.note("s busy", name, who.nonce(), who.serial());
  }
  return std::move(answer);
}

fate server::keep(const engine::target& t, const call& c) {
  const auto name = index_of(t.name);
  auto was = resources_[name].keep(t.who, c.as, c.ttl, at_server(world_.now()), out_);
  if (was == fate::gone && c.as == fate::holding) {
    if (bug_ == bug::keep_recreates) take_by_force(t);
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
  const auto was = resources_[name].release(t.who, c.clean, at_server(world_.now()), out_);
  world_.note(c.clean ? "s release" : "s release unclean", name, t.who.nonce(), t.who.serial(),
              static_cast<std::uint64_t>(was));
  if (bug_ != bug::none) spoil_release(t, c.clean, was);
  return was;
}

answers server::convert(const call& c) {
  const auto now = world_.now();
  const auto& t = c.targets.front();
  const auto name = index_of(t.name);
  if (now > c.not_after && bug_ != bug::late_request) return refuse_late(c, t.who);
  auto result = resources_[name].convert(t.who, c.to, at_server(now), out_);
  const bool up = c.to == mode::exclusive;
  if (auto* f = std::get_if<engine::failure>(&result)) {
    world_.note("s cannot convert", name, t.who.nonce(), t.who.serial(), up);
    return std::move(*f);
  }
  auto& answer = std::get<engine::answer>(result);
  if (bug_ != bug::none) spoil_conversion(answer, c);
  world_.note(up ? "s upgrade" : "s downgrade", name, t.who.nonce(), t.who.serial(), answer.index());
  return std::move(answer);
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

// ---- what is there

std::vector<occupant> server::entries(std::size_t name) const {
  const auto now = at_server(world_.now());
  std::vector<occupant> all;
  for (const auto& h : resources_[name].holds()) {
    if (!h.ghost() && h.expires > now) all.push_back({h.who, fate::holding, h.how, h.part, h.upgrading, h.slots});
  }
  for (const auto& w : resources_[name].queue()) {
    if (w.expires > now) all.push_back({w.who, fate::waiting, w.how});
  }
  return all;
}

bool server::holds(std::size_t name, const id& who) const {
  return std::ranges::any_of(resources_[name].holds(), [&](const auto& h) {
    return !h.ghost() && h.claimed() && h.who == who && h.expires > at_server(world_.now());
  });
}

std::size_t server::left() const {
  std::size_t n = 0;
  for (std::size_t i = 0; i < names.size(); ++i) n += entries(i).size();
  return n;
}

bool server::endless() const {
  return std::ranges::any_of(resources_, [](const auto& r) { return r.forgotten_at() == kit::store_time::max(); });
}

// ---- faults

void server::roll_back() {
  resources_ = backup_;
  for (std::size_t n = 0; n < names.size(); ++n) {
    for (const auto& e : entries(n)) resurrected_.insert(e.who);
    judge_.begin(n, resources_[n]);
    lost(n, promised_[n]);
  }
}

void server::wipe() {
  resources_.fill(kit::resource{limits_for(bug_)});
  for (std::size_t n = 0; n < names.size(); ++n) {
    judge_.begin(n, resources_[n]);
    lost(n, promised_[n]);
  }
}

void server::break_one(std::uint64_t which) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto n = (which + i) % names.size();
    const auto all = entries(n);
    if (all.empty()) continue;
    broken_.insert(all.front().who);
    broken(n, all.front().who, promised_[n]);
    resources_[n].evict(all.front().who, "sim", at_server(world_.now()), out_);
    judge_.look(n, resources_[n]);
    return publish();
  }
}

}  // namespace tyer::sim
