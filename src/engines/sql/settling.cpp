// One call at one name: kit::settle gives the orders, and they are carried out here.
#include "engines/sql/database.hpp"
#include "engines/sql/rows.hpp"
#include "engines/sql/seats.hpp"
#include "engines/sql/session_tongue.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sql {

namespace {

failure misread(const record& r) {
  if (r.state && r.state->starts_with(session_mark)) {
    return kit::no(why::refused, errc::refused,
                   "this name is locked by sessions: all clients of a name must say ?lock=session, or none");
  }
  return kit::no(why::refused, errc::refused,
                 "a later version of Tyer has written to this name: all clients of a database must know its layout");
}

}  // namespace

void database::start(const work_ptr& w, kit::settle::task t) {
  t.deadline = w->deadline;
  w->machine.emplace(std::move(t));
  obey(w, w->machine->start(now()));
}

// An acquire that was given up takes no further step: the release behind it has its turn by then, and would not find what comes
// after it. Whom it has given a turn is told all the same.
void database::obey(const work_ptr& w, kit::settle::order o) {
  using verb = kit::settle::verb;
  const bool is_over = o.what == verb::done || o.what == verb::failed;
  if (is_given_up(*w) && !is_over) return;
  switch (o.what) {
    case verb::nothing: return;
    case verb::attempt:
      return inquire(w, o.number, w->attempt(), [this, w, n = o.number](answers&& a) {
        if (w->attempted(a)) return w->machine->on_attempted(n, true, std::nullopt, now());
        auto there = beside(a);
        if (there && there->stale) there.reset();
        return w->machine->on_attempted(n, false, see(w, std::move(there)), now());
      });
    case verb::read_head: return read(w, o.number, false);
    case verb::read_all: return read(w, o.number, true);
    case verb::end_leases:
      return end_sessions(w->machine->seen().name.must_end(), w->deadline, [this, w, n = o.number](const failure* f) {
        obey(w, f != nullptr ? w->machine->on_failure(n, *f, now()) : w->machine->on_ended(n, now()));
      });
    case verb::write: return write(w, o.number);
    case verb::join: return join(w, o.number);
    case verb::done: return finish(w);
    case verb::failed: return fail(w);
  }
}

// Once there is a place, it must be given back.
void database::fail(const work_ptr& w) {
  tell(w->machine->told());
  auto why_not = w->machine->error();
  if (w->lined_up) why_not.kind = why::unknown;
  w->failed(why_not);
}

void database::inquire(const work_ptr& w, std::uint32_t number, exchange what,
                       core::function<kit::settle::order(answers&&)> then) {
  auto back = [this, w, number, then = std::move(then)](link::said&& s) mutable {
    auto* said = std::get_if<answers>(&s);
    if (said != nullptr) w->proof = s.sent;
    obey(w, said != nullptr ? then(std::move(*said)) : w->machine->on_failure(number, std::get<failure>(s), now()));
  };
  link_.ask(std::move(what), w->deadline,
            {.given_up = [w] { return is_given_up(*w); }, .patience = w->patience, .when = w->when}, std::move(back));
}

std::optional<kit::view> database::see(const work_ptr& w, std::optional<record> r) {
  if (!r) return std::nullopt;
  w->seen = *std::move(r);
  // A place that was made for this call lasts for as long as was asked for, and one that is there is kept by do_keep(): if that was lately,
  // nothing is written because it was read a moment later. Whoever decides about the name would have to begin again.
  for (place& p : w->seen.places) {
    const bool is_fresh = w->made_place || p.expires >= w->seen.now + w->place_ttl / 2;
    if (p.who == w->who && is_fresh) p.expires = std::max(p.expires, w->seen.now + w->place_ttl);
  }
  return view_of(w->seen, known_, limits_);
}

void database::read(const work_ptr& w, std::uint32_t number, bool all) {
  inquire(w, number, says_->read(w->name, w->who, all ? whole_queue : head), [this, w, number](answers&& a) {
    auto v = see(w, reading(a));
    return v ? w->machine->on_view(number, *std::move(v), now())
             : w->machine->on_failure(number, misread(w->seen), now());
  });
}

void database::join(const work_ptr& w, std::uint32_t number) {
  const kit::seat& s = *w->machine->seen().name.find(w->who);
  const place p{w->who, 0, {}, write_place(s)};
  w->place_ttl = s.waiter_ttl;
  w->made_place = true;
  inquire(w, number, says_->join(w->name, p, s.waiter_ttl, head), [this, w, number](answers&& a) -> kit::settle::order {
    auto r = reading(a);
    if (!r.stale) return joined(w, number, std::move(r));
    read_joined(w, number);
    return {};
  });
}

kit::settle::order database::joined(const work_ptr& w, std::uint32_t number, record r) {
  auto v = see(w, std::move(r));
  return v ? w->machine->on_joined(number, *std::move(v), now())
           : w->machine->on_failure(number, misread(w->seen), now());
}

// The place is there: without an answer it is unknown what came of it.
void database::read_joined(const work_ptr& w, std::uint32_t number) {
  link_.ask(says_->read(w->name, w->who, head), w->deadline, {.when = w->when}, [this, w, number](link::said&& s) {
    if (auto* f = std::get_if<failure>(&s)) {
      f->kind = why::unknown;
      return obey(w, w->machine->on_failure(number, *f, now()));
    }
    w->proof = s.sent;
    obey(w, joined(w, number, reading(std::get<answers>(s))));
  });
}

// A hold that lives by another client's session stays with it: that client goes by it.
void database::write(const work_ptr& w, std::uint32_t number) {
  kit::view& v = w->machine->seen();
  const auto session = w->keeps.empty() ? 0 : session_for(w->lives_for);
  for (const id& who : w->keeps) {
    kit::seat* const s = v.name.find(who);
    if (session == 0 || s == nullptr || s->is != seat::state::holding) continue;
    if (s->lease == 0 || is_own(s->lease)) s->lease = session;
  }
  // Its times are those of what was read.
  auto back = [this, w, number, read_at = w->proof](answers&& a) {
    w->proof = read_at;
    const auto joins = says_->written(a);
    return w->machine->on_written(number, {.applied = joins.has_value(), .joins = joins.value_or(0)}, now());
  };
  inquire(w, number, says_->write(change_of(w->name, w->seen, v, own_sessions_)), std::move(back));
}

// One that is not there any more has been over for long.
void database::end_sessions(const std::vector<std::int64_t>& all, time_point deadline,
                            core::function<void(const failure*)> then) {
  link_.ask(says_->end_sessions(all), deadline, {.when = urgency::at_once},
            [this, all, then = std::move(then)](link::said&& s) mutable {
              if (const auto* f = std::get_if<failure>(&s)) return then(f);
              std::vector<std::int64_t> found;
              for (const auto& a : std::get<answers>(s)) {
                for (const row& r : a.rows) {
                  found.push_back(r[0].number);
                  known_.learn(r[0].number, at_micros(r[1].number), r[2].number != 0);
                }
              }
              for (const auto session : all) {
                if (std::ranges::find(found, session) == found.end()) known_.learn(session, {}, true);
              }
              then(nullptr);
            });
}

void database::finish(const work_ptr& w) {
  if (!w->machine->by_attempt()) tell(w->machine->told());
  const bool again = w->machine->look_again();
  if (!is_given_up(*w)) w->done(*w);
  if (again) reap(w->name, urgency::at_once);  // for others, whose turn it may be
}

// One at a time. Whatever is a reason to look while one is under way may have come after that has read.
void database::reap(const std::string& name, urgency when) {
  if (closed()) return;
  if (const auto [at, is_first] = reaping_.try_emplace(name, false); !is_first) {
    at->second = true;
    return;
  }
  auto w = std::make_shared<work>();
  w->name = name;
  w->deadline = now() + around().request_timeout;
  w->when = when;
  w->done = [this](work& over) { reaped(over.name); };
  w->failed = [this, name](const failure&) { reaped(name); };
  start(w, {.decide = [](resource& r, store_time at, kit::notices& out) { r.reap(at, out); }});
}

void database::reaped(const std::string& name) {
  const auto was = reaping_.extract(name);
  if (!was.empty() && was.mapped()) reap(name, urgency::at_once);
}

// --- bells ---

void database::tell(const kit::notices& all) {
  std::vector<bell> others;
  for (const auto& n : all) {
    const bell b{n.who, n.what, n.reason};
    if (n.who.nonce() != around().ids->nonce()) {
      others.push_back(b);
    } else {
      box()->put([this, b](seam::events*) { hear(b); });
    }
  }
  if (others.empty()) return;
  link_.ask(says_->ring(others), now() + around().request_timeout, {.when = urgency::at_once}, [](link::said&&) {});
}

// A hint, whatever it says: who is told that its hold is gone asks.
void database::hear(const bell& b) {
  seam::events* const to = told();
  if (to == nullptr) return;
  switch (b.what) {
    case kit::notice::kind::wake:
      if (waiting_.contains(b.who)) called_.insert(b.who);  // nobody would ask for one that is late
      return to->wake(b.who);
    case kit::notice::kind::gone:
      if (const auto mine = own_.find(b.who); mine != own_.end()) mine->second.session = 0;  // no renewal is proof
      return to->suspect(b.who);
    case kit::notice::kind::asked: return to->asked(b.who, b.reason);
  }
}

}  // namespace tyer::sql
