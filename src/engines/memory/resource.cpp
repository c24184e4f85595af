#include "engines/memory/resource.hpp"

#include "core/token.hpp"

#include <tyer/error.hpp>

#include <algorithm>
#include <utility>

namespace tyer::memory {

namespace {

using engine::busy;
using engine::granted;
using engine::queued;
using engine::why;

engine::failure no(why kind, errc code, std::string words) { return {kind, make_error_code(code), std::move(words)}; }

engine::failure refused(std::string words) { return no(why::refused, errc::refused, std::move(words)); }

std::uint64_t micros(time_point now) noexcept {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  return since > 0 ? static_cast<std::uint64_t>(since) : 0;
}

// Rounded down: what is promised must be there.
milliseconds left(time_point until, time_point now) { return std::chrono::floor<milliseconds>(until - now); }

// An unclaimed hand-over was never used, so its loss leaves nothing behind that a delay would have to cover.
time_point usable_after(const resource::hold& h) { return h.claimed ? h.expires + h.lock_delay : h.expires; }

}  // namespace

// --- the operations ---

result<answer> resource::acquire(const request& r, time_point now, notices& out) {
  reap(now, out);
  if (auto f = objection(r)) return *std::move(f);
  if (hold* h = find_hold(r.what.who)) return again(*h, r, now);
  if (const auto place = find_place(r.what.who)) return again(*place, r, now);

  if (r.what.how != mode::exclusive && holds_.size() >= limits_.holds) {
    return no(why::over_limit, errc::over_limit, std::to_string(limits_.holds) + " hold this name already");
  }
  if (passable() && fits(of(r))) {
    const auto part = next_part(r.seen, now);
    add({.who = r.what.who,
         .how = r.what.how,
         .part = part,
         .expires = now + r.ttl,
         .lock_delay = r.lock_delay,
         .owner = std::string{r.owner}},
        of(r));
    return granted{part, r.ttl, holds_.back().slots};
  }
  if (!r.enqueue) {
    // Behind a queue, it is the head's turn that counts.
    return busy{left_to_wait(queue_.empty() ? of(r) : of(queue_.front()), now)};
  }
  if (queue_.size() >= limits_.waiters) {
    return no(why::over_limit, errc::over_limit,
              std::to_string(limits_.waiters) + " are waiting for this name already");
  }
  queue_.push_back({.who = r.what.who,
                    .how = r.what.how,
                    .take = r.take,
                    .capacity = r.capacity,
                    .expires = now + r.waiter_ttl,
                    .waiter_ttl = r.waiter_ttl,
                    .lock_delay = r.lock_delay,
                    .seen = r.seen,
                    .owner = std::string{r.owner}});
  ++changes_;
  return place_in_queue(queue_.size() - 1, now);
}

fate resource::keep(const id& who, fate as, milliseconds ttl, time_point now, notices& out) {
  reap(now, out);
  ttl = std::min(ttl, limits_.ttl);
  if (hold* h = find_hold(who)) {
    // Who was handed the lock while it kept its place does not know it yet: the claim must say so. Whoever says that it
    // holds what it has not claimed has been forgotten, as after a restart from an old copy.
    if (as == fate::waiting) return fate::holding;
    if (!h->claimed) return fate::waiting;
    h->expires = std::max(h->expires, now + ttl);
    return fate::holding;
  }
  if (const auto place = find_place(who)) {
    if (as == fate::waiting) queue_[*place].expires = std::max(queue_[*place].expires, now + ttl);
    return fate::waiting;
  }
  return fate::gone;
}

fate resource::release(const id& who, bool clean, time_point now, notices& out) {
  reap(now, out);
  const fate was = remove(who, clean, now);
  if (clean) lay_ghost(who);  // it was gone already, and so the answer says
  turn(now, out);
  return was;
}

result<answer> resource::convert(const id& who, mode to, time_point now, notices& out) {
  reap(now, out);
  hold* const h = find_hold(who);
  if (h == nullptr) return no(why::refused, errc::lost, "there is no such hold to convert");
  if (h->how == mode::permit || to == mode::permit) {
    return no(why::unsupported, errc::unsupported, "permits cannot be converted");
  }
  if (to == mode::shared) {  // also takes back an upgrade that still waits
    if (h->how == mode::exclusive) {
      h->how = mode::shared;
      h->part = next_part(0, now);  // a gate has seen the old one as exclusive
      ++changes_;
    }
    h->upgrading = false;
    const granted g{h->part, left(h->expires, now)};
    turn(now, out);  // last: it may move the holds
    return g;
  }
  if (h->how == mode::shared) {
    const hold* other = find_upgrade();
    // Two that wait for each other's shared hold would wait for ever: the second must let go instead.
    if (other != nullptr && other != h) return busy{left_to_wait({}, now)};
    if (holds_.size() > 1) {
      h->upgrading = true;
      return queued{0, left_to_wait({}, now)};
    }
    make_exclusive(*h, now);
  }
  return granted{h->part, left(h->expires, now), {}};
}

// The floor is the part of the only hold, so a part that is not above it is another attempt's, or this one's already.
fate resource::lift(const id& who, std::uint64_t part, time_point now, notices& out) {
  reap(now, out);
  hold* const h = find_hold(who);
  if (h == nullptr || h->how != mode::exclusive || !h->claimed || part < h->part || part > core::part_max) {
    return fate::gone;
  }
  h->part = last_part_ = part;
  return fate::holding;
}

std::uint32_t resource::ask(std::string_view reason, time_point now, notices& out) {
  reap(now, out);
  std::uint32_t asked = 0;
  for (const hold& h : holds_) {
    if (h.ghost) continue;
    out.push_back({h.who, notice::kind::asked, std::string{reason}});
    ++asked;
  }
  return asked;
}

fate resource::evict(const id& who, std::string_view reason, time_point now, notices& out) {
  reap(now, out);
  const fate was = remove(who, false, now);
  if (was == fate::gone) return was;
  out.push_back({who, notice::kind::gone, std::string{reason}});
  turn(now, out);
  return was;
}

void resource::reap(time_point now, notices& out) {
  if (forgotten_at() <= now) last_part_ = 0;
  for (hold& h : holds_) {
    if (h.ghost || h.expires > now) continue;
    h.ghost = true;  // if only until the next line
    h.upgrading = false;
    ++changes_;
  }
  std::erase_if(holds_, [&](const hold& h) { return usable_after(h) <= now; });
  changes_ += std::erase_if(queue_, [&](const waiter& w) { return w.expires <= now; });
  turn(now, out);
  used_ = std::max(used_, now);
}

// --- acquire, in its parts ---

std::optional<engine::failure> resource::objection(const request& r) const {
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

// It is already mine: the repetition of a request whose answer was lost, or the claim after a hand-over.
result<answer> resource::again(hold& h, const request& r, time_point now) {
  if (h.upgrading && r.what.how == mode::exclusive) return queued{0, left_to_wait({}, now)};
  const bool strong_enough = h.how == r.what.how || (h.how == mode::exclusive && r.what.how == mode::shared);
  if (!strong_enough) return refused("this id holds the lock in another mode");
  h.claimed = true;
  h.expires = std::max(h.expires, now + r.ttl);  // never earlier: an answer before may have promised more
  return granted{h.part, r.ttl, h.slots};
}

result<answer> resource::again(std::size_t place, const request& r, time_point now) {
  waiter& w = queue_[place];
  if (w.how != r.what.how || w.take != r.take) return refused("this id waits for the lock in another mode");
  w.expires = std::max(w.expires, now + r.waiter_ttl);
  w.seen = std::max(w.seen, r.seen);
  return place_in_queue(place, now);
}

// The head asks again when it could have its turn; the others only have to find out that they have become the head.
answer resource::place_in_queue(std::size_t place, time_point now) const {
  const waiter& w = queue_[place];
  const auto look_again = place == 0 ? left_to_wait(of(w), now) : std::max(w.waiter_ttl, milliseconds{1});
  return queued{static_cast<std::uint32_t>(place), look_again};
}

// --- who may have it, and when ---

bool resource::fits(const demand& d) const noexcept {
  if (holds_.empty()) return true;
  if (d.how == mode::exclusive || holds_.size() >= limits_.holds) return false;
  std::size_t taken = 0;
  for (const hold& h : holds_) {
    if (h.how != d.how) return false;
    taken += h.slots.size();
  }
  return d.how == mode::shared || (d.capacity == capacity_ && taken + d.take <= capacity_);
}

bool resource::passable() const noexcept { return queue_.empty() && std::ranges::none_of(holds_, &hold::upgrading); }

// If nobody renews, and nobody else were waiting.
time_point resource::free_at(demand d) const {
  // Behind an upgrade everything must go, the upgraded hold as the last.
  if (std::ranges::any_of(holds_, &hold::upgrading)) d = {};
  if (fits(d)) return {};
  std::vector<const hold*> in_the_way;
  std::size_t taken = 0;
  for (const hold& h : holds_) {
    in_the_way.push_back(&h);
    taken += h.slots.size();
  }
  std::ranges::sort(in_the_way, {}, [](const hold* h) { return usable_after(*h); });
  time_point at;
  for (const hold* h : in_the_way) {
    at = usable_after(*h);
    taken -= h->slots.size();
    const bool enough = d.how == mode::shared || (d.capacity == capacity_ && taken + d.take <= capacity_);
    if (d.how != mode::exclusive && h->how == d.how && enough) break;
  }
  return at;
}

// Rounded up, so that whoever asks again then finds it expired.
milliseconds resource::left_to_wait(const demand& d, time_point now) const {
  return std::max(milliseconds{1}, std::chrono::ceil<milliseconds>(free_at(d) - now));
}

time_point resource::forgotten_at() const noexcept {
  auto last = used_;
  for (const hold& h : holds_) last = std::max(last, usable_after(h));
  for (const waiter& w : queue_) last = std::max(last, w.expires);
  if (limits_.tombstone_ttl == milliseconds::max()) return time_point::max();
  const auto at_last = last + limits_.tombstone_ttl;
  if (!limits_.steady || last_part_ >= micros(at_last)) return at_last;
  return std::max(last, time_point{std::chrono::microseconds{last_part_ + 1}});
}

// --- changes ---

// Counts on where a floor is known, and never below the time: if the floor was lost, the time has still moved on.
std::uint64_t resource::next_part(std::uint64_t seen, time_point now) noexcept {
  last_part_ = std::max({last_part_ + 1, seen + 1, micros(now)});
  return last_part_;
}

std::vector<std::uint32_t> resource::free_slots(std::uint32_t take) const {
  std::vector<std::uint32_t> slots;
  std::vector<bool> taken(capacity_);
  for (const hold& h : holds_) {
    for (const auto slot : h.slots) taken[slot] = true;
  }
  for (std::uint32_t slot = 0; slots.size() < take; ++slot) {
    if (!taken[slot]) slots.push_back(slot);
  }
  return slots;
}

// Granted anew, an id takes the place of its own ghost: whoever has it now is who had it then.
void resource::add(hold h, const demand& d) {
  lay_ghost(h.who);
  if (h.how == mode::permit) {
    capacity_ = d.capacity;
    h.slots = free_slots(d.take);
  }
  holds_.push_back(std::move(h));
  ++changes_;
}

void resource::turn(time_point now, notices& out) {
  if (hold* h = find_upgrade()) {
    if (holds_.size() > 1) return;
    make_exclusive(*h, now);
    out.push_back({h->who, notice::kind::wake, {}});
  }
  while (!queue_.empty() && fits(of(queue_.front()))) {
    waiter w = std::move(queue_.front());
    queue_.pop_front();
    hand_over(std::move(w), now, out);
  }
}

void resource::hand_over(waiter w, time_point now, notices& out) {
  out.push_back({w.who, notice::kind::wake, {}});
  add({.who = w.who,
       .how = w.how,
       .part = next_part(w.seen, now),
       .expires = now + w.waiter_ttl,
       .lock_delay = w.lock_delay,
       .owner = std::move(w.owner),
       .claimed = false},
      of(w));
}

void resource::make_exclusive(hold& h, time_point now) {
  h.how = mode::exclusive;
  h.upgrading = false;
  h.part = next_part(0, now);
  ++changes_;
}

fate resource::remove(const id& who, bool clean, time_point now) {
  if (hold* h = find_hold(who)) {
    h->expires = now;
    h->ghost = true;
    h->upgrading = false;
    if (clean || usable_after(*h) <= now) lay_ghost(who);
    ++changes_;
    return fate::holding;
  }
  if (const auto place = find_place(who)) {
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(*place));
    ++changes_;
    return fate::waiting;
  }
  return fate::gone;
}

void resource::lay_ghost(const id& who) {
  std::erase_if(holds_, [&](const hold& h) { return h.ghost && h.who == who; });
}

resource::hold* resource::find_hold(const id& who) noexcept {
  const auto at = std::ranges::find_if(holds_, [&](const hold& h) { return !h.ghost && h.who == who; });
  return at == holds_.end() ? nullptr : &*at;
}

resource::hold* resource::find_upgrade() noexcept {
  const auto at = std::ranges::find(holds_, true, &hold::upgrading);
  return at == holds_.end() ? nullptr : &*at;
}

std::optional<std::size_t> resource::find_place(const id& who) const noexcept {
  const auto at = std::ranges::find(queue_, who, &waiter::who);
  if (at == queue_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - queue_.begin());
}

}  // namespace tyer::memory
