#include "sim/checker.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tyer::sim {

namespace {

bool conflict(const grant& a, const grant& b) {
  if (a.how == mode::permit && b.how == mode::permit) {
    return std::ranges::find_first_of(a.slots, b.slots) != a.slots.end();
  }
  return a.how != mode::shared || b.how != mode::shared;
}

std::string seconds(moment t) { return std::to_string((t - beginning).count() / 1'000'000) + " ms"; }

std::string_view words(mode m) {
  return m == mode::exclusive ? " exclusive" : m == mode::shared ? " shared" : " permits";
}

}  // namespace

std::string checker::words(const window& w) {
  return std::string{names[w.what.name]} + std::string{sim::words(w.what.how)} + " of client " +
         std::to_string(w.what.client) + " id " + std::to_string(w.what.who.serial()) + " token " +
         std::to_string(w.what.token) + " from " + seconds(w.from) + " to " + seconds(w.to);
}

// ---- windows

floors checker::floor(std::size_t name, mode how) const {
  const resource& r = resources_[name];
  floors f;
  f.token = how == mode::exclusive ? r.whole.returned_any : r.whole.returned_exclusive;
  for (std::size_t s = 0; s < f.slot.size(); ++s) f.slot[s] = r.slots[s].returned_any;
  return f;
}

std::size_t checker::open(grant g) {
  resource& r = resources_[g.name];
  ++r.grants;
  ++r.open_windows;
  windows_.push_back({std::move(g), world_.now(), {}});
  return windows_.size() - 1;
}

std::size_t checker::opened(grant g, const floors& f, std::uint32_t handoffs_max) {
  const auto index = open(std::move(g));
  ++grants;
  const grant& has = windows_[index].what;
  if (has.how == mode::permit && (has.slots.size() != has.take || std::ranges::max(has.slots) >= permits)) {
    world_.broken("leased", "permits without their slots: " + words(windows_[index]));
  }
  check_token(index, f);
  check_handoff(windows_[index], handoffs_max);
  return index;
}

std::size_t checker::converted(std::size_t window, mode how, std::uint64_t token, const floors& f) {
  closed(window, world_.now());
  grant g = windows_[window].what;
  g.how = how;
  g.token = token;
  const auto index = open(std::move(g));
  ++conversions;
  check_token(index, f);
  tickets_[windows_[index].what.who].last_token = token;
  return index;
}

std::size_t checker::weakened(std::size_t window) {
  closed(window, world_.now());
  grant g = windows_[window].what;
  g.how = mode::shared;
  return open(std::move(g));
}

void checker::check_token(std::size_t index, const floors& f) {
  const window& w = windows_[index];
  const auto token = w.what.token;
  resource& r = resources_[w.what.name];
  const auto above = [&](std::uint64_t least) {
    if (token > least) return;
    world_.broken("fenced", "token order: a grant that was asked for later is not above " + std::to_string(least) +
                                ": " + words(w));
  };
  if (w.what.how != mode::shared && !r.tokens.emplace(token, index).second) {
    world_.broken("fenced", "two holds have the same token: " + words(w));
  }
  const auto returned = [&](fenced& by) {
    by.returned_any = std::max(by.returned_any, token);
    if (w.what.how == mode::exclusive) by.returned_exclusive = std::max(by.returned_exclusive, token);
  };
  if (w.what.how != mode::permit) {
    above(f.token);
    return returned(r.whole);
  }
  for (const auto slot : w.what.slots) {
    above(f.slot[slot]);
    returned(r.slots[slot]);
  }
}

void checker::check_handoff(const window& w, std::uint32_t handoffs_max) {
  ticket& t = tickets_[w.what.who];
  const auto last = std::exchange(t.last_token, w.what.token);
  if (last == 0) return;
  ++handoffs;
  if (w.what.token <= last) world_.broken("fenced", "handed off without a larger token: " + words(w));
  if (++t.handoffs > handoffs_max) world_.broken("live", "handed off too often: " + words(w));
  if (t.asked_back) world_.broken("live", "handed off though it was asked back: " + words(w));
}

void checker::closed(std::size_t index, moment when) {
  window& w = windows_[index];
  when = std::max(when, w.from);
  w.to = w.open ? when : std::min(w.to, when);  // lost first, then given back before its time was over
  if (std::exchange(w.open, false)) --resources_[w.what.name].open_windows;
}

void checker::lapsed(std::size_t index, duration lock_delay) {
  window& w = windows_[index];
  w.behind = shade::lock_delay;
  w.shadow_to = std::min(w.to, tickets_[w.what.who].broken.value_or(moment::max())) + lock_delay;
}

void checker::acknowledged(std::size_t index) { windows_[index].behind = shade::none; }

void checker::rests(std::size_t index, moment until) {
  windows_[index].behind = shade::min_hold;
  windows_[index].shadow_to = until;
}

void checker::asked_back(const id& who) { tickets_[who].asked_back = true; }

// ---- writes

bool checker::enter(fenced& f, std::size_t index) {
  const window& w = windows_[index];
  const bool exclusive = w.what.how != mode::shared;
  const auto token = w.what.token;
  if (!f.gate.enter_by_token(token, exclusive ? lock_mode::exclusive : lock_mode::shared)) return false;
  if (token < (exclusive ? f.wrote_any : f.wrote_exclusive)) {
    world_.broken("fenced", "a stale write was accepted: " + words(w));
  }
  if (exclusive && token == f.wrote_exclusive && f.last_writer != index) {
    world_.broken("fenced", "two holds have written with the same token: " + words(w));
  }
  f.wrote_any = std::max(f.wrote_any, token);
  if (exclusive) {
    f.wrote_exclusive = std::max(f.wrote_exclusive, token);
    f.last_writer = index;
  }
  return true;
}

bool checker::write(std::size_t index, bool believes) {
  const window& w = windows_[index];
  resource& r = resources_[w.what.name];
  bool in = true;
  if (w.what.how == mode::permit) {
    for (const auto slot : w.what.slots) in = enter(r.slots[slot], index) && in;
  } else {
    in = enter(r.whole, index);
  }
  ++(in ? accepted : refused);
  if (!in && believes && !forgiven(r, w.from, world_.now()) && !forgiven(r, world_.now(), world_.now())) {
    world_.broken("leased", "the gate refused a holder that was valid: " + words(w));
  }
  return in;
}

// ---- what the server has forgotten

void checker::lost_data(std::size_t name, moment promised_until) {
  resources_[name].forgiven.push_back({world_.now(), promised_until, true});
}

void checker::broken(std::size_t name, const id& who, moment promised_until) {
  resources_[name].forgiven.push_back({world_.now(), promised_until, false});
  if (const auto at = tickets_.find(who); at != tickets_.end()) at->second.broken = world_.now();
}

bool checker::forgiven(const resource& r, moment from, moment to) {
  return std::ranges::any_of(r.forgiven,
                             [&](const amnesty& a) { return a.from <= from && to <= std::max(a.to, a.from); });
}

// The shadow of b is forgotten with the data it was in, and one of the two may be from before. What is left of a min_hold is
// also forgotten with the hold that was broken.
bool checker::forgiven(const resource& r, const window& b, const window& w) {
  return std::ranges::any_of(r.forgiven, [&](const amnesty& a) {
    const auto covers = [&](const window& x) { return a.from <= x.from && x.to <= a.to; };
    const bool between = b.from <= a.from && a.from <= w.from;
    return (a.data || b.behind == shade::min_hold) && (between || covers(b) || covers(w));
  });
}

// ---- the name as a whole

void checker::look(std::size_t name, bool somebody_waits, bool somebody_upgrades, duration idle_max) {
  resource& r = resources_[name];
  const bool free = (somebody_waits && r.open_windows == 0) || (somebody_upgrades && r.open_windows <= 1);
  const bool idle = free && r.grants == r.grants_seen && world_.age() >= healed;
  r.grants_seen = r.grants;
  if (!idle) {
    r.idle_since.reset();
    return;
  }
  if (!r.idle_since) r.idle_since = world_.now();
  if (world_.now() - *r.idle_since <= idle_max) return;
  world_.broken("live",
                std::string{names[name]} + " lies idle since " + seconds(*r.idle_since) + " though somebody waits");
  r.idle_since.reset();
}

void checker::check_pair(const resource& r, const window& b, const window& w) {
  if (!conflict(b.what, w.what)) return;
  if (w.from < b.to) {
    if (!forgiven(r, w.from, std::min(b.to, w.to))) {
      world_.broken("leased", "two windows overlap: " + words(b) + " and " + words(w));
    }
  } else if (b.behind != shade::none && w.from < b.shadow_to && !forgiven(r, b, w)) {
    const auto* rule = b.behind == shade::lock_delay ? "a lock delay" : "a min_hold";
    world_.broken("leased", std::string{"let in during "} + rule + ": " + words(w) + " behind " + words(b) +
                                ", closed until " + seconds(b.shadow_to));
  }
}

void checker::check_overlaps(std::size_t name) {
  const resource& r = resources_[name];
  std::vector<const window*> all;
  for (const window& w : windows_) {
    if (w.what.name == name) all.push_back(&w);
  }
  std::ranges::stable_sort(all, {}, [](const window* w) { return w->from; });
  std::vector<const window*> before;  // those that have not ended, and those with a shadow
  for (const window* w : all) {
    std::erase_if(before, [&](const window* b) { return std::max(b->to, b->shadow_to) <= w->from; });
    std::uint32_t taken = w->what.how == mode::permit ? w->what.take : 0;
    for (const window* b : before) {
      check_pair(r, *b, *w);
      if (taken == 0 || b->to <= w->from || forgiven(r, w->from, std::min(b->to, w->to))) continue;
      taken += b->what.take;
    }
    if (taken > permits) world_.broken("leased", std::to_string(taken) + " permits are out: " + words(*w));
    before.push_back(w);
  }
}

void checker::finish() {
  for (std::size_t n = 0; n < names.size(); ++n) check_overlaps(n);
}

}  // namespace tyer::sim
