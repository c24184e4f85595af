// The calls that change one name: what each decides, and what it answers.
#include "core/token.hpp"
#include "engines/sql/database.hpp"

#include <chrono>
#include <new>
#include <utility>

namespace tyer::sql {

using seam::granted;
using seam::queued;
using seam::target;

namespace {

// A request that owns what it names.
struct own_request {
  request r;
  std::string name, owner;

  own_request(const request& from, std::string full) : r(from), name(std::move(full)), owner(from.owner) {}
  request get() const {
    request now = r;
    now.what.name = name;
    now.owner = owner;
    return now;
  }
};

constexpr std::size_t crowded_names = 1000;
constexpr std::chrono::seconds crowded_for{1};

std::string terms_of(const request& r) {
  kit::seat s;
  s.how = r.what.how;
  s.take = r.take;
  s.capacity = r.capacity;
  s.seen = r.seen;
  s.ttl = r.ttl;
  s.waiter_ttl = r.waiter_ttl;
  s.lock_delay = r.lock_delay;
  s.owner = r.owner;
  return write_place(s);
}

// Only what lies in columns can be taken blindly.
bool is_plain(const request& r) { return r.what.how == mode::exclusive && r.lock_delay.count() == 0; }

}  // namespace

// Who holds what, and who waits, as far as this client has asked.
void database::note(work& w, const answer& a) {
  if (std::holds_alternative<granted>(a)) {
    auto& mine = own_[w.who];
    mine.name = w.name;
    mine.doubtful = false;
    mine.was_queued |= waiting_.erase(w.who) > 0;
    learn(w, w.who, mine);
  } else if (std::holds_alternative<queued>(a)) {
    if (waiting_.insert(w.who).second) last_bell_ = now();
    bells_due_ = std::min(bells_due_, now() + bell_interval());
  }
}

// A claim is a part of a hand-over; who has its place and was not told of its turn only looks.
urgency database::of_asking(const id& who) const {
  if (called_.contains(who)) return urgency::at_once;
  return waiting_.contains(who) ? urgency::some_time : urgency::soon;
}

// Until it has been answered it is as urgent, however often it has to ask.
void database::has_its_turn(kit::call& c, const id& who) {
  auto turn = called_.extract(who);
  if (!turn) return;
  c.when_over = [this, who, turn = std::move(turn)]() mutable {
    if (waiting_.contains(who)) called_.insert(std::move(turn));
  };
}

// How it lies there, from what was read and written. A blind attempt writes columns.
void database::learn(work& w, const id& who, own& mine) {
  resource* const name = w.machine->by_attempt() ? nullptr : &w.machine->seen().name;
  const seat* const s = name != nullptr ? name->find(who) : nullptr;
  mine.plain = name == nullptr || lies_in_columns(*name);
  mine.head.reset();
  if (!mine.plain && s != nullptr && s->is == seat::state::holding) mine.head = seat_head::of(*s);
}

// Perhaps it is gone, whatever we hear.
void database::doubt(const id& who) {
  const auto mine = own_.find(who);
  if (mine == own_.end()) return;
  mine->second.doubtful = true;
  mine->second.session = 0;
}

void database::forget(const id& who) {
  own_.erase(who);
  called_.erase(who);
  waiting_.erase(who);
}

// Where many want a name, whoever lets go of it and wants it again finds it taken. No hint where a limit might be passed by it.
void database::note_crowd(work& w) {
  if (w.machine->by_attempt()) return;
  const resource& is = w.machine->seen().name;
  if (is.holds().empty() || is.waiting() >= limits_.waiters / 2) return;
  if (crowded_.size() >= crowded_names) crowded_.clear();
  try {
    crowded_.insert_or_assign(w.name, now());
  } catch (const std::bad_alloc&) {}  // it costs a statement
}

bool database::is_crowded(const std::string& name) {
  const auto since = crowded_.extract(name);
  return since && now() - since.mapped() <= crowded_for;
}

// Instead of trying in vain to take it: one statement less, and less to wait for at a row that all of them write. Should it be free
// after all, that is what the answer shows.
void database::line_up_first(work& w, const request& r) {
  w.attempt = [this, name = w.name, p = place{w.who, 0, {}, terms_of(r)}, ttl = r.waiter_ttl] {
    return says_->join(name, p, ttl, head);
  };
  w.attempted = [mine = &w](const answers&) {
    mine->made_place = mine->lined_up = true;
    return false;
  };
}

void database::do_acquire(const request& r, const call_ptr<answer>& c) {
  if (auto f = resource{limits_}.objection(r)) return calls().fail(*c, *std::move(f));
  auto want = std::make_shared<own_request>(r, full(r.what.name));
  c->of = r.what.who;
  c->hurries = of_asking(c->of) == urgency::at_once;
  calls().in_turn(c, want->name, [this, c, want] {
    if (calls().too_late(*c, now())) return;
    auto w = std::make_shared<work>();
    auto said = std::make_shared<std::optional<kit::result<answer>>>();
    w->name = want->name;
    w->who = want->r.what.who;
    w->deadline = c->deadline;
    w->when = of_asking(w->who);
    w->place_ttl = want->r.waiter_ttl;
    const bool only_looks = w->when == urgency::some_time && !says_->reads_along();
    has_its_turn(*c, w->who);
    w->attempt = [this, want] {
      return says_->take(want->name, want->r.what.who, want->r.ttl, want->r.seen + 1, want->owner, head);
    };
    w->attempted = [this, want, said](const answers& a) {
      const auto part = says_->taken(a);
      if (part) *said = answer{granted{*part, want->r.ttl}};
      return part.has_value();
    };
    const bool is_new = w->when == urgency::soon && !own_.contains(w->who);
    if (is_new && want->r.enqueue && is_plain(want->r) && is_crowded(w->name)) line_up_first(*w, want->get());
    w->done = [this, c, said](work& over) {
      c->when_over = nullptr;
      if (const auto* a = std::get_if<answer>(&**said)) note(over, *a);
      c->counts_from = over.proof;
      calls().answer(*c, **std::move(said));
    };
    w->failed = [this, c](const failure& f) { calls().fail(*c, f); };
    w->given_up = [c] { return c->over(); };
    start(w, {.decide = [want, said](resource& n, store_time at,
                                     kit::notices& out) { *said = n.acquire(want->get(), at, out); },
              .who = w->who,
              .attempt_first = is_plain(want->r) && !only_looks,
              .not_after = c->not_after});
  });
}

// A call that reads, decides by `decide(resource, now, notices)` and answers what that says.
template <class T, class Decide, class Done>
void database::settle_in_turn(const call_ptr<T>& c, const target& t, Decide decide, Done done) {
  c->of = t.who;
  c->hurries = of_asking(t.who) == urgency::at_once;
  calls().in_turn(c, full(t.name), [this, c, name = full(t.name), who = t.who, decide, done] {
    if (calls().too_late(*c, now())) return;
    auto w = std::make_shared<work>();
    auto said = std::make_shared<std::optional<kit::result<T>>>();
    w->name = name;
    w->who = who;
    w->deadline = c->deadline;
    w->when = of_asking(who);
    has_its_turn(*c, who);
    w->done = [this, c, said, done](work& over) {
      c->when_over = nullptr;
      done(over, **said);
      c->counts_from = over.proof;
      calls().answer(*c, **std::move(said));
    };
    w->failed = [this, c](const failure& f) { calls().fail(*c, f); };
    start(w, {.decide = [said, decide](resource& n, store_time at,
                                       kit::notices& out) { said->emplace(decide(n, at, out)); },
              .not_after = c->not_after});
  });
}

// However it ends, nothing more is asked for that id but to release it once more, for which nothing needs to be known of it.
void database::do_release(const target& t, bool clean, const call_ptr<fate>& c) {
  c->of = t.who;
  c->hurries = true;
  c->when_over = [this, who = t.who] { forget(who); };
  calls().in_turn(c, full(t.name), [this, c, name = full(t.name), who = t.who, clean] {
    auto w = std::make_shared<work>();
    auto was = std::make_shared<fate>(fate::holding);
    w->name = name;
    w->who = who;
    w->deadline = c->deadline;
    w->when = urgency::at_once;
    w->attempt = [this, name, who] { return says_->give_back(name, who, own_sessions_, head); };
    w->attempted = [this](const answers& a) { return says_->given_back(a); };
    w->done = [this, c, was](work& over) {
      note_crowd(over);
      c->counts_from = over.proof;
      calls().answer(*c, {*was});
    };
    w->failed = [this, c](const failure& f) { calls().fail(*c, f); };
    const auto mine = own_.find(who);
    const bool is_attempted = mine != own_.end() && (says_->reads_along() || !mine->second.was_queued);
    doubt(who);
    start(w, {.decide = [was, who, clean](resource& n, store_time at,
                                          kit::notices& out) { *was = n.release(who, clean, at, out); },
              .attempt_first = is_attempted});
  });
}

void database::do_convert(const target& t, mode to, milliseconds, const call_ptr<answer>& c) {
  settle_in_turn(
      c, t, [who = t.who, to](resource& n, store_time at, kit::notices& out) { return n.convert(who, to, at, out); },
      [this](work& over, const kit::result<answer>& said) {
        if (const auto* a = std::get_if<answer>(&said)) note(over, *a);
      });
}

void database::do_lift(const target& t, std::uint64_t part, const call_ptr<fate>& c) {
  settle_in_turn(
      c, t, [who = t.who, part](resource& n, store_time at, kit::notices& out) { return n.lift(who, part, at, out); },
      [](work&, const auto&) {});
}

void database::do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>& c) {
  settle_in_turn(
      c, {{}, name},
      [reason = std::string{reason}](resource& n, store_time at, kit::notices& out) { return n.ask(reason, at, out); },
      [](work&, const auto&) {});
}

void database::do_evict(const target& t, std::string_view reason, const call_ptr<fate>& c) {
  doubt(t.who);
  settle_in_turn(
      c, t,
      [who = t.who, reason = std::string{reason}](resource& n, store_time at, kit::notices& out) {
        return n.evict(who, reason, at, out);
      },
      [this](work& over, const auto&) { forget(over.who); });
}

}  // namespace tyer::sql
