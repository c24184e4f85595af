#include "checker/checks.hpp"

#include <algorithm>
#include <map>

namespace fault {

namespace {

// The last deadline that the state before the loss can have given this hold: whatever was granted or renewed before the
// loss was sent before it. A later one was granted by the new state, or renewed out of nothing. (When the acquire was
// invoked does not matter: a lease from before the loss may go on from hand to hand inside its process.)
std::int64_t last_deadline_before(const data_loss& loss, const grant& g, const limits& l) {
  const std::int64_t bound = loss.old_until + l.ttl_ns - l.margin_ns();
  std::int64_t last = g.first_deadline <= bound ? g.first_deadline : 0;
  for (const look& k : g.looks) {
    if (k.deadline <= bound) last = std::max(last, k.deadline);
  }
  return last;
}

// The engine may have forgotten `old` before it granted `fresh`.
bool excused(const grant& old, const grant& fresh, std::int64_t until, const story& s, const limits& l) {
  return std::any_of(s.losses.begin(), s.losses.end(), [&](const data_loss& loss) {
    return fresh.returned > loss.new_from && until <= last_deadline_before(loss, old, l);
  });
}

void sweep(std::vector<const grant*>& of_name, const story& s, const limits& l, std::vector<breach>& found) {
  std::sort(of_name.begin(), of_name.end(), [](auto a, auto b) { return a->returned < b->returned; });
  std::vector<const grant*> open;  // windows that have not ended: one, unless something is wrong
  for (const grant* g : of_name) {
    std::erase_if(open, [&](const grant* o) { return o->window_end() <= g->returned; });
    if (g->window_end() <= g->returned) continue;  // it came back too late to be valid for a moment
    for (const grant* o : open) {
      const auto until = std::min(o->window_end(), g->window_end());
      // Which of the two is the old one, the order of their returns does not tell: an answer can be slow.
      if (excused(*o, *g, until, s, l) || excused(*g, *o, until, s, l)) continue;
      found.push_back(
          {g->returned, describe(*o) + " overlaps for " + seconds(until - g->returned) + " s with " + describe(*g)});
    }
    open.push_back(g);
  }
}

}  // namespace

std::vector<breach> overlaps(const story& s, const limits& l) {
  std::map<std::uint16_t, std::vector<const grant*>> by_name;
  for (const grant& g : s.grants) by_name[g.name].push_back(&g);
  std::vector<breach> found;
  for (auto& [name, of_name] : by_name) sweep(of_name, s, l, found);
  return found;
}

}  // namespace fault
