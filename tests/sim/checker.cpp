#include "sim/checker.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tyer::sim {

namespace {

bool conflict(mode a, mode b) { return a == mode::exclusive || b == mode::exclusive; }

std::string seconds(moment t) { return std::to_string((t - beginning).count() / 1'000'000) + " ms"; }

}  // namespace

std::string checker::words(const window& w) {
  return std::string{names[w.name]} + " of client " + std::to_string(w.client) + " token " + std::to_string(w.token) +
         " from " + seconds(w.from) + " to " + seconds(w.to);
}

std::uint64_t checker::floor(std::size_t name, mode how) const {
  const resource& r = resources_[name];
  return how == mode::exclusive ? r.returned_any : r.returned_exclusive;
}

std::size_t checker::opened(std::size_t name, mode how, std::uint64_t token, std::uint64_t floor, std::size_t client) {
  resource& r = resources_[name];
  const auto index = windows_.size();
  windows_.push_back({name, client, how, token, world_.now(), {}});
  ++r.grants;
  ++r.open_windows;
  if (token <= floor) {
    world_.broken("fenced", "token order: a grant that was asked for later is not above " + std::to_string(floor) +
                                ": " + words(windows_.back()));
  }
  if (how == mode::exclusive) {
    if (!r.tokens.emplace(token, index).second) {
      world_.broken("fenced", "two holds have the same token: " + words(windows_.back()));
    }
    r.returned_exclusive = std::max(r.returned_exclusive, token);
  }
  r.returned_any = std::max(r.returned_any, token);
  return index;
}

void checker::closed(std::size_t index, moment when) {
  window& w = windows_[index];
  when = std::max(when, w.from);
  w.to = w.open ? when : std::min(w.to, when);  // lost first, then given back before its time was over
  if (std::exchange(w.open, false)) --resources_[w.name].open_windows;
}

bool checker::write(std::size_t index, bool believes) {
  const window& w = windows_[index];
  resource& r = resources_[w.name];
  const bool exclusive = w.how == mode::exclusive;
  const bool in = exclusive ? r.gate.enter(w.token) : r.gate.enter_shared(w.token);
  if (!in) {
    ++refused;
    if (believes && !forgiven(r, w.from, world_.now()) && !forgiven(r, world_.now(), world_.now())) {
      world_.broken("leased", "the gate refused a holder that was valid: " + words(w));
    }
    return false;
  }
  ++accepted;
  if (w.token < (exclusive ? r.wrote_any : r.wrote_exclusive))
    world_.broken("fenced", "a stale write was accepted: " + words(w));
  if (exclusive && w.token == r.wrote_exclusive && r.last_writer != index) {
    world_.broken("fenced", "two holds have written with the same token: " + words(w));
  }
  r.wrote_any = std::max(r.wrote_any, w.token);
  if (exclusive) {
    r.wrote_exclusive = std::max(r.wrote_exclusive, w.token);
    r.last_writer = index;
  }
  return true;
}

void checker::lost_data(std::size_t name, moment promised_until) {
  resources_[name].forgiven.push_back({world_.now(), promised_until});
}

bool checker::forgiven(const resource& r, moment from, moment to) const {
  return std::any_of(r.forgiven.begin(), r.forgiven.end(),
                     [&](const amnesty& a) { return a.from <= from && to <= std::max(a.to, a.from); });
}

void checker::look(std::size_t name, bool somebody_waits, duration idle_max) {
  resource& r = resources_[name];
  const bool idle = somebody_waits && r.open_windows == 0 && r.grants == r.grants_seen && world_.age() >= healed;
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

void checker::check_overlaps(std::size_t name) {
  std::vector<const window*> all;
  for (const window& w : windows_) {
    if (w.name == name) all.push_back(&w);
  }
  std::stable_sort(all.begin(), all.end(), [](const window* a, const window* b) { return a->from < b->from; });
  std::vector<const window*> before;  // those that have not ended
  for (const window* w : all) {
    std::erase_if(before, [&](const window* b) { return b->to <= w->from; });
    for (const window* b : before) {
      if (!conflict(b->how, w->how) || forgiven(resources_[name], w->from, std::min(b->to, w->to))) continue;
      world_.broken("leased", "two windows overlap: " + words(*b) + " and " + words(*w));
    }
    before.push_back(w);
  }
}

void checker::finish() {
  for (std::size_t n = 0; n < names.size(); ++n) check_overlaps(n);
}

}  // namespace tyer::sim
