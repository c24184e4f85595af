#include "deadlocks/circles.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace cli {

namespace {

using process_key = std::pair<std::string, std::uint64_t>;

process_key key_of(const tyer::lock_entry& e) { return {e.owner.host, e.owner.pid}; }

bool is_known(const tyer::lock_entry& e) { return !e.owner.host.empty() && e.owner.pid != 0; }

bool get_along(const tyer::lock_entry& a, const tyer::lock_entry& b) {
  return a.mode == tyer::lock_mode::shared && b.mode == tyer::lock_mode::shared;
}

// What one place in a queue waits for.
struct wait_for {
  std::size_t on;
  const tyer::lock_entry* place;
  std::vector<const tyer::lock_entry*> barring;  // holders, and those before it
  bool any_will_do;                              // permits: one of the holders is enough
};

wait_for read_place(const std::vector<seen_lock>& all, std::size_t on, const tyer::lock_entry& place) {
  wait_for w{on, &place, {}, place.mode == tyer::lock_mode::permit};
  for (const auto& e : all[on].what.all) {
    if (&e == &place) break;
    if (!get_along(e, place) && (!w.any_will_do || !e.waiting)) w.barring.push_back(&e);
  }
  return w;
}

class graph {
 public:
  explicit graph(const std::vector<seen_lock>& all) {
    for (std::size_t on = 0; on < all.size(); ++on) {
      for (const auto& e : all[on].what.all) {
        if (e.waiting && is_known(e)) waits_[key_of(e)].push_back(read_place(all, on, e));
      }
    }
    for (const auto& [who, waits] : waits_) stuck_.insert(who);
    while (std::erase_if(stuck_, [&](const process_key& who) { return !is_stuck(who); }) > 0) {}
  }

  // The shortest circle from there on, back to it.
  std::optional<circle> circle_of(const process_key& start) const {
    std::map<process_key, circle> ways{{start, {}}};
    std::deque<process_key> next{start};
    for (; !next.empty(); next.pop_front()) {
      const auto way = ways.at(next.front());
      for (auto& step : steps_from(next.front())) {
        const auto to = key_of(step.other);
        auto longer = way;
        longer.push_back(std::move(step));
        if (to == start) return longer;
        if (ways.try_emplace(to, std::move(longer)).second) next.push_back(to);
      }
    }
    return std::nullopt;
  }

  const std::set<process_key>& stuck() const { return stuck_; }
  void leave_out(const circle& c) {
    for (const auto& step : c) stuck_.erase(key_of(step.waits));
  }

 private:
  bool bars(const process_key& who, const tyer::lock_entry* other) const {
    return is_known(*other) && key_of(*other) != who && stuck_.contains(key_of(*other));
  }
  bool is_stuck(const process_key& who, const wait_for& w) const {
    const auto bars_it = [&](const tyer::lock_entry* other) { return bars(who, other); };
    if (w.any_will_do) return !w.barring.empty() && std::ranges::all_of(w.barring, bars_it);
    return std::ranges::any_of(w.barring, bars_it);
  }
  bool is_stuck(const process_key& who) const {
    return std::ranges::any_of(waits_.at(who), [&](const wait_for& w) { return is_stuck(who, w); });
  }
  std::vector<circle_step> steps_from(const process_key& who) const {
    std::vector<circle_step> steps;
    for (const auto& w : waits_.at(who)) {
      if (!is_stuck(who, w)) continue;
      for (const auto* other : w.barring) {
        if (bars(who, other)) steps.push_back({w.on, *w.place, *other});
      }
    }
    return steps;
  }

  std::map<process_key, std::vector<wait_for>> waits_;
  std::set<process_key> stuck_;  // those that wait for others that are stuck
};

}  // namespace

std::vector<circle> circles(const std::vector<seen_lock>& all) {
  std::vector<circle> found;
  graph g{all};
  const auto every = g.stuck();
  for (const auto& start : every) {
    if (!g.stuck().contains(start)) continue;
    if (auto c = g.circle_of(start)) {
      g.leave_out(*c);
      found.push_back(*std::move(c));
    }
  }
  return found;
}

std::vector<circle> lasting(std::vector<circle> now, const std::vector<circle>& before) {
  std::set<std::tuple<tyer::hold_id, tyer::hold_id>> old;
  for (const auto& c : before) {
    for (const auto& step : c) old.emplace(step.waits.id, step.other.id);
  }
  std::erase_if(now, [&](const circle& c) {
    return !std::ranges::all_of(c, [&](const circle_step& s) { return old.contains({s.waits.id, s.other.id}); });
  });
  return now;
}

}  // namespace cli
