#include "engines/etcd/ledger.hpp"

#include "core/name.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tyer::etcd {

namespace {

constexpr std::string_view format = "T1";  // a later Tyer may write another
constexpr kit::store_time now{};           // always: what is over was not read, or is dropped

// Of a key that nobody should have written, no more than what is counted with.
milliseconds length(std::uint64_t ms) {
  const auto most = static_cast<std::uint64_t>(kit::limits{}.ttl.count());
  return milliseconds{static_cast<std::int64_t>(std::min(ms, most))};
}

failure not_ours(const std::string& key) {
  return no(why::name_conflict, errc::name_conflict,
            "something that is no lock of Tyer's lies at " + core::quoted(key));
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

bool claims(const seat& s) {
  return !s.fresh && !s.granted && s.was == pb::Record::HANDED_OVER && s.record.state() == pb::Record::HOLDING;
}

// How long a hold lasts at most, if nobody renews it.
milliseconds lasts(const seat& s) {
  if (s.waits()) return {};
  return length(s.record.state() == pb::Record::HOLDING ? s.record.ttl_ms() : s.record.waiter_ttl_ms());
}

// What the decider has to know.
kit::seat to_decide(const seat& s) {
  using state = kit::seat::state;
  const pb::Record& r = s.record;
  return {.who = s.who,
          .how = s.how(),
          .is = s.waits()                          ? state::waiting
                : r.state() == pb::Record::HOLDING ? state::holding
                                                   : state::handed_over,
          .upgrading = r.upgrading(),
          .take = r.take(),
          .capacity = r.capacity(),
          .slots = s.slots(),
          .part = s.granted ? r.place() : s.part(),
          .seen = r.seen(),
          .expires = kit::store_time::max(),
          .ttl = length(r.ttl_ms()),
          .waiter_ttl = length(r.waiter_ttl_ms()),
          .pending = s.granted};
}

}  // namespace

std::uint64_t seat::part() const {
  if (waits()) return 0;
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

std::optional<failure> ledger::objection(const engine::request& r) {
  if (r.lock_delay != milliseconds{0}) {
    return no(why::unsupported, errc::unsupported, "etcd has no lock delay: a lease that ends takes its keys with it");
  }
  return kit::resource{}.objection(r);
}

std::variant<answer, failure> ledger::acquire(const wish& w) {
  if (auto f = objection(w.r)) return *std::move(f);
  auto name = decider(w.waiters_max);
  kit::notices told;
  auto said = name.acquire(w.r, now, told);
  kit::seat* const s = name.find(w.r.what.who);
  if (s != nullptr && s->fresh) {
    seats_.push_back({.who = s->who, .record = place(w), .fresh = true, .at = w.at});
  }
  const auto* const is = std::get_if<answer>(&said);
  if (is != nullptr && s != nullptr) keep_by_lease(*s, std::holds_alternative<engine::granted>(*is), w);
  mark(name);
  return said;
}

// What is not known to be mine is written again, and so is a hold that needs a longer lease.
void ledger::keep_by_lease(kit::seat& s, bool granted, const wish& w) {
  seat& mine = of(s);
  const auto enough = static_cast<std::uint64_t>(w.hold_lease_ttl.count());
  if (s.waits() || granted) s.dirty |= !w.known;
  if (!granted) return;
  s.dirty |= mine.record.lease_ms() < enough;
  if (!s.dirty) return;
  mine.record.set_lease_ms(enough);
  mine.lease = w.hold_lease;
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
  revision_ = revision;
}

// Whoever has its turn hears of it at its own key, so nobody is told here.
template <class F>
auto ledger::decide(F f) {
  auto name = decider();
  kit::notices told;
  auto said = f(name, told);
  mark(name);
  return said;
}

fate ledger::remove(const id& who) {
  return decide([&](kit::resource& name, kit::notices& told) { return name.release(who, true, now, told); });
}

std::variant<answer, failure> ledger::convert(const id& who, mode to) {
  return decide([&](kit::resource& name, kit::notices& told) { return name.convert(who, to, now, told); });
}

// One that has its turn in this write is among the asked; else nothing but that is marked, and it can be left for another write.
std::vector<id> ledger::ask(std::string_view reason, const std::set<id>& already) {
  const auto before = seats_;
  decide([&](kit::resource& name, kit::notices& told) { return name.ask(reason, now, told); });
  std::vector<id> asked;
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (!seats_[i].dirty || seats_[i].waits()) continue;
    const bool left_out = already.contains(seats_[i].who) || asked.size() >= asked_per_write;
    left_out && !seats_[i].granted && !before[i].dirty ? void(seats_[i] = before[i]) : asked.push_back(seats_[i].who);
  }
  return asked;
}

void ledger::turn() {
  decide([](kit::resource& name, kit::notices& told) {
    name.reap(now, told);
    return true;
  });
}

bool ledger::only_claims() const {
  if (floor_dirty_ || !dirty()) return false;
  return std::ranges::all_of(seats_, [](const seat& s) { return !s.removed && (!s.dirty || claims(s)); });
}

bool ledger::only_turns_of_permits() const {
  if (floor_is_there_ || floor_dirty_ || !dirty()) return false;
  const auto turns = [](const seat& s) {
    return s.how() == mode::permit && !s.fresh && s.granted && s.was == pb::Record::WAITING;
  };
  return std::ranges::all_of(seats_, [&](const seat& s) { return !s.removed && (!s.dirty || claims(s) || turns(s)); });
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

// --- the decider, and what it has decided ---

// A seat is known to it by its number here. A waiter is told to look again when the last of the holds would be over: when one of
// them was renewed, nobody knows.
kit::resource ledger::decider(std::size_t waiters_max) const {
  kit::limits l;
  l.waiters = waiters_max;
  l.stored = l.stamped_by_write = true;
  l.turns = turns_per_write;
  kit::resource name{l};
  name.put_floor(floor_);
  name.put_next_part(static_cast<std::uint64_t>(revision_ + 1) * places_per_revision);
  milliseconds longest{1};
  for (const seat& s : seats_) longest = std::max(longest, s.removed ? milliseconds{} : lasts(s));
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (seats_[i].removed) continue;
    auto s = to_decide(seats_[i]);
    s.created = static_cast<std::int64_t>(i + 1);
    if (!s.waits()) s.expires = now + longest;
    name.put(std::move(s));
  }
  return name;
}

seat& ledger::of(const kit::seat& s) {
  return s.created == 0 ? seats_.back() : seats_[static_cast<std::size_t>(s.created - 1)];
}

void ledger::mark(const kit::resource& name) {
  for (const kit::seat& s : name.removed()) of(s).removed = true;
  for (const kit::seat& s : name.holds()) mark(s);
  for (const kit::seat& s : name.queue()) mark(s);
  floor_ = name.last_part();
  floor_dirty_ |= name.floor_dirty();
}

// Written again, it has the part of the write that granted it.
void ledger::mark(const kit::seat& d) {
  if (!d.dirty) return;
  seat& s = of(d);
  pb::Record& r = s.record;
  if (!s.dirty) s.was = r.state();
  s.dirty = true;
  s.granted = d.pending;
  r.set_mode(static_cast<std::uint32_t>(d.how));
  r.set_state(d.waits() ? pb::Record::WAITING : d.claimed() ? pb::Record::HOLDING : pb::Record::HANDED_OVER);
  r.set_upgrading(d.upgrading);
  r.mutable_slots()->Assign(d.slots.begin(), d.slots.end());
  r.set_part(d.pending ? 0 : d.part);
  r.set_place(d.pending ? static_cast<std::uint32_t>(d.part) : 0);
  r.set_seen(d.seen);
  r.set_ttl_ms(static_cast<std::uint64_t>(d.ttl.count()));
  r.clear_line();
  if (d.times_asked == 0) return;
  r.set_asked(d.asked);
  r.set_asked_count(r.asked_count() + d.times_asked);
}

}  // namespace tyer::etcd
