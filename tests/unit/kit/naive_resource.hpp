// What a resource must do, said again as simply as it can be said: one list of everybody, looked through from its beginning for
// every question. It is the judge of kit::resource, which judges everything else, and shares no line with it.
//
// It knows nothing of limits, hints and of how long floors of tokens are remembered.
#pragma once

#include "engines/kit/resource.hpp"

#include <tyer/error.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tyer::kit {

class naive_resource {
 public:
  enum class state { waiting, handed_over, holding, ghost };
  struct person {
    id who;
    mode how;
    std::uint32_t take, capacity;
    state is;
    store_time until;
    milliseconds waiter_ttl, delay;
    std::uint64_t seen, part = 0;
    bool upgrading = false;
    std::set<std::uint32_t> slots = {};
  };
  struct verdict {
    enum { granted, queued, busy, refused } what;
    std::uint64_t number = 0;  // part, or how many are ahead
    std::set<std::uint32_t> slots = {};
    friend bool operator==(const verdict&, const verdict&) = default;
  };

  std::vector<person> all;  // in the order they came
  std::vector<id> woken;    // by the last operation

  verdict acquire(const request& r, store_time now) {
    pass(now);
    const bool permits = r.what.how == mode::permit;
    if (permits && (r.take == 0 || r.take > r.capacity)) return {verdict::refused};
    for (const person& p : all) {
      if (permits && p.is != state::waiting && p.how == mode::permit && p.capacity != r.capacity)
        return {verdict::refused};
    }
    if (person* p = living(r.what.who)) {
      if (p->is == state::waiting) {
        if (p->how != r.what.how || p->take != r.take) return {verdict::refused};
        p->until = std::max(p->until, now + r.waiter_ttl);
        p->seen = std::max(p->seen, r.seen);
        return {verdict::queued, ahead_of(*p)};
      }
      if (p->upgrading && r.what.how == mode::exclusive) return {verdict::queued, 0};
      if (p->how != r.what.how && !(p->how == mode::exclusive && r.what.how == mode::shared)) return {verdict::refused};
      p->is = state::holding;
      p->until = std::max(p->until, now + r.ttl);
      return {verdict::granted, p->part, p->slots};
    }
    person p{r.what.who,         r.what.how,   r.take,       r.capacity, state::waiting,
             now + r.waiter_ttl, r.waiter_ttl, r.lock_delay, r.seen};
    if (first_waiter() == nullptr && upgrader() == nullptr && may(p)) {
      take_place(p, now);
      p.is = state::holding;
      p.until = now + r.ttl;
      remove_ghost(p.who);
      all.push_back(p);
      return {verdict::granted, p.part, p.slots};
    }
    if (!r.enqueue) return {verdict::busy};
    all.push_back(p);
    return {verdict::queued, ahead_of(all.back())};
  }

  fate keep(const id& who, fate as, milliseconds ttl, store_time now) {
    pass(now);
    person* p = living(who);
    if (p == nullptr) return fate::gone;
    const bool waits = p->is == state::waiting;
    if (p->is == state::handed_over) return as == fate::waiting ? fate::holding : fate::waiting;
    if (waits == (as == fate::waiting)) p->until = std::max(p->until, now + ttl);
    return waits ? fate::waiting : fate::holding;
  }

  fate release(const id& who, bool clean, store_time now) {
    pass(now);
    const fate was = end(who, clean, now);
    if (clean) remove_ghost(who);
    serve(now);
    return was;
  }

  fate evict(const id& who, store_time now) {
    pass(now);
    const fate was = end(who, false, now);
    serve(now);
    return was;
  }

  verdict convert(const id& who, mode to, store_time now) {
    pass(now);
    person* p = living(who);
    if (p == nullptr || p->is == state::waiting || p->how == mode::permit || to == mode::permit)
      return {verdict::refused};
    if (to == mode::shared) {
      p->upgrading = false;
      if (p->how == mode::exclusive) {
        p->how = mode::shared;
        p->part = next(0, now);
      }
      const auto part = p->part;
      serve(now);
      return {verdict::granted, part};
    }
    if (p->how == mode::exclusive) return {verdict::granted, p->part};
    if (upgrader() != nullptr && upgrader() != p) return {verdict::busy};
    p->upgrading = true;
    if (occupants() > 1) return {verdict::queued, 0};
    upgrade(*p, now);
    return {verdict::granted, p->part};
  }

  fate lift(const id& who, std::uint64_t part, store_time now) {
    pass(now);
    person* p = living(who);
    if (p == nullptr || p->is != state::holding || p->how != mode::exclusive || part < p->part) return fate::gone;
    p->part = last_ = part;
    return fate::holding;
  }

  std::size_t ask(store_time now) {
    pass(now);
    return static_cast<std::size_t>(std::ranges::count_if(
        all, [](const person& p) { return p.is == state::holding || p.is == state::handed_over; }));
  }

  std::uint64_t last_part() const { return last_; }
  bool waits(const id& who) {
    const person* p = living(who);
    return p != nullptr && p->is == state::waiting;
  }

 private:
  // Time has passed: what is over goes, or haunts its place, and whoever is next has its turn.
  void pass(store_time now) {
    woken.clear();
    for (person& p : all) {
      if (p.is != state::holding || p.until > now) continue;
      p.is = state::ghost;
      p.upgrading = false;
    }
    std::erase_if(all, [&](const person& p) { return (p.is == state::ghost ? p.until + p.delay : p.until) <= now; });
    serve(now);
  }

  void serve(store_time now) {
    if (person* u = upgrader()) {
      if (occupants() > 1) return;
      upgrade(*u, now);
      woken.push_back(u->who);
    }
    for (person* w = first_waiter(); w != nullptr && may(*w); w = first_waiter()) {
      const id who = w->who;
      take_place(*w, now);
      w->is = state::handed_over;
      w->until = now + w->waiter_ttl;
      remove_ghost(who);  // whoever has it now is who had it then
      woken.push_back(who);
    }
  }

  bool may(const person& x) const {
    std::size_t taken = 0;
    for (const person& p : all) {
      if (p.is == state::waiting) continue;
      if (x.how == mode::exclusive || p.how != x.how || (x.how == mode::permit && p.capacity != x.capacity))
        return false;
      taken += p.slots.size();
    }
    return x.how != mode::permit || taken + x.take <= x.capacity;
  }

  void take_place(person& x, store_time now) {
    x.part = next(x.seen, now);
    for (std::uint32_t slot = 0; x.how == mode::permit && x.slots.size() < x.take; ++slot) {
      const bool taken = std::ranges::any_of(
          all, [&](const person& p) { return p.is != state::waiting && p.who != x.who && p.slots.contains(slot); });
      if (!taken) x.slots.insert(slot);
    }
  }

  fate end(const id& who, bool clean, store_time now) {
    person* p = living(who);
    if (p == nullptr) return fate::gone;
    const fate was = p->is == state::waiting ? fate::waiting : fate::holding;
    if (p->is == state::holding && !clean && p->delay.count() > 0) {
      p->is = state::ghost;
      p->until = now;
      p->upgrading = false;
    } else {
      std::erase_if(all, [&](const person& x) { return &x == p; });
    }
    return was;
  }

  void upgrade(person& p, store_time now) {
    p.how = mode::exclusive;
    p.upgrading = false;
    p.part = next(0, now);
  }
  std::uint64_t next(std::uint64_t seen, store_time now) {
    const auto time = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
    return last_ = std::max({last_ + 1, seen + 1, static_cast<std::uint64_t>(time)});
  }

  void remove_ghost(const id& who) {
    std::erase_if(all, [&](const person& p) { return p.is == state::ghost && p.who == who; });
  }
  person* living(const id& who) {
    const auto at = std::ranges::find_if(all, [&](const person& p) { return p.who == who && p.is != state::ghost; });
    return at == all.end() ? nullptr : &*at;
  }
  person* first_waiter() {
    const auto at = std::ranges::find(all, state::waiting, &person::is);
    return at == all.end() ? nullptr : &*at;
  }
  person* upgrader() {
    const auto at = std::ranges::find(all, true, &person::upgrading);
    return at == all.end() ? nullptr : &*at;
  }
  std::size_t occupants() const {
    return all.size() - static_cast<std::size_t>(std::ranges::count(all, state::waiting, &person::is));
  }
  std::uint64_t ahead_of(const person& p) const {
    return static_cast<std::uint64_t>(
        std::count_if(all.data(), &p, [](const person& x) { return x.is == state::waiting; }));
  }

  std::uint64_t last_ = 0;
};

}  // namespace tyer::kit
