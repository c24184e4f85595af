#include "checker/checks.hpp"

#include <algorithm>
#include <map>

namespace fault {

namespace {

using grants = std::vector<const grant*>;

// Two of which the later one should have the larger token.
struct inversion {
  const grant *before, *after;
  breach what;
};

// Among grants that all conflict with each other, but for readers with readers.
void check_order(const grants& all, std::vector<inversion>& found) {
  grants by_invoke = all, by_return = all;
  std::sort(by_invoke.begin(), by_invoke.end(), [](auto a, auto b) { return a->invoked < b->invoked; });
  std::sort(by_return.begin(), by_return.end(), [](auto a, auto b) { return a->returned < b->returned; });

  // Among those that had returned before the one we look at was invoked.
  const grant *largest = nullptr, *largest_of_writers = nullptr;
  const auto raise = [](const grant*& top, const grant* g) {
    if (!top || g->token > top->token) top = g;
  };
  auto returned = by_return.begin();
  for (const grant* g : by_invoke) {
    for (; returned != by_return.end() && (*returned)->returned < g->invoked; ++returned) {
      raise(largest, *returned);
      if ((*returned)->how != mode::shared) raise(largest_of_writers, *returned);
    }
    const grant* before = g->how == mode::shared ? largest_of_writers : largest;
    if (before && g->token <= before->token) {
      found.push_back({before, g, {g->returned, describe(*g) + " came after " + describe(*before)}});
    }
  }
}

void check_unique(grants all, std::vector<inversion>& found) {
  std::sort(all.begin(), all.end(), [](auto a, auto b) { return a->token < b->token; });
  for (std::size_t i = 1; i < all.size(); ++i) {
    const bool in_order = all[i - 1]->returned <= all[i]->returned;
    const grant &a = *all[in_order ? i - 1 : i], &b = *all[in_order ? i : i - 1];
    // One after the other is already a breach of the order; here only those that ran side by side.
    const bool apart = a.returned < b.invoked || b.returned < a.invoked;
    if (a.token == b.token && conflict(a, b) && !apart) {
      found.push_back({&a, &b, {b.returned, describe(a) + " has the token of " + describe(b)}});
    }
  }
}

// A hold keeps its token for as long as it keeps its mode, however often its owner comes in again.
void check_constant(const grant& g, std::vector<breach>& found) {
  for (const look& k : g.looks) {
    if (k.token == 0 || k.token == g.token) continue;
    found.push_back({k.at, "token " + std::to_string(k.token) + " was seen on " + describe(g)});
    return;
  }
}

std::vector<inversion> inversions(const story& s) {
  // Slots of permits are things of their own.
  std::map<std::pair<std::uint16_t, int>, grants> by_thing;
  for (const grant& g : s.grants) {
    if (g.how != mode::permit) by_thing[{g.name, -1}].push_back(&g);
    for (int slot = 0; g.how == mode::permit && slot < 16; ++slot) {
      if ((g.slots >> slot & 1) != 0) by_thing[{g.name, slot}].push_back(&g);
    }
  }
  std::vector<inversion> found;
  for (const auto& [thing, all] : by_thing) {
    check_order(all, found);
    check_unique(all, found);
  }
  return found;
}

// The engine may have forgotten the token of the one before it made that of the other. Of two with the same token, which ran side
// by side, nobody knows which was made first.
bool forgotten(const inversion& i, const story& s) {
  const auto between = [](const grant& before, const grant& after, const data_loss& loss) {
    return before.invoked < loss.old_until && after.returned > loss.new_from;
  };
  const bool either_way = i.before->token == i.after->token && i.after->invoked <= i.before->returned;
  return std::any_of(s.losses.begin(), s.losses.end(), [&](const data_loss& loss) {
    return (loss.how & lost_with_tokens) != 0 && loss.names.has(i.after->name) &&
           (between(*i.before, *i.after, loss) || (either_way && between(*i.after, *i.before, loss)));
  });
}

// Inside a process: the engine made only the first token of a lease.
bool handed_on(const grant& g) { return g.token % 256 != 0; }

bool had_before(const grant& owner, const grant& next) {
  return handed_on(next) && owner.name == next.name && owner.pid == next.pid && owner.token / 256 == next.token / 256;
}

// The ticket of one who gave up while the next had come already, and could have the same.
bool asked_before(const attempt& a, const grant& next) {
  return !a.granted && a.name == next.name && a.pid == next.pid && a.how == next.how && a.permits == next.permits &&
         a.returned >= next.invoked;
}

// A hold has the part of the token of the lease it was handed, made when the engine gave the lease out, perhaps before
// anybody came for it. If another was granted meanwhile by the other side of a failover, its token may be the larger one,
// and the lease goes on from hand to hand when the other is over.
bool crossed(const inversion& i, const story& s, const limits& l) {
  const auto before = [&](const auto& first) { return first.invoked < i.before->returned; };
  const bool old =
      std::ranges::any_of(s.grants, [&](const grant& g) { return before(g) && had_before(g, *i.after); }) ||
      std::ranges::any_of(s.attempts, [&](const attempt& a) { return before(a) && asked_before(a, *i.after); });
  return old && std::any_of(s.losses.begin(), s.losses.end(), [&](const data_loss& loss) {
           return (loss.how & lost_by_failover) != 0 && loss.names.has(i.after->name) &&
                  i.before->returned > loss.new_from && i.before->invoked < loss.old_until + l.ttl_ns;
         });
}

}  // namespace

std::vector<breach> token_order(const story& s, const limits& l) {
  std::vector<breach> found;
  for (const inversion& i : inversions(s)) {
    if (!forgotten(i, s) && !crossed(i, s, l)) found.push_back(i.what);
  }
  for (const grant& g : s.grants) check_constant(g, found);
  return found;
}

std::vector<breach> tokens_lost(const story& s) {
  std::vector<breach> found;
  for (const inversion& i : inversions(s)) {
    if (forgotten(i, s)) found.push_back(i.what);
  }
  return found;
}

std::vector<breach> tokens_crossed(const story& s, const limits& l) {
  std::vector<breach> found;
  for (const inversion& i : inversions(s)) {
    if (!forgotten(i, s) && crossed(i, s, l)) found.push_back(i.what);
  }
  return found;
}

std::uint64_t backwards_max(const story& s) {
  std::uint64_t most = 0;
  for (const inversion& i : inversions(s)) {
    if (handed_on(*i.after) || i.before->token <= i.after->token) continue;
    most = std::max(most, i.before->token / 256 - i.after->token / 256);
  }
  return most;
}

}  // namespace fault
