#include "sim/line_judge.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tyer::sim {

namespace {

std::string words(std::size_t name, const id& who) {
  return std::string{names[name]} + ", client " + std::to_string((who.nonce() & 0xff) - 1) + " id " +
         std::to_string(who.serial());
}

}  // namespace

void line_judge::begin(std::size_t name, const kit::resource& r) {
  order& o = orders_[name] = {};
  for (const auto& w : r.queue()) o.line.push_back({w.who, ++o.came, scenario::waiter_ttl(ttl_max)});
  for (const auto& h : r.holds()) o.holders.push_back(h.who);
  o.changes = r.changes();
}

void line_judge::on_acquire(std::size_t name, const engine::request& r, const kit::resource& before) {
  order& o = orders_[name];
  o.asked_for = r.waiter_ttl;
  std::erase_if(o.unclaimed, [&](const handed& h) { return h.who == r.what.who; });
  const auto place = std::ranges::find(before.queue(), r.what.who, &kit::seat::who);
  if (place == before.queue().end() || place->expires > at_server(world_.now())) return;
  std::erase_if(o.line, [&](const waiting& w) { return w.who == r.what.who; });
}

void line_judge::look(std::size_t name, const kit::resource& r) {
  order& o = orders_[name];
  if (!o.unclaimed.empty()) check_unclaimed(name, o, r);
  if (std::exchange(o.changes, r.changes()) == r.changes()) return;
  std::vector<waiting> line;
  for (const auto& w : r.queue()) {
    const auto was = std::ranges::find(o.line, w.who, &waiting::who);
    line.push_back(was != o.line.end() ? *was : waiting{w.who, ++o.came, o.asked_for});
  }
  std::vector<id> holders;
  for (const auto& h : r.holds()) {
    if (h.ghost()) continue;
    holders.push_back(h.who);
    if (std::ranges::find(o.holders, h.who) != o.holders.end()) continue;
    check_turn(name, o, line, h.who);
    const auto queued = std::ranges::find(o.line, h.who, &waiting::who);
    if (queued != o.line.end() && !h.claimed()) o.unclaimed.push_back({h.who, world_.now() + queued->ttl});
  }
  o.line = std::move(line);
  o.holders = std::move(holders);
}

// Nobody who came before still waits.
void line_judge::check_turn(std::size_t name, const order& before, const std::vector<waiting>& line, const id& who) {
  const auto queued = std::ranges::find(before.line, who, &waiting::who);
  const auto came = queued != before.line.end() ? queued->came : before.came + 1;
  for (const waiting& w : line) {
    if (w.came < came && std::ranges::find(before.line, w.who, &waiting::who) != before.line.end()) {
      world_.broken("live", "out of turn: " + words(name, who) + " before " + words(name, w.who));
    }
  }
}

void line_judge::check_unclaimed(std::size_t name, order& o, const kit::resource& r) {
  std::erase_if(o.unclaimed, [&](const handed& h) {
    const bool there = std::ranges::any_of(r.holds(), [&](const auto& x) {
      return !x.ghost() && x.who == h.who &&
             x.expires > at_server(world_.now());  // else it is gone with the next operation
    });
    if (!there || world_.now() <= h.until) return !there;
    world_.broken("live", "a hand-over that nobody claims stands for too long: " + words(name, h.who));
    return true;
  });
}

}  // namespace tyer::sim
