#include "deadlocks/circles.hpp"

#include "deadlocks/waits.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

namespace cli {

namespace {

struct step {
  waits::spot place, other;
};

// The shortest circle from there on, back to it. Empty if there is none.
std::vector<step> way_round(const waits& w, std::size_t start) {
  std::vector<std::optional<step>> ways(w.processes());  // by which step each was reached first
  std::deque<std::size_t> next{start};
  for (; !next.empty() && !ways[start]; next.pop_front()) {
    w.each_wait(next.front(), [&](waits::spot place, waits::spot other) {
      auto& way = ways[w.by(other)];
      if (way) return;
      way = step{place, other};
      next.push_back(w.by(other));
    });
  }
  std::vector<step> all;
  if (!ways[start]) return all;
  for (auto at = start; all.empty() || at != start; at = w.by(all.back().place)) all.push_back(*ways[at]);
  std::ranges::reverse(all);
  return all;
}

circle shown(const waits& w, const std::vector<step>& all) {
  circle c;
  for (const auto& s : all) c.push_back({s.place.lock, w.what(s.place), w.what(s.other)});
  return c;
}

}  // namespace

std::vector<circle> circles(const std::vector<seen_lock>& all) {
  std::vector<circle> found;
  waits w{all};
  for (std::size_t start = 0; start < w.processes(); ++start) {
    if (!w.is_in(start)) continue;
    const auto way = way_round(w, start);
    if (!way.empty()) found.push_back(shown(w, way));
    std::vector<std::size_t> done{start};  // also if it is between two circles
    for (const auto& s : way) done.push_back(w.by(s.place));
    w.leave_out(done);
  }
  return found;
}

std::vector<circle> lasting(std::vector<circle> now, const std::vector<seen_lock>& before) {
  std::set<std::pair<tyer::hold_id, bool>> old;
  for (const auto& l : before) {
    for (const auto& e : l.what.all) old.emplace(e.id, e.waiting);
  }
  const auto was_there = [&](const tyer::lock_entry& e) { return old.contains({e.id, e.waiting}); };
  std::erase_if(now, [&](const circle& c) {
    return !std::ranges::all_of(c, [&](const circle_step& s) { return was_there(s.waits) && was_there(s.other); });
  });
  return now;
}

}  // namespace cli
