// resource: who may have the lock, and when; what has expired, and whose turn it is then.
#include "core/token.hpp"
#include "engines/kit/resource.hpp"

#include <algorithm>
#include <utility>

namespace tyer::kit {

namespace {

std::uint64_t micros(store_time now) noexcept {
  const auto since = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
  return since > 0 ? static_cast<std::uint64_t>(since) : 0;
}

// An unclaimed hand-over was never used, so it needs no lock delay.
store_time usable_after(const seat& s) noexcept { return s.claimed() ? s.expires + s.lock_delay : s.expires; }

}  // namespace

// --- who may have it, and when ---

bool resource::fits(const demand& d) const noexcept {
  if (holds_.empty()) return true;
  if (d.how == mode::exclusive || holds_.size() >= limits_.holds) return false;
  std::size_t taken = 0;
  for (const seat& h : holds_) {
    if (h.how != d.how) return false;
    taken += h.slots.size();
  }
  return d.how == mode::shared || (d.capacity == capacity_ && taken + d.take <= capacity_);
}

bool resource::passable() const noexcept { return waiting() == 0 && std::ranges::none_of(holds_, &seat::upgrading); }

// When the demand fits, if nobody renews and nobody else waits.
store_time resource::free_at(demand d) const {
  // If an upgrade waits, all holds must end first, the upgraded one last.
  if (std::ranges::any_of(holds_, &seat::upgrading)) d = {};
  if (fits(d)) return {};
  std::vector<const seat*> in_the_way;
  std::size_t taken = 0;
  for (const seat& h : holds_) {
    in_the_way.push_back(&h);
    taken += h.slots.size();
  }
  std::ranges::sort(in_the_way, {}, [](const seat* h) { return usable_after(*h); });
  store_time at;
  for (const seat* h : in_the_way) {
    at = usable_after(*h);
    taken -= h->slots.size();
    const bool enough = d.how == mode::shared || (d.capacity == capacity_ && taken + d.take <= capacity_);
    if (d.how != mode::exclusive && h->how == d.how && enough) break;
  }
  return at;
}

// Rounded up, so that a client that asks again then finds it expired.
milliseconds resource::left_to_wait(const demand& d, store_time now) const {
  return std::max(milliseconds{1}, std::chrono::ceil<milliseconds>(free_at(d) - now));
}

store_time resource::forgotten_at() const noexcept {
  auto last = used_;
  for (const seat& h : holds_) last = std::max(last, usable_after(h));
  for (const seat& w : queue_) last = std::max(last, w.expires);
  if (limits_.tombstone_ttl == milliseconds::max()) return store_time::max();
  const auto at_last = last + limits_.tombstone_ttl;
  if (!limits_.steady || last_part_ >= micros(at_last)) return at_last;
  return std::max(last, store_time{std::chrono::microseconds{last_part_ + 1}});
}

// --- what is over ---

void resource::reap(store_time now, notices& out) {
  needs_all_ = turns_left_ = false;
  if (limits_.stored) {
    find_leases_to_end(now);
  } else if (forgotten_at() <= now) {
    last_part_ = 0;
  }
  for (seat& h : holds_) {
    if (h.ghost() || h.lease != 0 || h.expires > now) continue;
    if (h.claimed()) haunt(h);
    ++changes_;
  }
  const auto over = [&](const seat& s) { return s.lease == 0 && usable_after(s) <= now; };
  drop(holds_, over);
  if (unread_ > 0) {
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(unread_at_);
    unread_at_ -= static_cast<std::size_t>(std::count_if(queue_.begin(), end, over));
  }
  changes_ += drop(queue_, over);
  turn(now, out);
  used_ = std::max(used_, now);
}

// As long as its lease can be renewed, a seat that looks expired may not be.
void resource::find_leases_to_end(store_time now) {
  must_end_.clear();
  const auto look_at = [&](const seat& s) {
    if (s.lease == 0 || s.expires > now || std::ranges::find(must_end_, s.lease) != must_end_.end()) return;
    must_end_.push_back(s.lease);
  };
  std::ranges::for_each(holds_, look_at);
  std::ranges::for_each(queue_, look_at);
}

void resource::haunt(seat& h) noexcept {
  h.is = seat::state::ghost;
  h.upgrading = false;
  h.lease = 0;
  h.dirty = true;
}

template <class Seats, class Which>
std::size_t resource::drop(Seats& all, Which gone) {
  if (limits_.stored) {
    std::ranges::copy_if(all, std::back_inserter(removed_), [&](const seat& s) { return !s.fresh && gone(s); });
  }
  return std::erase_if(all, gone);
}

fate resource::remove(const id& who, bool clean, store_time now) {
  if (seat* h = find_hold(who)) {
    ++changes_;
    h->expires = now;
    if (clean || usable_after(*h) <= now) {
      drop(holds_, [h](const seat& s) { return &s == h; });
    } else {
      haunt(*h);
    }
    return fate::holding;
  }
  if (const auto place = find_place(who)) {
    if (limits_.stored && !queue_[*place].fresh) removed_.push_back(std::move(queue_[*place]));
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(*place));
    if (*place < unread_at_) --unread_at_;
    ++changes_;
    return fate::waiting;
  }
  needs_all_ |= !knows_all();
  return fate::gone;
}

void resource::lay_ghost(const id& who) {
  drop(holds_, [&](const seat& h) { return h.ghost() && h.who == who; });
}

// --- whose turn it is ---

bool resource::exhausted() const noexcept { return last_part_ >= core::part_max; }

// The part is above the floor and not below the time: if the floor was lost, time has still moved on. Nor is it below the parts
// of the coming write. Only if a client has seen larger parts, from another engine or from a server that was set back, parts
// continue from there, until those of the writes have passed the floor.
void resource::stamp(seat& s, std::uint64_t seen, store_time now) noexcept {
  const auto place = granted_++;
  const auto floor = last_part_;
  const auto above = std::max(last_part_, seen);
  s.pending = limits_.stamped_by_write && above < next_part_;
  last_part_ = s.pending ? 0 : limits_.stamped_by_write ? above + 1 : std::max(above + 1, micros(now));
  s.part = s.pending ? place : last_part_;
  s.dirty = true;
  floor_dirty_ |= last_part_ != floor;
}

std::vector<std::uint32_t> resource::free_slots(std::uint32_t take) const {
  std::vector<std::uint32_t> slots;
  std::vector<bool> taken(capacity_);
  for (const seat& h : holds_) {
    for (const auto slot : h.slots) {
      if (slot < capacity_) taken[slot] = true;
    }
  }
  for (std::uint32_t slot = 0; slot < capacity_ && slots.size() < take; ++slot) {
    if (!taken[slot]) slots.push_back(slot);
  }
  return slots;
}

// An id that is granted again replaces its own ghost: it is the same owner.
void resource::add(seat&& s, store_time now) {
  lay_ghost(s.who);
  stamp(s, s.seen, now);
  if (s.how == mode::permit) {
    capacity_ = s.capacity;
    s.slots = free_slots(s.take);
  }
  holds_.push_back(std::move(s));
  ++changes_;
}

bool resource::head_is_unread() const noexcept {
  return (unread_ > 0 && unread_at_ == 0) || (unread_at_end_ > 0 && queue_.empty());
}

void resource::turn(store_time now, notices& out) {
  if (exhausted()) return;
  if (seat* h = find_upgrade()) {
    if (holds_.size() > 1) return;
    make_exclusive(*h, now);
    out.push_back({h->who, notice::kind::wake, {}});
  }
  while (!queue_.empty() && !head_is_unread() && fits(of(queue_.front()))) {
    if (granted_ >= limits_.turns) {
      turns_left_ = true;
      return;
    }
    seat s = std::move(queue_.front());
    queue_.pop_front();
    if (unread_at_ > 0) --unread_at_;
    s.is = seat::state::handed_over;
    s.expires = now + s.waiter_ttl;
    out.push_back({s.who, notice::kind::wake, {}});
    add(std::move(s), now);
  }
  // It may be the turn of an unread head, if it can share with the holders. Hand-overs made so far stay right, whoever comes
  // next.
  if (head_is_unread() && (holds_.empty() || holds_.front().how != mode::exclusive)) {
    (granted_ > 0 ? turns_left_ : needs_all_) = true;
  }
}

void resource::make_exclusive(seat& h, store_time now) {
  h.how = mode::exclusive;
  h.upgrading = false;
  stamp(h, 0, now);
  ++changes_;
}

// --- who is there ---

seat* resource::find(const id& who) noexcept {
  if (seat* h = find_hold(who)) return h;
  const auto place = find_place(who);
  return place ? &queue_[*place] : nullptr;
}

seat* resource::find_hold(const id& who) noexcept {
  const auto at = std::ranges::find_if(holds_, [&](const seat& h) { return !h.ghost() && h.who == who; });
  return at == holds_.end() ? nullptr : &*at;
}

seat* resource::find_upgrade() noexcept {
  const auto at = std::ranges::find(holds_, true, &seat::upgrading);
  return at == holds_.end() ? nullptr : &*at;
}

std::optional<std::size_t> resource::find_place(const id& who) const noexcept {
  const auto at = std::ranges::find(queue_, who, &seat::who);
  if (at == queue_.end()) return std::nullopt;
  return static_cast<std::size_t>(at - queue_.begin());
}

}  // namespace tyer::kit
