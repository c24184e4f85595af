#include "checker/windows.hpp"

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

// Whether the new state may have renewed a hold from before it: a copy of the hold went over to the new master in time.
bool went_over(const grant& g, const data_loss& loss, const limits& l) {
  return g.deadline > loss.new_from + l.ttl_ns - l.margin_ns();
}

// The engine may have forgotten `old` before it granted `fresh`; or there were two masters, of which one granted `old` and
// the other one kept `fresh`.
bool forgotten(const grant& old, const grant& fresh, const std::vector<data_loss>& losses, const limits& l) {
  const auto until = both_until(old, fresh);
  return std::any_of(losses.begin(), losses.end(), [&](const data_loss& loss) {
    const bool apart = fresh.returned > loss.new_from || (old.returned > loss.new_from && went_over(fresh, loss, l));
    return loss.concerns(old) && apart && until <= last_deadline_before(loss, old, l);
  });
}

void sweep(std::vector<const grant*>& of_name, const std::vector<data_loss>& losses, const limits& l,
           const meeting& met) {
  std::sort(of_name.begin(), of_name.end(), [](auto a, auto b) { return a->window_begin() < b->window_begin(); });
  std::vector<const grant*> open, beside;  // windows that have not ended; those of them that count
  for (const grant* g : of_name) {
    std::erase_if(open, [&](const grant* o) { return o->window_end() <= g->window_begin(); });
    if (g->window_end() <= g->window_begin()) continue;  // it came back too late to be valid for a moment
    beside.clear();
    for (const grant* o : open) {
      if (!excused(*o, *g, losses, l)) beside.push_back(o);
    }
    met(*g, beside);
    open.push_back(g);
  }
}

}  // namespace

bool excused(const grant& a, const grant& b, const std::vector<data_loss>& losses, const limits& l) {
  // Which of the two is the old one, the order of their returns does not tell: an answer can be slow.
  return forgotten(a, b, losses, l) || forgotten(b, a, losses, l);
}

void each_window(const story& s, const std::vector<data_loss>& losses, const limits& l, const meeting& met) {
  std::map<std::uint16_t, std::vector<const grant*>> by_name;
  for (const grant& g : s.grants) by_name[g.name].push_back(&g);
  for (auto& [name, of_name] : by_name) sweep(of_name, losses, l, met);
}

breach overlap_of(const story& s, const grant& before, const grant& g) {
  const auto length = both_until(before, g) - g.window_begin();
  return {g.window_begin(), describe(before) + done_to(s, before) + " overlaps for " + seconds(length) + " s with " +
                                describe(g) + done_to(s, g)};
}

}  // namespace fault
