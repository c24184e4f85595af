// Locks of a session: taken, given back, kept.
#include "core/token.hpp"
#include "engines/sql/session_locks.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tyer::sql {

using seam::busy;
using seam::granted;
using seam::kept;
using seam::target;

namespace {

using namespace std::chrono_literals;

constexpr int give_back_tries = 4;
constexpr milliseconds asks_again_least = 10ms, asks_again_most = 250ms;

constexpr const char* another_session =
    "another session of the server answers than before: something between this client and the server gives sessions to "
    "whoever comes. "
    "?lock=session needs one of its own";
constexpr const char* by_rows =
    "this name is locked by rows: all clients of a name must say ?lock=session, or none; what somebody has left there "
    "who "
    "died is looked at by those who lock by rows";

exchange about(const char* text, const std::string& name) {
  exchange one;
  one.push_back({text, {}});
  one.back().values.emplace_back(name);
  return one;
}

}  // namespace

// --- taking ---

// One at a time for each name. What timed out may still be under way at the server.
void session_locks::when_settled(const std::string& name, core::function<void()> go_on) {
  if (!session_.is_unsettled(name)) return go_on();
  behind_[name].push_back(std::move(go_on));
}

void session_locks::settled(const std::string& name) {
  session_.settled(name);
  auto next = behind_.extract(name);
  if (next.empty()) return;
  for (auto& go_on : next.mapped()) when_settled(name, std::move(go_on));
}

void session_locks::do_acquire(const seam::request& r, const call_ptr<answer>& c) {
  if (r.seen >= core::part_max)
    return calls().fail(*c,
                        kit::no(why::refused, errc::refused, "the token the client has seen is the last one there is"));
  auto t = std::make_shared<taking>(
      taking{c, {full(r.what.name), r.what.who, r.ttl, r.seen + 1, std::string{r.owner}, {}}, r.enqueue});
  calls().in_turn(c, t->what.name, [this, t] {
    if (!calls().too_late(*t->call, now())) begin(t);
  });
}

// What it waits for may be over in another session than it began in: then that one has to be up.
void session_locks::begin(const taking_ptr& t) {
  if (t->call->over()) return;
  if (session_.is_unsettled(t->what.name)) return when_settled(t->what.name, [this, t] { begin(t); });
  if (!link_.is_up()) return say_when_up(t->call, [this, t] { begin(t); });
  const auto* mine = session_.find(t->what.who, t->what.name);
  if (mine == nullptr) return session_.has(t->what.name) ? find_busy(t) : take(t);
  // Held already: shown once more.
  auto k = std::make_shared<keeping>();
  k->all.emplace_back(t->what.who, t->what.name);
  k->ttl = t->what.ttl;
  k->since = now();
  const auto part = mine->part;
  k->call = calls().begin<kept>(now(), [this, t, part](seam::outcome<kept>&& o) {
    if (const auto* f = std::get_if<failure>(&o.result)) return calls().fail(*t->call, *f);
    const auto& said = std::get<kept>(o.result);
    if (said.fates.at(0) != fate::holding)
      return calls().fail(*t->call, kit::no(why::unknown, errc::lost, "the session is over"));
    t->call->counts_from = o.sent;
    calls().answer(*t->call, {answer{granted{part, t->what.ttl}}});
  });
  keep_all(k, false);
}

void session_locks::take(const taking_ptr& t) {
  exchange all;
  if (const auto length = session_.must_be_told(t->what.ttl)) {
    all = sessions_.end_when_silent(*length);
    session_.told(*length, now());
  }
  session_.begins_to_take(t->what.name);
  t->what.run_known = std::chrono::floor<milliseconds>(now() - run_known_since_);
  auto rest = sessions_.take(t->what, facts_);
  std::ranges::move(rest, std::back_inserter(all));
  say(std::move(all), now() + silence_max, [this, t](link::said&& s) { came(t, std::move(s)); });
}

// Perhaps the lock was won although an error came: then it is given back. If the connection is over, so is the lock.
void session_locks::came(const taking_ptr& t, link::said&& s) {
  if (auto* f = std::get_if<failure>(&s)) {
    if (link_.is_up()) session_.doubt();
    give_back(t->what.name, sessions_.give_back_if_had, nullptr);
    return calls().fail(*t->call, std::move(*f));
  }
  const auto it = sessions_.came_of(std::get<answers>(s));
  t->proof = s.sent;
  if (!it.won) {
    settled(t->what.name);
    return find_busy(t);
  }
  if (it.part) return hold(t, *it.part);
  if (sessions_.make_name == nullptr || t->made_name) return refused_by_row(t);
  t->made_name = true;
  say(sessions_.make_name(t->what, facts_), now() + silence_max,
      [this, t](link::said&& again) { came(t, std::move(again)); });
}

// For a call that is over it was in vain; and if an error came of telling the session when to end, it may end at another time.
void session_locks::hold(const taking_ptr& t, std::uint64_t part) {
  const auto& c = *t->call;
  const bool lasts = session_.lasts(t->what.ttl);
  if (c.over() || !lasts) {
    give_back(t->what.name, sessions_.give_back, nullptr);
    return calls().fail(*t->call, kit::no(why::not_sent, errc::unavailable, untold));
  }
  session_.answered(t->proof);
  session_.add(t->what.who, {t->what.name, part, t->what.ttl, t->proof + t->what.ttl});
  waiting_.erase(t->what.who);
  settled(t->what.name);
  t->call->counts_from = t->proof;
  calls().answer(*t->call, {answer{granted{part, t->what.ttl}}});
}

// The server was started a moment ago, and whoever held it before may not know yet; or the name is locked by rows: what those who
// have died have left there, only those who lock so look at, and whoever waits here would wait for ever.
void session_locks::refused_by_row(const taking_ptr& t) {
  give_back(t->what.name, sessions_.give_back, nullptr);
  if (t->call->over()) return;
  link_.ask(about(sessions_.is_of_rows, t->what.name), t->call->deadline, [this, t](link::said&& s) {
    if (auto* f = std::get_if<failure>(&s)) return calls().fail(*t->call, std::move(*f));
    number_in(std::get<answers>(s)) != 0 ? calls().fail(*t->call, kit::no(why::refused, errc::refused, by_rows))
                                         : find_busy(t);
  });
}

// An eighth of how long it has waited: who waits for long waits for hardly longer, and costs little. Whoever is told so lets
// go of its place some time, and is forgotten then; a try does not.
void session_locks::find_busy(const taking_ptr& t) {
  const auto since = t->waits ? waiting_.try_emplace(t->what.who, now()).first->second : now();
  const auto so_far = now() - since;
  const auto hint = std::clamp(std::chrono::duration_cast<milliseconds>(so_far / 8), asks_again_least, asks_again_most);
  calls().answer(*t->call, {answer{busy{hint}}});
}

// Settled when the server has said so. Until then the session may have it, whatever error came, and would keep it from all others.
void session_locks::give_back(const std::string& name, const char* how, given_back back) {
  session_.begins_to_give_back(name);
  say_give_back(name, how, 1, std::move(back));
}

void session_locks::say_give_back(const std::string& name, const char* how, int tries, given_back back) {
  auto go_on = [this, name, tries, back = std::move(back)](link::said&& s) mutable {
    const auto* f = std::get_if<failure>(&s);
    if (f != nullptr && link_.is_up()) {
      if (tries < give_back_tries) return say_give_back(name, sessions_.give_back_if_had, tries + 1, std::move(back));
      link_.break_off("a lock could not be given back, and goes with its session: " + f->words);
    }
    settled(name);
    if (!back) return;
    // What an error came of may have been carried out: then it is not there any more.
    const bool had = f == nullptr && (tries > 1 || number_in(std::get<answers>(s)) != 0);
    back(f != nullptr ? std::optional{*f} : std::nullopt, had);
  };
  if (!link_.is_up())
    return go_on(failure{why::unknown, make_error_code(errc::outcome_unknown), "the session is over"});
  say(about(how, name), now() + silence_max, std::move(go_on));
}

void session_locks::do_release(const target& what, bool /*clean*/, const call_ptr<fate>& c) {
  calls().in_turn(c, full(what.name), [this, c, who = what.who, name = full(what.name)] {
    when_settled(name, [this, c, who, name] {
      waiting_.erase(who);
      if (session_.find(who, name) == nullptr) return calls().answer(*c, {fate::gone});
      session_.remove(who);
      give_back(name, sessions_.give_back, [this, c](std::optional<failure> f, bool had) {
        if (f) return calls().fail(*c, *std::move(f));
        calls().answer(*c, {had ? fate::holding : fate::gone});
      });
    });
  });
}

// --- keeping ---

void session_locks::do_keep(std::span<const target> all, fate, milliseconds ttl, const call_ptr<kept>& c) {
  auto k = std::make_shared<keeping>();
  k->call = c;
  k->ttl = ttl;
  k->since = c->sent - ttl / 6;
  for (const auto& one : all) k->all.emplace_back(one.who, full(one.name));
  keep_all(k, true);
}

void session_locks::do_confirm(const target& t, milliseconds ttl, const call_ptr<kept>& c) {
  auto k = std::make_shared<keeping>();
  k->call = c;
  k->ttl = ttl;
  k->since = c->sent;
  k->all.emplace_back(t.who, full(t.name));
  keep_all(k, false);
}

// All that the session holds is kept by one answer of it. What is kept for longer than its row says has to say so there: after a
// restart of the server its row alone says until when it may be believed.
void session_locks::keep_all(const keeping_ptr& k, bool may_share) {
  exchange first;
  bool holds = false;
  for (const auto& [who, name] : k->all) {
    const auto* h = session_.find(who, name);
    holds |= h != nullptr;
    if (h == nullptr || h->ttl >= k->ttl) continue;
    first.push_back({sessions_.lengthen, {}});
    first.back().values.emplace_back(name);
    first.back().values.emplace_back(std::string{who.view()});
    first.back().values.emplace_back(micros(k->ttl));
  }
  if (!holds || (may_share && first.empty() && session_.lasts(k->ttl) && session_.lived_at(k->since)))
    return answer_keep(k);
  keeps_.push_back(k);
  if (!session_.lasts(k->ttl)) {
    const auto length = session_.must_be_told(k->ttl).value();
    auto told = sessions_.end_when_silent(length);
    std::ranges::move(told, std::inserter(first, first.begin()));
    session_.told(length, now());
  }
  if (!may_share || !first.empty() || asked_at_ < k->since) make_sure(std::move(first));
}

void session_locks::make_sure(exchange first) {
  first.push_back({sessions_.who_am_i});
  const auto sent = asked_at_ = now();
  say(std::move(first), sent + silence_max, [this, sent](link::said&& s) { sure(sent, std::move(s)); });
}

void session_locks::sure(time_point sent, link::said&& s) {
  if (auto* f = std::get_if<failure>(&s)) {
    if (!link_.is_up()) return;  // on_down() has answered
    session_.doubt();
    for (const auto& k : std::exchange(keeps_, {})) calls().fail(*k->call, *f);
    return;
  }
  if (number_in(std::get<answers>(s)) != facts_.number) return link_.break_off(another_session);
  session_.answered(sent);
  answer_keeps();
}

void session_locks::answer_keeps() {
  std::vector<keeping_ptr> now_known;
  std::erase_if(keeps_, [&](const keeping_ptr& k) {
    const bool known = session_.lived_at(k->since);
    if (known) now_known.push_back(k);
    return known;
  });
  for (const auto& k : now_known) answer_keep(k);
}

void session_locks::answer_keep(const keeping_ptr& k) {
  kept says{{}, k->ttl};
  const auto proof = session_.answered();
  bool holds = false;
  for (const auto& [who, name] : k->all) {
    const bool held = session_.find(who, name) != nullptr;
    says.fates.push_back(held ? fate::holding : fate::gone);
    if (held) session_.keep(who, k->ttl, proof + k->ttl);
    holds |= held;
  }
  if (holds) k->call->counts_from = std::min(proof, now());
  calls().answer(*k->call, {std::move(says)});
}

}  // namespace tyer::sql
