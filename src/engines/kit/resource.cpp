// The operations, and the marks for a write. resource_turns.cpp decides who may have the lock, and when.
#include "engines/kit/resource.hpp"

#include "core/token.hpp"

#include <algorithm>
#include <utility>

namespace tyer::kit {

namespace {

using engine::busy;
using engine::granted;
using engine::queued;

failure refused(std::string_view words) { return no(why::refused, errc::refused, words); }
failure no_token() { return refused("the last token there is has been given"); }

// Rounded down: never promise more than there is.
milliseconds left(store_time until, store_time now) { return std::chrono::floor<milliseconds>(until - now); }

std::uint64_t told_part(const seat& s) noexcept { return s.pending ? 0 : s.part; }

}  // namespace

failure too_many_wait(std::size_t limit) {
  return no(why::over_limit, errc::over_limit, std::to_string(limit) + " are waiting for this name already");
}

// --- the operations ---

result<answer> resource::acquire(const request& r, store_time now, notices& out) {
  reap(now, out);
  if (auto f = objection(r)) return *std::move(f);
  if (seat* s = find(r.what.who)) return again(*s, r, now);

  if (r.what.how != mode::exclusive && holds_.size() >= limits_.holds) {
    return no(why::over_limit, errc::over_limit, std::to_string(limits_.holds) + " hold this name already");
  }
  const bool has_it = passable() && fits(of(r));
  if (!has_it && !r.enqueue) {
    // If there is a queue, the time until the head's turn counts.
    return busy{left_to_wait(queue_.empty() ? of(r) : of(queue_.front()), now)};
  }
  if (!has_it && waiting() >= limits_.waiters) return too_many_wait(limits_.waiters);
  if (has_it && exhausted()) return no_token();
  seat s{.who = r.what.who,
         .how = r.what.how,
         .is = has_it ? seat::state::holding : seat::state::waiting,
         .take = r.take,
         .capacity = r.capacity,
         .seen = r.seen,
         .expires = now + (has_it ? r.ttl : r.waiter_ttl),
         .ttl = r.ttl,
         .waiter_ttl = r.waiter_ttl,
         .lock_delay = r.lock_delay,
         .owner = std::string{r.owner},
         .fresh = true,
         .dirty = true};
  if (has_it) {
    add(std::move(s), now);
    return granted{told_part(holds_.back()), r.ttl, holds_.back().slots};
  }
  line_up(std::move(s));
  ++changes_;
  return place_in_queue(queue_.size() - 1, now);
}

fate resource::keep(const id& who, fate as, milliseconds ttl, store_time now, notices& out) {
  reap(now, out);
  ttl = std::min(ttl, limits_.ttl);
  if (seat* h = find_hold(who)) {
    // A waiter that was handed the lock while it renewed its place does not know it yet: it must claim. A client that renews as
    // a holder what it has not claimed was forgotten by us, as after a restart from an old copy.
    if (as == fate::waiting) return fate::holding;
    if (!h->claimed()) return fate::waiting;
    extend(*h, now + ttl);
    return fate::holding;
  }
  if (const auto place = find_place(who)) {
    if (as == fate::waiting) extend(queue_[*place], now + ttl);
    return fate::waiting;
  }
  needs_all_ |= !knows_all();
  return fate::gone;
}

fate resource::release(const id& who, bool clean, store_time now, notices& out) {
  reap(now, out);
  const fate was = remove(who, clean, now);
  if (clean) lay_ghost(who);  // the hold was gone already, and the answer says so
  turn(now, out);
  return was;
}

result<answer> resource::convert(const id& who, mode to, store_time now, notices& out) {
  reap(now, out);
  seat* const h = find_hold(who);
  if (h == nullptr) return no(why::refused, errc::lost, "there is no such hold to convert");
  if (h->how == mode::permit || to == mode::permit) {
    return no(why::unsupported, errc::unsupported, "permits cannot be converted");
  }
  if (h->how != to && exhausted()) return no_token();
  if (to == mode::shared) {  // also cancels a waiting upgrade
    h->dirty |= h->upgrading || h->how == mode::exclusive;
    if (h->how == mode::exclusive) {
      h->how = mode::shared;
      stamp(*h, 0, now);  // a fence has seen the old token as exclusive
      ++changes_;
    }
    h->upgrading = false;
    const granted g{told_part(*h), left(h->expires, now)};
    turn(now, out);  // last: it may move the holds
    return g;
  }
  if (h->how == mode::shared) {
    const seat* other = find_upgrade();
    // Two holders that wait for each other's shared hold would wait for ever: the second must release instead.
    if (other != nullptr && other != h) return busy{left_to_wait({}, now)};
    if (holds_.size() > 1) {
      h->dirty |= !h->upgrading;
      h->upgrading = true;
      return queued{0, left_to_wait({}, now)};
    }
    make_exclusive(*h, now);
  }
  return granted{told_part(*h), left(h->expires, now), {}};
}

// The floor is the part of the only hold, so a part that is not above it belongs to another attempt, or to this one already.
fate resource::lift(const id& who, std::uint64_t part, store_time now, notices& out) {
  reap(now, out);
  seat* const h = find_hold(who);
  if (h == nullptr || h->how != mode::exclusive || !h->claimed() || part < h->part || part > core::part_max) {
    return fate::gone;
  }
  h->part = last_part_ = part;
  h->dirty = floor_dirty_ = true;
  return fate::holding;
}

std::uint32_t resource::ask(std::string_view reason, store_time now, notices& out) {
  reap(now, out);
  std::uint32_t asked = 0;
  for (seat& h : holds_) {
    if (h.ghost()) continue;
    out.push_back({h.who, notice::kind::asked, std::string{reason}});
    h.asked = reason;
    ++h.times_asked;
    h.dirty = true;
    ++asked;
  }
  return asked;
}

fate resource::evict(const id& who, std::string_view reason, store_time now, notices& out) {
  reap(now, out);
  const fate was = remove(who, false, now);
  if (was == fate::gone) return was;
  out.push_back({who, notice::kind::gone, std::string{reason}});
  turn(now, out);
  return was;
}

// --- parts of acquire ---

std::optional<failure> resource::objection(const request& r) const {
  const auto in_range = [&](milliseconds t) { return t >= milliseconds{0} && t <= limits_.ttl; };
  if (r.ttl < milliseconds{1} || !in_range(r.ttl)) return refused("the ttl is out of its range");
  if (!in_range(r.waiter_ttl) || !in_range(r.lock_delay)) {
    return refused("the waiter ttl or the lock delay is out of its range");
  }
  if (r.seen >= core::part_max) return refused("the token the client has seen is the last one there is");
  if (r.what.how != mode::permit) return std::nullopt;

  if (r.take == 0 || r.take > r.capacity) {
    return refused("cannot take " + std::to_string(r.take) + " of " + std::to_string(r.capacity) + " permits");
  }
  if (r.capacity > limits_.capacity) {
    return no(why::over_limit, errc::over_limit, "at most " + std::to_string(limits_.capacity) + " permits");
  }
  const bool in_use = !holds_.empty() && holds_.front().how == mode::permit;
  if (in_use && r.capacity != capacity_) {
    return no(why::refused, errc::permits_differ,
              "this name is in use with " + std::to_string(capacity_) + " permits, not " + std::to_string(r.capacity));
  }
  return std::nullopt;
}

// The id already has a seat: the request is a repeat whose answer was lost, or the claim after a hand-over.
result<answer> resource::again(seat& s, const request& r, store_time now) {
  if (s.waits()) {
    if (s.how != r.what.how || s.take != r.take) return refused("this id waits for the lock in another mode");
    extend(s, now + r.waiter_ttl);
    if (r.seen > s.seen && r.seen >= next_part_) {  // the parts of a write are above the others anyway
      s.seen = r.seen;
      s.dirty = true;
    }
    return place_in_queue(*find_place(s.who), now);
  }
  if (s.upgrading && r.what.how == mode::exclusive) return queued{0, left_to_wait({}, now)};
  const bool strong_enough = s.how == r.what.how || (s.how == mode::exclusive && r.what.how == mode::shared);
  if (!strong_enough) return refused("this id holds the lock in another mode");
  s.dirty |= !s.claimed();
  s.is = seat::state::holding;
  s.ttl = std::max(s.ttl, r.ttl);
  extend(s, now + r.ttl);
  return granted{told_part(s), r.ttl, s.slots};
}

// The head asks again when its turn may have come; the others only have to notice that they have become the head.
answer resource::place_in_queue(std::size_t place, store_time now) const {
  const seat& w = queue_[place];
  const auto ahead = place < unread_at_ ? place : place + unread_;
  const auto look_again = ahead == 0 ? left_to_wait(of(w), now) : std::max(w.waiter_ttl, milliseconds{1});
  return queued{static_cast<std::uint32_t>(ahead), look_again};
}

// Never to an earlier time: an earlier answer may have promised more.
void resource::extend(seat& s, store_time until) noexcept {
  if (until <= s.expires) return;
  s.expires = until;
  s.dirty = true;
}

// --- with a server ---

void resource::put(seat s) {
  if (s.waits()) return line_up(std::move(s));
  if (s.how == mode::permit) capacity_ = s.capacity;
  if (s.pending) ++granted_;
  holds_.push_back(std::move(s));
}

// A new place goes behind all others, read or unread.
void resource::line_up(seat&& s) {
  if (unread_at_end_ > 0 && unread_ == 0) unread_at_ = queue_.size();
  unread_ += std::exchange(unread_at_end_, 0);
  queue_.push_back(std::move(s));
}

bool resource::dirty() const noexcept {
  return floor_dirty_ || !removed_.empty() || std::ranges::any_of(holds_, &seat::dirty) ||
         std::ranges::any_of(queue_, &seat::dirty);
}

void resource::wrote(std::int64_t revision, std::uint64_t parts) {
  const auto settle = [&](seat& s) {
    if (!s.dirty) return;
    if (s.fresh) s.created = revision;
    s.modified = revision;
    if (s.pending) s.part += parts;
    s.fresh = s.dirty = s.pending = false;
  };
  std::ranges::for_each(holds_, settle);
  std::ranges::for_each(queue_, settle);
  removed_.clear();
  floor_dirty_ = false;
  granted_ = 0;
}

}  // namespace tyer::kit
