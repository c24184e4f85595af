// The planted bugs of the server: its requests and answers are bent, its resources done and undone behind its back.
#include "sim/server.hpp"

#include <algorithm>

namespace tyer::sim {

void server::spoil(engine::request& r, kit::resource& of) {
  requests_.insert_or_assign(r.what.who, request{r, world_.now()});
  if (bug_ == bug::permits_without_k) r.take = 1;
  if (bug_ == bug::hand_over_without_claim) r.waiter_ttl = r.ttl;
  if (bug_ == bug::ghost_not_honoured) r.lock_delay = {};
  if (bug_ == bug::reader_past_writer && r.what.how == mode::shared) let_past_the_queue(of, r);
}

void server::spoil(engine::granted& g, std::size_t name, const call& c) {
  const auto who = c.ask.what.who;
  g.part = bent(name, who, g.part);
  expired_ok_.insert(who);
  if (c.ask.what.how == mode::exclusive) writers_.insert_or_assign(who, g.part);
  if (c.ask.what.how != mode::permit) return;
  if (bug_ == bug::permits_without_k) {
    while (g.slots.size() < c.ask.take) g.slots.push_back((g.slots.back() + 1) % c.ask.capacity);
  }
  if (bug_ == bug::slot_twice) {
    for (std::uint32_t slot = 0; slot < g.slots.size(); ++slot) g.slots[slot] = slot;
  }
}

void server::spoil_release(const engine::target& t, bool clean, fate was) {
  const auto name = index_of(t.name);
  kit::resource& r = resources_[name];
  expired_ok_.erase(t.who);
  requests_.erase(t.who);
  if (was == fate::gone && bug_ == bug::no_compare_on_release) {
    const auto all = entries(name);
    if (!all.empty() && all.front().what == fate::holding)
      r.release(all.front().who, true, at_server(world_.now()), out_);
  }
  if (bug_ == bug::token_floor_lost && entries(name).empty()) counters_[name] = {};
  if (bug_ == bug::ghost_laid_by_stranger && clean) {
    std::vector<id> ghosts;
    for (const auto& h : r.holds()) {
      if (h.ghost()) ghosts.push_back(h.who);
    }
    for (const auto& who : ghosts) r.release(who, true, at_server(world_.now()), out_);
  }
}

void server::spoil_conversion(engine::answer& a, const call& c) {
  const auto who = c.targets.front().who;
  const bool up = c.to == mode::exclusive;
  auto* g = std::get_if<engine::granted>(&a);
  if (up && g != nullptr) writers_.insert_or_assign(who, g->part);
  if (up && bug_ == bug::second_upgrader_waits && std::holds_alternative<engine::busy>(a)) {
    a = engine::queued{0, milliseconds{100}};
  }
  if (up && bug_ == bug::upgrade_beside_reader && std::holds_alternative<engine::queued>(a)) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(world_.now().time_since_epoch());
    a = engine::granted{static_cast<std::uint64_t>(micros.count()), milliseconds{500}};
  }
  if (!up && g != nullptr && bug_ == bug::downgrade_keeps_token && writers_.contains(who)) g->part = writers_.at(who);
  if (bug_ != bug::late_downgrade || g == nullptr) return;
  if (!up) {
    downgraded_.insert(who);
  } else if (downgraded_.erase(who) > 0) {  // the network has another copy of it
    world_.in(5ms, [this, who, name = index_of(c.targets.front().name)] {
      resources_[name].convert(who, mode::shared, at_server(world_.now()), out_);
      judge_.look(name, resources_[name]);
      publish();
    });
  }
}

// Those who wait leave for a moment, and come back behind it.
void server::let_past_the_queue(kit::resource& r, const engine::request& reader) {
  const auto queue = r.queue();
  if (queue.empty() || std::ranges::any_of(queue, [&](const auto& w) { return w.who == reader.what.who; })) return;
  const auto now = at_server(world_.now());
  kit::notices unheard;
  for (const auto& w : queue) r.release(w.who, true, now, unheard);
  r.acquire(reader, now, unheard);
  for (const auto& w : queue) {
    if (const auto at = requests_.find(w.who); at != requests_.end()) r.acquire(at->second.what, now, unheard);
  }
}

// Whoever is at the head stays there, and once it has the lock it keeps it, heard of or not.
void server::feed_the_dead() {
  const auto now = at_server(world_.now());
  for (kit::resource& r : resources_) {
    if (!r.queue().empty()) {
      const auto who = r.queue().front().who;
      r.keep(who, fate::waiting, r.queue().front().waiter_ttl, now, out_);
    }
    const auto holds = r.holds();
    for (const auto& h : holds) {
      if (h.ghost() || h.claimed()) continue;
      if (const auto at = requests_.find(h.who);
          at != requests_.end() && h.expires - now < at->second.what.waiter_ttl / 2)
        r.acquire(at->second.what, now, out_);
    }
    for (const auto& h : holds) {
      if (!h.ghost() && queued_once_.contains(h.who)) r.keep(h.who, fate::holding, ttls.front(), now, out_);
    }
  }
}

void server::take_by_force(const engine::target& t) {
  for (int twice = 0; twice < 2; ++twice) {
    for (const auto& e : entries(index_of(t.name))) of(t.name).release(e.who, true, at_server(world_.now()), out_);
  }
  out_.clear();
}

bool server::grant_again(const engine::target& t, const call& c) {
  engine::request r;
  r.what = t;
  r.ttl = c.ttl;
  r.capacity = permits;
  const auto result = of(t.name).acquire(r, at_server(world_.now()), out_);
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
