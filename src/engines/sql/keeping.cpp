// Renewal. A hold lives by its own time at first; the first keep() lets it live by this client's session of that length, and from
// then on one statement renews all of them.
//
// What a renewal proves: the session was not ended, and its generation is what it was when the hold was last seen to live by it.
// Whoever else changes a hold that lives by a session raises the generation in the same statement; then each hold is extended by
// itself again, and that tells which of them stand. See sessions.hpp for why nobody takes over meanwhile.
#include "engines/sql/database.hpp"
#include "engines/sql/rows.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sql {

using seam::kept;
using seam::target;
using news = kit::lease_pool::news;
using pool_order = kit::lease_pool::order;

namespace {

constexpr std::size_t own_sessions_known = 64;
constexpr int patience = 6;  // this part of the ttl

bool some_known(const std::vector<fate>& all) {
  return std::ranges::any_of(all, [](fate f) { return f != fate::unknown; });
}

}  // namespace

// Sent at the end of the step: all that are made in one share a renewal.
void database::do_keep(std::span<const target> all, fate as, milliseconds ttl, const call_ptr<kept>& c) {
  auto k = std::make_shared<keeping>();
  k->call = c;
  k->as = as;
  k->ttl = k->proven = std::min(ttl, limits_.ttl);
  k->fates.assign(all.size(), fate::unknown);
  for (const target& t : all) k->all.push_back({t.who, full(t.name)});
  keeps_.push_back(std::move(k));
}

void database::flush_keeps() {
  for (auto& k : std::exchange(keeps_, {})) {
    if (k->call->over()) continue;
    k->sent = now();
    k->patient_until = k->sent + k->ttl / patience;
    k->open = k->all.size();
    if (k->open > 1) slow_.push_back(k);
    if (k->all.empty()) {
      calls().answer(*k->call, {kept{{}, k->ttl}});
    } else if (k->as == fate::waiting) {
      keep_places(k);
    } else {
      keep_holds(k);
    }
  }
}

// --- one call ---

void database::count(const keeping_ptr& k, time_point sent, milliseconds ttl) {
  k->sent = std::min(k->sent, sent);
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
  k->call->counts_from = k->sent;
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

void database::keep_holds(const keeping_ptr& k) {
  std::vector<std::size_t> alone;
  std::size_t busy = 0;
  const auto at = now();
  for (std::size_t i = 0; i < k->all.size(); ++i) {
    const id& who = k->all[i].who;
    const auto mine = own_.find(who);
    const auto session = mine != own_.end() ? mine->second.session : 0;
    if (session != 0 && pool_.live(session, at)) {
      k->by_session[session].push_back(i);
    } else if (k->all.size() > 1 && kept_alone_.contains(who)) {  // who asks for one wants to know
      ++busy;
    } else if (mine != own_.end() && !mine->second.plain) {
      keep_one(k, i, session_for(k->ttl));
    } else {
      alone.push_back(i);
    }
  }
  if (!alone.empty()) extend(k, std::move(alone));
  if (busy > 0) unsettled(k, busy, kit::no(why::unknown, errc::outcome_unknown, "it is being kept already"));
  if (k->by_session.empty()) return;
  kit::lease_pool::output out;
  std::vector<std::int64_t> all;
  for (const auto& [session, who] : k->by_session) all.push_back(session);
  for (const auto session : all) {
    renewing_.emplace(++last_user_, k);
    pool_.renew(last_user_, session, at, at, out);
  }
  carry_out(out);
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

void database::extend(const keeping_ptr& k, std::vector<std::size_t> which) {
  std::vector<named> all;
  for (const auto i : which) all.push_back(k->all[i]);
  const auto session = session_for(k->ttl);
  auto what = says_->extend(session, own_sessions_, k->ttl, all);
  link_.ask(std::move(what), k->call->deadline, [this, k, which = std::move(which), session](link::said&& s) {
    if (const auto* f = std::get_if<failure>(&s)) return unsettled(k, which.size(), *f);
    const auto extended = ids(std::get<answers>(s));
    const std::set<id> stand{extended.begin(), extended.end()};
    for (const auto i : which) {
      if (!stand.contains(k->all[i].who)) {
        keep_one(k, i, session);
        continue;
      }
      if (const auto mine = own_.find(k->all[i].who); mine != own_.end()) {
        mine->second.session = session;
        mine->second.plain = true;
      }
      settled(k, i, fate::holding);
    }
  });
}

// By the decider: a hold that is not plain, a place, what is over.
void database::keep_one(const keeping_ptr& k, std::size_t i, std::int64_t session) {
  auto w = std::make_shared<work>();
  auto is = std::make_shared<fate>(fate::gone);
  w->name = k->all[i].name;
  w->who = k->all[i].who;
  w->deadline = k->call->deadline;
  w->session = k->as == fate::holding ? session : 0;
  w->done = [this, k, i, is](work& over) {
    kept_alone_.erase(over.who);
    const seat* s = over.machine->seen().name.find(over.who);
    const auto mine = own_.find(over.who);
    if (mine != own_.end() && s != nullptr && over.session != 0 && s->lease == over.session) {
      mine->second.session = over.session;
    }
    settled(k, i, *is);
  };
  w->failed = [this, k, who = w->who](const failure& f) {
    kept_alone_.erase(who);
    unsettled(k, 1, f);
  };
  if (k->as == fate::holding) kept_alone_.insert(w->who);
  start(w, {.decide = [is, who = w->who, as = k->as, ttl = k->ttl](resource& n, store_time at, kit::notices& out) {
          *is = n.keep(who, as, ttl, at, out);
        }});
}

// --- places ---

void database::keep_places(const keeping_ptr& k) {
  link_.ask(says_->extend_places(k->ttl, k->all), k->call->deadline, [this, k](link::said&& s) {
    if (const auto* f = std::get_if<failure>(&s)) return unsettled(k, k->all.size(), *f);
    std::map<id, bool> stand;
    std::set<std::string> look;
    for (const auto& p : kept_places(std::get<answers>(s))) {
      stand.emplace(p.who, true);
      if (p.look) look.insert(p.name);
    }
    for (std::size_t i = 0; i < k->all.size(); ++i) {
      stand.contains(k->all[i].who) ? settled(k, i, fate::waiting) : keep_one(k, i, 0);
    }
    for (const auto& name : look) reap(name);
  });
}

// --- sessions ---

void database::carry_out(kit::lease_pool::output& out) {
  for (const auto& o : std::exchange(out.orders, {})) {
    const auto deadline = now() + around().request_timeout;
    switch (o.what) {
      case pool_order::verb::grant: {
        const auto session = static_cast<std::int64_t>(around().ids->next().serial() >> 1) | 1;
        own_sessions_.push_back(session);
        if (own_sessions_.size() > own_sessions_known) own_sessions_.erase(own_sessions_.begin());
        link_.ask(says_->begin_session(session, o.ttl), deadline, [this, o, session](link::said&& s) {
          kit::lease_pool::output more;
          const auto* f = std::get_if<failure>(&s);
          if (f == nullptr) sessions_[session] = {};
          f != nullptr ? pool_.on_failure(o.number, *f, now(), more)
                       : pool_.on_granted(o.number, session, o.ttl, now(), more);
          carry_out(more);
        });
        break;
      }
      case pool_order::verb::renew:
        link_.ask(says_->renew_session(o.lease, o.ttl), deadline,
                  [this, o](link::said&& s) { renewed(o.number, o.lease, o.ttl, std::move(s)); });
        break;
      case pool_order::verb::revoke: link_.ask(says_->drop_session(o.lease), deadline, [](link::said&&) {}); break;
      case pool_order::verb::change_server: break;  // the link gives up a silent server by itself
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
  const auto k = at->second;
  renewing_.erase(at);
  auto which = std::exchange(k->by_session[n.lease], {});
  if (n.what == news::kind::failed) return unsettled(k, which.size(), n.why_not);
  if (n.what == news::kind::kept) {
    count(k, n.sent, n.ttl);
    const auto stands = [&](std::size_t i) {
      const auto mine = own_.find(k->all[i].who);
      return mine != own_.end() && mine->second.session == n.lease;
    };
    const auto unsure = std::partition(which.begin(), which.end(), stands);
    const std::vector<std::size_t> sure{which.begin(), unsure};
    which.erase(which.begin(), unsure);
    for (const auto i : sure) settled(k, i, fate::holding);
  }
  if (!which.empty()) extend(k, std::move(which));
}

}  // namespace tyer::sql
