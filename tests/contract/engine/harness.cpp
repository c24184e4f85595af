#include "contract/engine/harness.hpp"

#include <algorithm>
#include <cstdlib>

// The engine of the documentation (examples/file_engine), which no table knows: in a program that has it.
#pragma weak tyer_engine_file
extern "C" tyer::engine::made tyer_engine_file(tyer::core::uri&, const tyer::engine::environment&);

namespace tyer::contract {

namespace {

core::uri address() {
  const char* text = std::getenv("TYER_URI");
  auto parsed = core::parse_uri(text != nullptr ? text : "memory://contract");
  if (parsed.error) throw surprise("TYER_URI: " + parsed.error.words);
  return parsed.value;
}

engine::made make_engine(const engine::environment& e) {
  auto u = address();
  return u.scheme == "file" && tyer_engine_file != nullptr ? tyer_engine_file(u, e) : engine::make(std::move(u), e);
}

}  // namespace

engine::request want::request() const {
  return {.what = target(),
          .take = take,
          .capacity = capacity,
          .ttl = ttl,
          .waiter_ttl = waiter_ttl,
          .lock_delay = lock_delay,
          .not_after = not_after,
          .enqueue = enqueue,
          .seen = seen,
          .owner = owner};
}

client::client(std::string prefix, milliseconds request_timeout) {
  auto made = make_engine(
      {.prefix = std::move(prefix), .ids = &ids_, .clock = &clock_, .request_timeout = request_timeout, .log = {}});
  if (made.error) throw surprise("no engine: " + made.error.words);
  engine_ = std::move(made.value);
  engine_->open(*this);
  pump_until([&] { return count(event::kind::up) > 0; }, "up()");
}

bool engine_contract::goes_by_what_it_heard() { return address().scheme.starts_with("etcd"); }

milliseconds engine_contract::outlives_its_client(const want& w, const engine::granted& g) {
  if (!address().scheme.starts_with("zk")) return lasts(w, g);
  return std::max<milliseconds>(2s, w.ttl * 9 / 4) * 3 / 2;
}

void engine_contract::be_mortal(want& place) const {
  place.waiter_ttl = steady();
  const auto u = address();
  const bool of_others = std::ranges::any_of(u.query, [](const auto& q) { return q.first == "protocol"; });
  if (u.scheme.starts_with("zk") && of_others) place.ttl = place.waiter_ttl;
}

want client::wants(std::string name, mode how) { return {.who = ids_.next(), .name = std::move(name), .how = how}; }

want client::waits(std::string name, mode how) {
  return {.who = ids_.next(), .name = std::move(name), .how = how, .enqueue = true};
}

want client::permits(std::string name, std::uint32_t take, std::uint32_t capacity) {
  return {.who = ids_.next(), .name = std::move(name), .how = mode::permit, .take = take, .capacity = capacity};
}

outcome<answer> client::acquire(const want& w) {
  return call<answer>([&](auto reply) { engine_->acquire(w.request(), std::move(reply)); });
}

engine::granted client::lock(const want& w) {
  const auto o = acquire(w);
  if (const auto* g = granted_in(o)) return *g;
  throw surprise("expected a grant, was " + describe(o));
}

engine::queued client::enqueue(const want& w) {
  const auto o = acquire(w);
  if (const auto* q = queued_in(o)) return *q;
  throw surprise("expected a place in the queue, was " + describe(o));
}

engine::busy client::find_busy(const want& w) {
  const auto o = acquire(w);
  if (const auto* found = busy_in(o)) return *found;
  throw surprise("expected busy, was " + describe(o));
}

engine::failure client::find_failure(const want& w) {
  const auto o = acquire(w);
  if (const auto* f = std::get_if<engine::failure>(&o.result)) return *f;
  throw surprise("expected a failure, was " + describe(o));
}

engine::granted client::wait_turn(const want& w) {
  const auto end = now() + patience;
  std::string told;
  while (now() < end) {
    const auto woken = [&, before = count(event::kind::wake)] { return count(event::kind::wake) > before; };
    const auto o = acquire(w);
    if (const auto* g = granted_in(o)) return *g;
    const auto* q = queued_in(o);
    if (q == nullptr) throw surprise("lost its turn: " + describe(o));
    told += "; " + describe(o);
    const auto ask_again = now() + q->look_again;
    while (!woken() && now() < std::min(ask_again, end)) {
      engine_->run(std::min(ask_again, now() + w.waiter_ttl / 3));
      if (keep(w, fate::waiting, w.waiter_ttl) != fate::waiting) break;
    }
  }
  for (const auto& e : of_name(w.name)) {
    told += std::string{"; "} + (e.what == fate::holding ? "holds" : "waits") +
            (e.who == w.who ? " (this one) " : " ") + std::to_string(e.left.count()) + " ms";
  }
  throw surprise("its turn never came for " + w.name + told);
}

// On etcd the holder's own client takes away what has expired: that request is on its way by then.
engine::granted client::lock_freed(const want& w) {
  const auto end = now() + patience;
  for (;;) {
    const auto o = acquire(w);
    if (const auto* g = granted_in(o)) return *g;
    if (busy_in(o) == nullptr || now() > end) throw surprise("expected a grant, was " + describe(o));
    pump_until(now() + 5ms);
  }
}

time_point client::poll(const want& w) {
  const auto end = now() + patience;
  while (now() < end) {
    const auto o = acquire(w);
    const auto answered = now();
    if (granted_in(o) != nullptr) return answered;
    if (busy_in(o) == nullptr) throw surprise("expected granted or busy, was " + describe(o));
    pump_until(answered + 5ms);
  }
  throw surprise("never free");
}

bool client::could_lock(want w) {
  w.who = ids_.next();
  w.enqueue = false;
  const auto o = acquire(w);
  if (granted_in(o) == nullptr) {
    if (busy_in(o) == nullptr) throw surprise("expected granted or busy, was " + describe(o));
    return false;
  }
  release(w);
  return true;
}

fate client::keep(const want& w, fate as, milliseconds ttl) { return keep_all({w}, as, ttl).front(); }

std::vector<fate> client::keep_all(const std::vector<want>& all, fate as, milliseconds ttl) {
  std::vector<engine::target> targets;
  for (const want& w : all) targets.push_back(w.target());
  auto kept = value_of(call<engine::kept>([&](auto reply) { engine_->keep(targets, as, ttl, std::move(reply)); },
                                          time_point::duration{ttl} / 6));
  if (kept.fates.size() != all.size()) throw surprise("keep() answered for another number of ids than it was asked");
  if (kept.ttl > ttl) throw surprise("keep() proved more than it was asked");
  return std::move(kept.fates);
}

fate client::release(const want& w, bool clean) {
  return value_of(call<fate>([&](auto reply) { engine_->release(w.target(), clean, std::move(reply)); }));
}

outcome<answer> client::convert(const want& w, mode to) {
  return call<answer>([&](auto reply) { engine_->convert(w.target(), to, w.not_after, std::move(reply)); });
}

fate client::lift(const want& w, std::uint64_t part) {
  return value_of(call<fate>([&](auto reply) { engine_->lift(w.target(), part, std::move(reply)); }));
}

std::uint32_t client::ask(std::string_view name, std::string_view reason) {
  return value_of(call<std::uint32_t>([&](auto reply) { engine_->ask(name, reason, std::move(reply)); }));
}

fate client::evict(const want& w, std::string_view reason) {
  return value_of(call<fate>([&](auto reply) { engine_->evict(w.target(), reason, std::move(reply)); }));
}

std::vector<engine::entry> client::list(std::string_view prefix, std::uint32_t limit) {
  std::vector<engine::entry> all;
  std::string cursor;
  do {
    auto p = value_of(call<engine::page>([&](auto reply) { engine_->list(prefix, cursor, limit, std::move(reply)); }));
    for (auto& e : p.entries) {  // pages may show an entry twice
      const auto same = [&](const engine::entry& o) { return o.who == e.who && o.name == e.name && o.what == e.what; };
      if (std::ranges::none_of(all, same)) all.push_back(std::move(e));
    }
    cursor = std::move(p.cursor);
  } while (!cursor.empty());
  return all;
}

bool client::lists() {
  const auto o = call<engine::page>([&](auto reply) { engine_->list("no such name", "", 10, std::move(reply)); });
  const auto* f = std::get_if<engine::failure>(&o.result);
  return f == nullptr || f->kind != why::unsupported;
}

std::vector<engine::entry> client::of_name(const std::string& name) {
  if (lists()) return list(name, 1000);
  return value_of(call<engine::page>([&](auto reply) { engine_->show(name, std::move(reply)); })).entries;
}

std::optional<engine::entry> client::listed(const want& w) {
  for (auto& e : of_name(w.name)) {
    if (e.who == w.who && e.name == w.name) return e;
  }
  return std::nullopt;
}

void client::pump_until(const std::function<bool()>& ready, std::string_view what) {
  const auto end = now() + patience;
  while (!ready()) {
    if (now() >= end) throw surprise("waited in vain for " + std::string{what});
    engine_->run(end);
  }
}

void client::pump_until(time_point t) {
  while (now() < t) engine_->run(t);
}

void client::round_trip() { keep(wants("round trip"), fate::holding, 1s); }

bool client::saw(event::kind k, const id& who) const {
  return std::ranges::any_of(events_, [&](const event& e) { return e.what == k && e.who == who; });
}

void client::await(event::kind k, const id& who) {
  pump_until([&] { return saw(k, who); }, "an event");
}

void client::await_loss(const id& who) {
  pump_until([&] { return saw(event::kind::gone, who) || saw(event::kind::suspect, who); }, "gone() or suspect()");
}

std::size_t client::count(event::kind k) const {
  return static_cast<std::size_t>(std::ranges::count(events_, k, &event::what));
}

std::string describe(const engine::failure& f) {
  static constexpr const char* kinds[] = {"not_sent",      "unknown",     "refused",
                                          "name_conflict", "unsupported", "over_limit"};
  return std::string{kinds[static_cast<int>(f.kind)]} + " (" + f.code.message() + ": " + f.words + ")";
}

std::string describe(const outcome<answer>& o) {
  if (const auto* f = std::get_if<engine::failure>(&o.result)) return describe(*f);
  if (const auto* g = granted_in(o)) {
    return "granted part " + std::to_string(g->part) + " for " + std::to_string(g->ttl.count()) + " ms";
  }
  if (const auto* q = queued_in(o)) {
    return "queued behind " + std::to_string(q->ahead) + ", look again in " + std::to_string(q->look_again.count()) +
           " ms";
  }
  return "busy for " + std::to_string(busy_in(o)->hint.count()) + " ms";
}

std::string engine_contract::fresh_prefix() {
  static core::random_ids ids;
  return "contract:" + core::to_hex(ids.next()) + ":";
}

}  // namespace tyer::contract
