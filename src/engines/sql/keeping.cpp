// Renewal. A hold lives by its own time at first; the first keep() lets it live by this client's session of that length, and from
// then on one statement renews all of them.
//
//   a hold that                  | is kept by
//   -----------------------------+------------------------------------------------------------------------------------------
//   lives by a live session      | the session's renewal, or one that left a sixth of the ttl ago at the most: so holds that fall
//                                | due one after the other cost no renewal each
//   is being kept already        | whatever that comes to: who asks waits for it, and then keeps it once more
//   is plain                     | extend: one statement for all of them
//   is known as it lies in state | extend_seats: a statement each
//   is neither                   | the decider: a read and a write, for all of a name
//
// What a renewal proves: the session was not ended, and its generation is what it was when the hold was last seen to live by it.
// Whoever else changes a hold that lives by a session raises the generation in the same statement; then each hold is extended by
// itself again, and that tells which of them stand. See sessions.hpp for why nobody takes over meanwhile.
#include "engines/sql/database.hpp"
#include "engines/sql/rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tyer::sql {

using seam::kept;
using seam::target;
using news = kit::lease_pool::news;
using pool_order = kit::lease_pool::order;

namespace {

constexpr std::size_t own_sessions_known = 64;
constexpr int patience = 6;             // this part of the ttl
constexpr milliseconds row_wait{1000};  // a server may wait that long for a row, and say nothing meanwhile
constexpr milliseconds arriving{500};   // a new connection may take that long, if all are busy

// With a server that says nothing: there is time to find another before the lease is over. No place in a queue is worth that.
milliseconds silence_max(milliseconds ttl) {
  return std::max(ttl / patience, std::min(row_wait, std::max(ttl / 3, arriving)));
}

manner keeps(milliseconds ttl) { return {.patience = silence_max(ttl), .when = urgency::at_once}; }

bool some_known(const std::vector<fate>& all) {
  return std::ranges::any_of(all, [](fate f) { return f != fate::unknown; });
}

}  // namespace

void database::do_keep(std::span<const target> all, fate as, milliseconds ttl, const call_ptr<kept>& c) {
  keep_since(c->sent - std::min(ttl, limits_.ttl) / patience, all, as, ttl, c);
}

void database::do_confirm(const target& t, milliseconds ttl, const call_ptr<kept>& c) {
  keep_since(c->sent, {&t, 1}, fate::holding, ttl, c);
}

// Sent at the end of the step: all that are made in one share a renewal.
void database::keep_since(time_point since, std::span<const target> all, fate as, milliseconds ttl,
                          const call_ptr<kept>& c) {
  auto k = std::make_shared<keeping>();
  k->call = c;
  k->as = as;
  k->since = since;
  k->ttl = k->proven = std::min(ttl, limits_.ttl);
  k->fates.assign(all.size(), fate::unknown);
  for (const target& t : all) k->all.push_back({t.who, full(t.name)});
  keeps_.push_back(std::move(k));
}

void database::flush_keeps() {
  for (auto& k : std::exchange(keeps_, {})) {
    if (k->call->over()) continue;
    k->patient_until = now() + k->ttl / patience;
    k->open = k->all.size();
    if (k->open > 1) slow_.push_back(k);
    if (k->all.empty()) {
      calls().answer(*k->call, {kept{{}, k->ttl}});
    } else if (k->as == fate::waiting) {
      keep_places(k);
    } else {
      indices all(k->all.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      keep_holds(k, all);
    }
  }
}

// --- one call ---

// All of them have one date, the earliest; but what is gone needs none.
void database::proven(const keeping_ptr& k, time_point sent, milliseconds ttl) {
  k->proof = std::min(k->proof, sent);
  k->proven = std::min(k->proven, ttl);
}

void database::settled(const keeping_ptr& k, std::size_t i, fate f) {
  k->fates[i] = f;
  if (f == fate::gone) forget(k->all[i].who);
  if (--k->open == 0) answer_kept(k);
}

// One whose fate is not known does not spoil what is known of the others.
void database::unsettled(const keeping_ptr& k, std::size_t how_many, const failure& f) {
  k->wrong = f;
  k->open -= how_many;
  if (k->open == 0) answer_kept(k);
}

void database::answer_kept(const keeping_ptr& k) {
  if (k->call->over()) return;
  if (k->wrong && !some_known(k->fates)) return calls().fail(*k->call, *k->wrong);
  k->call->counts_from = std::min(k->proof, now());
  calls().answer(*k->call, {kept{k->fates, k->proven}});
}

// Nor does one that takes long keep the others waiting, whose leases may be over by then.
void database::answer_in_time(time_point t) {
  std::erase_if(slow_, [&](const keeping_ptr& k) {
    if (k->open == 0 || k->call->over()) return true;
    k->impatient |= k->patient_until <= t;
    if (!k->impatient || !some_known(k->fates)) return false;
    answer_kept(k);
    return true;
  });
}

// Of one that is impatient something must come first.
time_point database::next_answer() const {
  auto first = time_point::max();
  for (const auto& k : slow_) {
    if (!k->impatient) first = std::min(first, k->patient_until);
  }
  return first;
}

// --- holds ---

void database::keep_holds(const keeping_ptr& k, const indices& which) {
  std::map<std::int64_t, indices> by_session;
  std::map<std::string_view, indices> seats;
  indices plain, others;
  for (const auto i : which) {
    const auto mine = own_.find(k->all[i].who);
    const bool known = mine != own_.end();
    if (known && mine->second.session != 0 && pool_.live(mine->second.session, now())) {
      by_session[mine->second.session].push_back(i);
    } else if (const auto at = kept_alone_.find(k->all[i].who); at != kept_alone_.end()) {
      at->second.push_back({k, i});
    } else if (known && mine->second.head && (mine->second.head->lease == 0 || is_own(mine->second.head->lease))) {
      seats[k->all[i].name].push_back(i);
    } else {
      (known && !mine->second.plain ? others : plain).push_back(i);
    }
  }
  if (!plain.empty()) extend(k, std::move(plain));
  for (auto& [name, those] : seats) extend_seats(k, std::move(those));
  decide(k, others);
  for (auto& [session, those] : by_session) renew(k, session, std::move(those));
}

void database::renew(const keeping_ptr& k, std::int64_t session, indices which) {
  kit::lease_pool::output out;
  renewing_.emplace(++last_user_, renewal{k, std::move(which)});
  pool_.renew(last_user_, session, k->since, now(), out);
  carry_out(out);
}

bool database::is_own(std::int64_t session) const {
  return std::ranges::find(own_sessions_, session) != own_sessions_.end();
}

// 0: there is none yet, and it is asked for.
std::int64_t database::session_for(milliseconds ttl) {
  kit::lease_pool::output out;
  pool_.use(++last_user_, ttl, now(), out);
  std::int64_t found = 0;
  for (const auto& n : out.told) {
    if (n.what == news::kind::ready && n.who == last_user_) found = n.lease;
  }
  carry_out(out);
  return found;
}

void database::extend(const keeping_ptr& k, indices which) {
  std::vector<named> all;
  for (const auto i : which) all.push_back(k->all[i]);
  const auto session = session_for(k->ttl);
  auto what = says_->extend(session, own_sessions_, k->ttl, all);
  auto back = [this, k, which = std::move(which), session](link::said&& s) {
    if (const auto* f = std::get_if<failure>(&s)) return unsettled(k, which.size(), *f);
    const auto extended = ids(std::get<answers>(s));
    const std::set<id> stand{extended.begin(), extended.end()};
    indices others;
    for (const auto i : which) {
      if (!stand.contains(k->all[i].who)) {
        others.push_back(i);
        continue;
      }
      if (const auto mine = own_.find(k->all[i].who); mine != own_.end()) {
        lives_by(mine->second, session);
        mine->second.plain = true;
        mine->second.head.reset();
      }
      proven(k, s.sent, k->ttl);
      settled(k, i, fate::holding);
    }
    decide(k, others);
  };
  link_.ask(std::move(what), k->call->deadline, keeps(k->ttl), std::move(back));
}

// --- holds that are not plain ---

// Of one name: each where it lies, as nobody else has touched it since. However many write to the name, this is one statement, and
// it waits for a row at the most.
void database::extend_seats(const keeping_ptr& k, indices which) {
  const auto session = session_for(k->ttl);
  std::vector<seat_head> heads;
  for (const auto i : which) {
    heads.push_back(*own_.at(k->all[i].who).head);
    is_alone(k->all[i].who);
  }
  auto what = says_->extend_seats(k->all[which.front()].name, session, k->ttl, heads);
  auto back = [this, k, which = std::move(which), session](link::said&& s) {
    if (const auto* all = std::get_if<answers>(&s)) return seats_extended(k, which, session, *all, s.sent);
    unsettled(k, which.size(), std::get<failure>(s));
    for (const auto i : which) is_known(k->all[i].who, fate::unknown);
  };
  link_.ask(std::move(what), k->call->deadline, keeps(k->ttl), std::move(back));
}

void database::seats_extended(const keeping_ptr& k, const indices& which, std::int64_t session, const answers& all,
                              time_point sent) {
  indices others;
  for (std::size_t n = 0; n < which.size(); ++n) {
    const id& who = k->all[which[n]].who;
    const auto until = says_->seat_extended(all.at(n));
    if (!until) {
      others.push_back(which[n]);
      continue;
    }
    if (const auto mine = own_.find(who); mine != own_.end() && mine->second.head) {
      lives_by(mine->second, session);
      mine->second.head->expires = *until;
      if (session != 0) mine->second.head->lease = session;
    }
    proven(k, sent, k->ttl);
    settled(k, which[n], fate::holding);
    is_known(who, fate::holding);
  }
  decide(k, others);
}

// By the decider: what is not as it was, a place, what is over. All of a name at once: they would be in each other's way.
void database::decide(const keeping_ptr& k, const indices& which) {
  std::map<std::string_view, indices> names;
  for (const auto i : which) names[k->all[i].name].push_back(i);
  for (auto& [name, those] : names) keep_name(k, std::move(those));
}

void database::keep_name(const keeping_ptr& k, indices which) {
  auto w = std::make_shared<work>();
  auto are = std::make_shared<std::vector<fate>>(which.size(), fate::gone);
  std::vector<id> all;
  for (const auto i : which) all.push_back(k->all[i].who);
  w->name = k->all[which.front()].name;
  w->who = all.front();
  w->deadline = k->call->deadline;
  if (k->as == fate::holding) {
    w->when = urgency::at_once;
    w->patience = silence_max(k->ttl);
    w->keeps = all;
    w->lives_for = k->ttl;
    session_for(k->ttl);  // asked for before the read, so that it is there for the write
    for (const id& who : all) is_alone(who);
  }
  w->done = [this, k, which, are](work& over) {
    for (std::size_t n = 0; n < which.size(); ++n) {
      const id who = k->all[which[n]].who;
      const seat* s = over.machine->seen().name.find(who);
      if (const auto mine = own_.find(who); mine != own_.end() && s != nullptr) {
        lives_by(mine->second, sessions_.contains(s->lease) ? s->lease : 0);
        learn(over, who, mine->second);
      }
      if ((*are)[n] != fate::gone) proven(k, over.proof, k->ttl);
      settled(k, which[n], (*are)[n]);
      is_known(who, (*are)[n]);
    }
  };
  w->failed = [this, k, all](const failure& f) {
    unsettled(k, all.size(), f);
    for (const id& who : all) is_known(who, fate::unknown);
  };
  start(w, {.decide = [are, all, as = k->as, ttl = k->ttl](resource& n, store_time at, kit::notices& out) {
          for (std::size_t i = 0; i < all.size(); ++i) (*are)[i] = n.keep(all[i], as, ttl, at, out);
        }});
}

void database::is_alone(const id& who) { kept_alone_.try_emplace(who); }

// Who asked meanwhile is not told what was asked for earlier: but it is quick now.
void database::is_known(const id& who, fate is) {
  auto alone = kept_alone_.extract(who);
  if (alone.empty()) return;
  for (const auto& l : alone.mapped()) {
    if (l.of->call->over()) continue;
    if (is == fate::gone || is == fate::waiting) {
      settled(l.of, l.which, is);
    } else {
      keep_holds(l.of, {l.which});
    }
  }
}

// --- places ---

void database::keep_places(const keeping_ptr& k) {
  link_.ask(says_->extend_places(k->ttl, k->all), k->call->deadline, {.when = urgency::at_once},
            [this, k](link::said&& s) {
              if (const auto* f = std::get_if<failure>(&s)) return unsettled(k, k->all.size(), *f);
              proven(k, s.sent, k->ttl);
              std::map<id, bool> stand;
              std::set<std::string> look;
              for (const auto& p : kept_places(std::get<answers>(s))) {
                stand.emplace(p.who, true);
                if (p.look) look.insert(p.name);
              }
              for (std::size_t i = 0; i < k->all.size(); ++i) {
                stand.contains(k->all[i].who) ? settled(k, i, fate::waiting) : keep_name(k, {i});
              }
              for (const auto& name : look) reap(name, urgency::some_time);
            });
}

// --- sessions ---

// Those that are over go first: holds may live by the others for days.
void database::know_again(std::int64_t session) {
  if (own_sessions_.size() >= own_sessions_known) {
    const auto is_over = [this](std::int64_t s) { return !sessions_.contains(s); };
    const auto first = std::ranges::find_if(own_sessions_, is_over);
    if (first != own_sessions_.end()) own_sessions_.erase(first);
  }
  own_sessions_.push_back(session);
}

void database::carry_out(kit::lease_pool::output& out) {
  for (const auto& o : std::exchange(out.orders, {})) {
    const auto deadline = now() + around().request_timeout;
    switch (o.what) {
      case pool_order::verb::grant: {
        const auto session = static_cast<std::int64_t>(around().ids->next().serial() >> 1) | 1;
        know_again(session);
        link_.ask(says_->begin_session(session, o.ttl), deadline, {.when = urgency::at_once},
                  [this, o, session](link::said&& s) {
                    kit::lease_pool::output more;
                    const auto* f = std::get_if<failure>(&s);
                    pool_.left(o.number, s.sent);
                    if (f == nullptr) sessions_[session].generation = says_->renewed(std::get<answers>(s)).value_or(0);
                    f != nullptr ? pool_.on_failure(o.number, *f, now(), more)
                                 : pool_.on_granted(o.number, session, o.ttl, now(), more);
                    carry_out(more);
                  });
        break;
      }
      case pool_order::verb::renew:
        link_.ask(says_->renew_session(o.lease, o.ttl), deadline, keeps(o.ttl),
                  [this, o](link::said&& s) { renewed(o.number, o.lease, o.ttl, std::move(s)); });
        break;
      case pool_order::verb::revoke:
        link_.ask(says_->drop_session(o.lease), deadline, {.when = urgency::at_once}, [](link::said&&) {});
        break;
      case pool_order::verb::change_server: break;  // by the link, which knows whether the server answers others
    }
  }
  for (const auto& n : std::exchange(out.told, {})) on_kept(n);
}

void database::renewed(std::uint32_t number, std::int64_t session, milliseconds ttl, link::said&& s) {
  kit::lease_pool::output out;
  if (const auto* f = std::get_if<failure>(&s)) {
    pool_.on_failure(number, *f, now(), out);
    return carry_out(out);
  }
  const auto generation = says_->renewed(std::get<answers>(s));
  if (generation && *generation != sessions_[session].generation) {
    sessions_[session].generation = *generation;
    detach(session);
  }
  pool_.left(number, s.sent);
  pool_.on_renewed(number, generation ? ttl : milliseconds{0}, now(), out);
  carry_out(out);
}

void database::detach(std::int64_t session) {
  for (auto& [who, o] : own_) {
    if (o.session == session) o.session = 0;
  }
}

void database::on_kept(const news& n) {
  if (n.what == news::kind::condemned && n.who == 0) {
    detach(n.lease);
    sessions_.erase(n.lease);
    return;
  }
  const auto at = renewing_.find(n.who);
  if (at == renewing_.end()) return;
  auto [k, which] = std::move(at->second);
  renewing_.erase(at);
  if (n.what == news::kind::failed) return unsettled(k, which.size(), n.why_not);
  if (n.what == news::kind::kept) {
    const auto stands = [this, &all = k->all, &n](std::size_t i) {
      const auto mine = own_.find(all[i].who);
      return mine != own_.end() && mine->second.session == n.lease;
    };
    const auto unsure = std::partition(which.begin(), which.end(), stands);
    const indices sure{which.begin(), unsure};
    which.erase(which.begin(), unsure);
    if (!sure.empty()) proven(k, n.sent, n.ttl);
    for (const auto i : sure) settled(k, i, fate::holding);
  }
  if (!which.empty()) keep_holds(k, which);
}

}  // namespace tyer::sql
