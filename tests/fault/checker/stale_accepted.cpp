#include "checker/checks.hpp"

#include <map>

namespace fault {

namespace {

struct seen {
  std::uint64_t token = 0, hold = 0;
};
struct thing {
  seen exclusive, any;
};

// The verdicts of the resource are not believed: what counts is what it should have let in, by the rule of tyer/fence.hpp. True
// if what was let in before makes this one stale; `top` is then what that was. A writer that had to be refused has written
// nothing, so it makes no reader stale.
bool show(thing& t, const resource_write& w, seen& top) {
  const bool reads = w.how == mode::shared;
  top = reads ? t.exclusive : t.any;
  // No reader has the token of a writer: whoever is downgraded gets a new one.
  const bool stale = w.token < top.token || (w.token == top.token && (reads || w.hold != top.hold));
  if (stale) return true;
  if (w.token > t.any.token) t.any = {w.token, w.hold};
  if (!reads && w.token > t.exclusive.token) t.exclusive = {w.token, w.hold};
  return false;
}

}  // namespace

std::vector<breach> stale_accepted(const story& s) {
  std::map<std::pair<std::uint16_t, int>, thing> things;
  std::vector<breach> found;
  for (const resource_write& w : s.writes) {
    seen top;
    bool stale = false;
    if (w.how != mode::permit) stale = show(things[{w.name, -1}], w, top);
    for (int slot = 0; w.how == mode::permit && slot < 16; ++slot) {
      seen here;
      if ((w.slots >> slot & 1) == 0 || !show(things[{w.name, slot}], w, here)) continue;
      stale = true;
      top = here;
    }
    if (stale && w.answer == verdict::accepted) {
      found.push_back({w.at, "name " + std::to_string(w.name) + ": applied token " + std::to_string(w.token) +
                                 " of hold " + std::to_string(w.hold) + " after token " + std::to_string(top.token) +
                                 " of hold " + std::to_string(top.hold)});
    }
  }
  return found;
}

}  // namespace fault
