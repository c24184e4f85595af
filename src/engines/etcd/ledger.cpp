#include "engines/etcd/ledger.hpp"

#include "core/token.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tyer::etcd {

namespace {

using engine::busy;
using engine::granted;
using engine::queued;

constexpr std::string_view format = "T1";  // a later Tyer may write another
constexpr milliseconds ttl_max{std::chrono::hours{24 * 366}};

failure refused(std::string words) { return no(why::refused, errc::refused, std::move(words)); }

failure not_ours(const std::string& key) {
  return no(why::name_conflict, errc::name_conflict, "something that is no lock of Tyer's lies at " + key);
}

bool read_floor(const std::string& value, std::uint64_t& to) {
  const auto* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, to);
  return read.ec == std::errc{} && read.ptr == end;
}

// It keeps out all who would be alone.
bool stays_a_reader(const seat& s) {
  return !s.removed && s.record.state() == pb::Record::HOLDING && s.how() == mode::shared && !s.record.upgrading();
}

// Before a seat is written again: its part is that of the write that granted it.
void pin(seat& s) {
  if (!s.fresh && !s.granted && s.record.part() == 0 && !s.waits()) {
    s.record.set_part(s.part());
    s.record.set_place(0);
  }
  s.record.clear_line();
  s.dirty = true;
}

}  // namespace

failure no(why kind, errc code, std::string words) { return {kind, make_error_code(code), std::move(words)}; }

std::uint64_t seat::part() const {
  if (record.part() != 0) return record.part();
  return static_cast<std::uint64_t>(modified) * places_per_revision + record.place();
}

std::string write_value(const pb::Record& r) { return std::string{format} + r.SerializeAsString(); }

std::optional<pb::Record> read_value(const std::string& value) {
  pb::Record r;
  if (!value.starts_with(format) ||
      !r.ParseFromArray(value.data() + format.size(), static_cast<int>(value.size() - format.size())) ||
      r.mode() > static_cast<std::uint32_t>(mode::permit)) {
    return std::nullopt;
  }
  return r;
}

id who_is(const pb::Record& r, const id& at) {
  const auto who = id::from(r.id());
  return who ? who : at;
}

std::variant<ledger, failure> ledger::from(const keys& names, const pb::RangeResponse& read, std::int64_t revision) {
  ledger l;
  l.revision_ = l.read_at_ = revision;
  for (const auto& kv : read.kvs()) {
    const auto where = names.read(kv.key());
    if (where && !where->at) {
      if (!read_floor(kv.value(), l.floor_)) return not_ours(kv.key());
      l.floor_is_there_ = true;
      continue;
    }
    auto record = read_value(kv.value());
    if (!where || !record) return not_ours(kv.key());
    auto& s = l.seats_.emplace_back(who_is(*record, *where->at), *std::move(record), kv.create_revision(),
                                    kv.mod_revision(), kv.lease());
    s.at = *where->at;
  }
  std::ranges::stable_sort(l.seats_, {}, &seat::created);
  return l;
}

bool ledger::dirty() const {
  return floor_dirty_ || std::ranges::any_of(seats_, [](const seat& s) { return s.dirty || s.removed; });
}

seat* ledger::find(const id& who) {
  const auto at = std::ranges::find_if(seats_, [&](const seat& s) { return !s.removed && s.who == who; });
  return at == seats_.end() ? nullptr : &*at;
}

std::vector<const seat*> ledger::queue() const {
  std::vector<const seat*> all;
  for (const seat& s : seats_) {
    if (!s.removed && s.waits()) all.push_back(&s);
  }
  return all;
}

std::vector<const seat*> ledger::holds() const {
  std::vector<const seat*> all;
  for (const seat& s : seats_) {
    if (!s.removed && !s.waits()) all.push_back(&s);
  }
  return all;
}

// --- the operations ---

std::variant<answer, failure> ledger::acquire(const wish& w) {
  const auto& r = w.r;
  turn();
  if (auto f = objection(r)) return *std::move(f);
  if (seat* s = find(r.what.who)) return again(*s, w);

  seat s{.who = r.what.who, .record = place(w), .dirty = true, .fresh = true, .at = w.at};
  if (passable() && fits(of(s))) {
    if (holds().size() >= holds_max) {
      return no(why::over_limit, errc::over_limit, std::to_string(holds_max) + " hold this name already");
    }
    if (!grant(s, r.seen)) return refused("the last token there is has been given");
    s.record.set_state(pb::Record::HOLDING);
    s.record.set_lease_ms(static_cast<std::uint64_t>(w.hold_lease_ttl.count()));
    s.lease = w.hold_lease;
    seats_.push_back(std::move(s));
    return granted{0, r.ttl, seats_.back().slots()};
  }
  if (!r.enqueue) return busy{left_to_wait()};
  if (queue().size() >= w.waiters_max) return too_many(w);
  seats_.push_back(std::move(s));
  return place_of(seats_.back());
}

failure ledger::too_many(const wish& w) {
  return no(why::over_limit, errc::over_limit, std::to_string(w.waiters_max) + " are waiting for this name already");
}

bool ledger::is_too_far_back(const wish& w) const {
  const auto all = queue();
  const auto at = std::ranges::find(all, w.r.what.who, &seat::who);
  return at != all.end() && at - all.begin() >= static_cast<std::ptrdiff_t>(w.waiters_max);
}

pb::Record ledger::place(const wish& w) {
  pb::Record r;
  r.set_mode(static_cast<std::uint32_t>(w.r.what.how));
  r.set_take(w.r.take);
  r.set_capacity(w.r.capacity);
  r.set_seen(w.r.seen);
  r.set_ttl_ms(static_cast<std::uint64_t>(w.r.ttl.count()));
  r.set_waiter_ttl_ms(static_cast<std::uint64_t>(w.r.waiter_ttl.count()));
  r.set_lease_ms(static_cast<std::uint64_t>(w.place_lease_ttl.count()));
  r.set_owner(std::string{w.r.owner});
  r.set_id(std::string{w.r.what.who.view()});
  return r;
}

void ledger::wrote(std::int64_t revision) {
  std::erase_if(seats_, &seat::removed);
  for (seat& s : seats_) {
    if (!s.dirty) continue;
    if (s.fresh) s.created = revision;
    s.modified = revision;
    s.dirty = s.fresh = s.granted = false;
  }
  if (floor_dirty_) floor_is_there_ = floor_ != 0;
  floor_dirty_ = false;
  granted_ = 0;
  revision_ = revision;
}

fate ledger::remove(const id& who) {
  turn();
  seat* const s = find(who);
  if (s == nullptr) return fate::gone;
  s->removed = true;
  const auto was = s->waits() ? fate::waiting : fate::holding;
  turn();
  return was;
}

std::variant<answer, failure> ledger::convert(const id& who, mode to) {
  turn();
  seat* const s = find(who);
  if (s == nullptr || s->waits()) return no(why::refused, errc::lost, "there is no such hold to convert");
  if (s->how() == mode::permit || to == mode::permit) {
    return no(why::unsupported, errc::unsupported, "permits cannot be converted");
  }
  if (to == mode::shared) {  // also takes back an upgrade that still waits
    if (s->how() == mode::exclusive) {
      pin(*s);
      s->record.set_mode(static_cast<std::uint32_t>(mode::shared));
      if (!grant(*s, 0)) return refused("the last token there is has been given");  // a gate has seen the old one
    } else if (s->record.upgrading()) {
      pin(*s);
    }
    s->record.set_upgrading(false);
    turn();
    return granted{};
  }
  if (s->how() == mode::shared) {
    const seat* other = find_upgrade();
    // Two that wait for each other's shared hold would wait for ever: the second must let go instead.
    if (other != nullptr && other != s) return busy{left_to_wait()};
    if (holds().size() > 1) {
      if (!s->record.upgrading()) pin(*s);
      s->record.set_upgrading(true);
      return queued{0, left_to_wait()};
    }
    pin(*s);
    s->record.set_mode(static_cast<std::uint32_t>(mode::exclusive));
    s->record.set_upgrading(false);
    if (!grant(*s, 0)) return refused("the last token there is has been given");
  }
  return granted{};
}

std::uint32_t ledger::ask(std::string_view reason) {
  turn();
  std::uint32_t asked = 0;
  for (seat& s : seats_) {
    if (s.removed || s.waits()) continue;
    pin(s);
    s.record.set_asked(std::string{reason});
    s.record.set_asked_count(s.record.asked_count() + 1);
    ++asked;
  }
  return asked;
}

// --- acquire, in its parts ---

std::optional<failure> ledger::objection(const engine::request& r) const {
  const auto in_range = [&](milliseconds t) { return t >= milliseconds{0} && t <= ttl_max; };
  if (r.lock_delay != milliseconds{0}) {
    return no(why::unsupported, errc::unsupported, "etcd has no lock delay: a lease that ends takes its keys with it");
  }
  if (r.ttl < milliseconds{1} || !in_range(r.ttl)) return refused("the ttl is out of its range");
  if (!in_range(r.waiter_ttl)) return refused("the waiter ttl is out of its range");
  if (r.seen >= core::part_max) return refused("the token the client has seen is the last one there is");
  if (r.what.how != mode::permit) return std::nullopt;
  if (r.take == 0 || r.take > r.capacity) {
    return refused("cannot take " + std::to_string(r.take) + " of " + std::to_string(r.capacity) + " permits");
  }
  if (r.capacity > capacity_max) {
    return no(why::over_limit, errc::over_limit, "at most " + std::to_string(capacity_max) + " permits");
  }
  const auto held = holds();
  if (!held.empty() && held.front()->how() == mode::permit && r.capacity != capacity()) {
    return no(why::refused, errc::permits_differ,
              "this name is in use with " + std::to_string(capacity()) + " permits, not " + std::to_string(r.capacity));
  }
  return std::nullopt;
}

// It is already mine: the repetition of a request whose answer was lost, or the claim after a hand-over.
std::variant<answer, failure> ledger::again(seat& s, const wish& w) {
  const mode how = w.r.what.how;
  if (s.waits()) {
    if (s.how() != how || s.record.take() != w.r.take) return refused("this id waits for the lock in another mode");
    if (!w.known) pin(s);
    return place_of(s);
  }
  if (s.record.upgrading() && how == mode::exclusive) return queued{0, left_to_wait()};
  const bool strong_enough = s.how() == how || (s.how() == mode::exclusive && how == mode::shared);
  if (!strong_enough) return refused("this id holds the lock in another mode");
  const auto length = static_cast<std::uint64_t>(w.hold_lease_ttl.count());
  if (s.record.state() == pb::Record::HANDED_OVER || s.record.lease_ms() < length || !w.known) {
    pin(s);
    s.record.set_state(pb::Record::HOLDING);
    s.record.set_ttl_ms(std::max(s.record.ttl_ms(), static_cast<std::uint64_t>(w.r.ttl.count())));
    s.record.set_lease_ms(length);
    s.lease = w.hold_lease;
  }
  return granted{0, w.r.ttl, s.slots()};
}

// The head asks again when it could have its turn; the others only have to find out that they have become the head.
answer ledger::place_of(const seat& s) const {
  const auto all = queue();
  const auto place = static_cast<std::uint32_t>(std::ranges::find(all, s.who, &seat::who) - all.begin());
  const milliseconds lease{static_cast<std::int64_t>(s.record.waiter_ttl_ms())};
  return queued{place, place == 0 ? left_to_wait() : std::max(lease, milliseconds{1})};
}

// --- who may have it ---

ledger::demand ledger::of(const seat& s) { return {s.how(), s.record.take(), s.record.capacity()}; }

std::uint32_t ledger::capacity() const {
  const auto all = holds();
  return all.empty() ? 0 : all.front()->record.capacity();
}

bool ledger::fits(const demand& d) const {
  const auto all = holds();
  if (all.empty()) return true;
  if (d.how == mode::exclusive) return false;
  std::size_t taken = 0;
  for (const seat* s : all) {
    if (s->how() != d.how) return false;
    taken += static_cast<std::size_t>(s->record.slots_size());
  }
  return d.how == mode::shared || (d.capacity == capacity() && taken + d.take <= capacity());
}

bool ledger::passable() const {
  return queue().empty() && std::ranges::none_of(holds(), [](const seat* s) { return s->record.upgrading(); });
}

// At most: if nobody renews.
milliseconds ledger::left_to_wait() const {
  std::uint64_t longest = 1;
  for (const seat* s : holds()) {
    const bool claimed = s->record.state() == pb::Record::HOLDING;
    longest = std::max(longest, claimed ? s->record.ttl_ms() : s->record.waiter_ttl_ms());
  }
  return milliseconds{static_cast<std::int64_t>(longest)};
}

const seat* ledger::company_of_new_reader() const {
  if (floor_is_there_ || floor_dirty_ || seats_.empty()) return nullptr;
  const seat& last = seats_.back();
  if (!last.fresh || !last.dirty || last.waits() || last.how() != mode::shared) return nullptr;
  const seat* company = nullptr;
  for (const seat& s : seats_) {
    if (&s == &last) continue;
    if (s.dirty || s.removed || s.waits()) return nullptr;
    if (stays_a_reader(s)) company = &s;
  }
  return company;
}

const seat* ledger::company_of_one_that_leaves() const {
  const seat *leaves = nullptr, *reader = nullptr, *before = nullptr;
  for (const seat& s : seats_) {
    if (s.dirty || floor_dirty_ || (s.removed && leaves != nullptr)) return nullptr;
    if (s.removed) leaves = &s;
    if (stays_a_reader(s)) reader = &s;
    if (leaves == nullptr && s.waits()) before = &s;
  }
  if (leaves == nullptr) return nullptr;
  if (leaves->waits()) return before;
  // One that waited to be upgraded kept others waiting.
  return leaves->how() == mode::shared && !leaves->record.upgrading() ? reader : nullptr;
}

bool ledger::somebody_waits() const {
  return std::ranges::any_of(seats_, [](const seat& s) { return !s.removed && (s.waits() || s.record.upgrading()); });
}

seat* ledger::find_upgrade() {
  const auto at = std::ranges::find_if(seats_, [](const seat& s) { return !s.removed && s.record.upgrading(); });
  return at == seats_.end() ? nullptr : &*at;
}

// --- changes ---

// The revision of the write to come is at least the next one. Only a client that has seen larger tokens, of another
// engine or of an etcd that has been set back, makes it count on from there; the floor is where that is remembered.
bool ledger::grant(seat& s, std::uint64_t seen) {
  const auto above = std::max({floor_, seen, s.record.seen()});
  if (above >= core::part_max) return false;
  s.granted = true;
  s.record.set_part(0);
  s.record.set_place(granted_++);
  if (above >= static_cast<std::uint64_t>(revision_ + 1) * places_per_revision) {
    floor_ = above + 1;
    floor_dirty_ = true;
    s.record.set_part(floor_);
    s.record.set_place(0);
  } else if (floor_ != 0) {
    floor_ = 0;  // revisions have passed it
    floor_dirty_ = true;
  }
  if (s.how() == mode::permit) give_slots(s);
  return true;
}

void ledger::give_slots(seat& s) {
  std::vector<bool> taken(s.record.capacity());
  for (const seat* other : holds()) {
    for (const auto slot : other->record.slots()) {
      if (slot < taken.size()) taken[slot] = true;
    }
  }
  s.record.clear_slots();
  for (std::uint32_t slot = 0;
       slot < taken.size() && static_cast<std::uint32_t>(s.record.slots_size()) < s.record.take(); ++slot) {
    if (!taken[slot]) s.record.add_slots(slot);
  }
}

void ledger::turn() {
  if (seat* s = find_upgrade()) {
    if (holds().size() > 1) return;
    pin(*s);
    s->record.set_mode(static_cast<std::uint32_t>(mode::exclusive));
    s->record.set_upgrading(false);
    if (!grant(*s, 0)) return;
  }
  for (seat& s : seats_) {
    if (s.removed || !s.waits()) continue;
    if (!fits(of(s))) return;
    if (granted_ >= turns_per_write) return;  // the rest by another write
    if (!grant(s, 0)) return;
    s.record.set_state(pb::Record::HANDED_OVER);
    s.dirty = true;
  }
}

}  // namespace tyer::etcd
