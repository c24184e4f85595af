// keep() and confirm(): what a session proves, and whether the node still stands.
#include "engines/zookeeper/core.hpp"

#include <algorithm>
#include <utility>

namespace tyer::zookeeper {

struct zookeeper_engine::keeping {
  call_ptr<seam::kept> c;
  fate as;
  milliseconds ttl;
  std::vector<fate> fates;
  std::size_t awaited = 1;
  time_point from = time_point::max(), until = time_point::max();
  std::optional<failure> wrong;

  // Of a sixth of what it proves it may be older than the call: however late the answer comes, what was proven by then needs no renewal.
  time_point enough() const { return c->sent + ttl - ttl / 6; }

  void proven(const lease& l) {
    from = std::min(from, l.kept());
    until = std::min(until, l.end());
  }
};

// Whoever watches its node is told what became of it before a sync is answered that left later: one for each session.
void zookeeper_engine::do_keep(std::span<const target> all, fate as, milliseconds ttl, const call_ptr<seam::kept>& c) {
  for (auto& m : members_) {  // whatever is over is gone, though nobody was here to notice
    if (m->ready && !m->over && !m->life.live(now())) condemn(*m);
  }
  drop_overdue(now());
  const auto k = std::make_shared<keeping>();
  k->c = c;
  k->as = as;
  k->ttl = ttl;
  k->fates.assign(all.size(), fate::unknown);
  k->awaited += all.size();
  std::map<member*, std::vector<kept_one>> own_ones;
  std::map<std::string, std::vector<kept_one>> others;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const entry* e = own(all[i].who, all[i].name);
    const auto known = mine_.find(all[i].who);
    if (known != mine_.end() && known->second.over && known->second.name == all[i].name) {
      k->fates[i] = fate::gone;
      one_kept(k);
    } else if (writing_.contains(all[i].who)) {
      keep_no_more(k, under_way());
    } else if (e == nullptr) {
      others[std::string{all[i].name}].push_back({i, all[i].who});
    } else if (!e->in->usable(now()) || e->in_doubt != nullptr) {
      keep_no_more(k, not_connected());
    } else {
      own_ones[e->in].push_back({i, all[i].who});
    }
  }
  keep_others(k, others);
  for (auto& [m, some] : own_ones) {
    prove(*m, k->enough(), [](bool) {});  // on its way with the sync, whoever needs it then
    m->link.session().call(
        op::sync, wire::path_body(layout_.sessions()), now(),
        [this, k, &m = *m, some = std::move(some)](const response& r) { keep_heard(k, m, some, r); });
  }
  one_kept(k);
}

void zookeeper_engine::keep_heard(const std::shared_ptr<keeping>& k, member& m, const std::vector<kept_one>& some,
                                  const response& r) {
  std::map<std::string, std::vector<kept_one>> unclear;
  for (const auto& one : some) {
    const auto at = mine_.find(one.who);
    if (!r.good()) {
      keep_no_more(k, failed(r, false));
    } else if (at == mine_.end() || at->second.over) {
      k->fates[one.i] = fate::gone;
      one_kept(k);
    } else if (is_renamed(at->second)) {
      keep_no_more(k, under_way(why::unknown));
    } else if (at->second.holding) {
      keep_hold(k, one.i, at->second);
    } else if (!watches_itself(at->second) || (!at->second.turn && at->second.watching.empty())) {
      unclear[at->second.name].push_back(one);
    } else {
      keep_place(k, one, at->second);
    }
  }
  for (const auto& [name, those] : unclear) keep_unclear(k, m, name, those);
}

// Whoever watches its node is told when that goes; who does not yet looks now.
void zookeeper_engine::keep_hold(const std::shared_ptr<keeping>& k, std::size_t i, entry& e) {
  const auto who = e.me.who;
  const auto finish = [this, k, i, who](bool live) {
    const auto at = mine_.find(who);
    const bool gone = at == mine_.end() || at->second.over;
    if (gone) k->fates[i] = fate::gone;
    if (!gone && !live) k->wrong = no(why::unknown, errc::unavailable, "the session could not be renewed");
    if (!gone && live) {
      lease& l = at->second.in->life;
      k->proven(l);
      k->fates[i] = fate::holding;
      put_off(who, at->second, std::max(at->second.due, std::min(l.end(), now() + k->ttl)));
    }
    one_kept(k);
  };
  const auto enough = k->enough();
  const auto go_on = [this, who, enough, finish] {
    const auto at = mine_.find(who);
    at == mine_.end() || at->second.over ? finish(false) : prove(*at->second.in, enough, finish);
  };
  const bool longer = k->ttl > e.ttl && std::min(k->ttl, e.in->life.ttl()) > e.ttl;
  if (watches_itself(e) && !longer) return go_on();
  watch_own(who);
  e.ttl = std::max(e.ttl, std::min(k->ttl, e.in->life.ttl()));
  const record r{e.ttl, e.in->link.session().timeout(), e.part, e.times_asked, {}, e.owner};
  const auto path = path_of(e);
  const auto seen = [this, who, path, go_on, k](const response& w) {
    const auto at = mine_.find(who);
    const bool missing = w.says(wire::no_node);
    if (at != mine_.end() && at->second.over) return go_on();
    if (at != mine_.end() && missing && (is_renamed(at->second) || path_of(at->second) != path))
      return keep_no_more(k, under_way(why::unknown));
    if (!w.good() && !missing) return keep_no_more(k, failed(w, false));
    if (missing) lose(who);
    go_on();
  };
  longer ? e.in->link.session().call(op::set_data, wire::data_body(path, layout_.write(r), -1), now(), seen)
         : e.in->link.session().call(op::exists, wire::watch_body(path, false), now(), seen);
}

// A turn that has come stays. Else it waits if that is still there which is in its way: a watch of it would have told before the sync
// was answered, and where none stands it is asked for.
void zookeeper_engine::keep_place(const std::shared_ptr<keeping>& k, const kept_one& one, entry& e) {
  if (e.turn || (e.barred == way::node && e.in->link.session().watches_set())) return keep_judged(k, one);
  e.in->link.session().call(op::exists, wire::watch_body(e.watching, false), now(),
                            [this, k, one, &m = *e.in, name = e.name](const response& r) {
                              if (r.good()) return keep_judged(k, one);
                              const bool left = r.says(wire::no_node);
                              left ? keep_unclear(k, m, name, {one}) : keep_no_more(k, failed(r, false));
                            });
}

// All of one session, behind its sync.
void zookeeper_engine::keep_unclear(const std::shared_ptr<keeping>& k, member& m, const std::string& name,
                                    const std::vector<kept_one>& those) {
  look(m, name, false, [this, k, those](const failure* f, const view& v) {
    for (const auto& one : those) {
      const auto at = mine_.find(one.who);
      const bool moves = at != mine_.end() ? is_renamed(at->second) : writing_.contains(one.who);
      if (f != nullptr) {
        keep_no_more(k, *f);
      } else if (moves) {
        keep_no_more(k, under_way(why::unknown));
      } else {
        if (at != mine_.end() && v.all.find(one.who) == nullptr) taken_away(one.who);
        place_seen(one.who, v);
        keep_judged(k, one);
      }
    }
  });
}

void zookeeper_engine::keep_judged(const std::shared_ptr<keeping>& k, const kept_one& one) {
  const auto judge = [this, k, one](bool live) {
    const auto known = mine_.find(one.who);
    const auto at = known != mine_.end() && known->second.over ? mine_.end() : known;
    if (at != mine_.end() && !live)
      return keep_no_more(k, no(why::unknown, errc::unavailable, "the session could not be renewed"));
    fate& is = k->fates[one.i];
    is = at == mine_.end() ? fate::gone : at->second.holding || at->second.turn ? fate::holding : fate::waiting;
    if (at != mine_.end()) k->proven(at->second.in->life);
    if (is == fate::waiting && k->as == fate::waiting)
      put_off(one.who, at->second, std::max(at->second.due, now() + k->ttl));
    if (is == fate::holding && k->as == fate::holding) is = fate::waiting;
    one_kept(k);
  };
  const auto at = mine_.find(one.who);
  at == mine_.end() || at->second.over ? judge(true) : prove(*at->second.in, k->enough(), judge);
}

// Not of this client: whoever knows the id may ask, but nothing is extended. One sync for all, and one look for each name.
void zookeeper_engine::keep_others(const std::shared_ptr<keeping>& k,
                                   const std::map<std::string, std::vector<kept_one>>& by_name) {
  member* m = by_name.empty() ? nullptr : any_member();
  if (m != nullptr) m->link.session().call(op::sync, wire::path_body(layout_.sessions()), now(), nullptr);
  for (const auto& [name, those] : by_name) {
    const auto told = [this, k, those](const failure* f, const view& v) {
      for (const auto& one : those) {
        if (f != nullptr) {
          keep_no_more(k, *f);
          continue;
        }
        const contender* c = v.all.find(one.who);
        k->fates[one.i] = c == nullptr ? fate::gone : v.all.holds(*c) ? fate::holding : fate::waiting;
        if (c != nullptr) k->until = k->from = std::min(k->from, k->c->sent);
        one_kept(k);
      }
    };
    const auto nobody = not_connected();
    m != nullptr ? look(*m, name, false, told) : told(&nobody, {});
  }
}

void zookeeper_engine::keep_no_more(const std::shared_ptr<keeping>& k, failure f) {
  k->wrong = std::move(f);
  one_kept(k);
}

// One whose fate is not known does not spoil what is known of the others.
void zookeeper_engine::one_kept(const std::shared_ptr<keeping>& k) {
  if (--k->awaited > 0 || k->c->over()) return;
  const bool nothing_known = std::ranges::all_of(k->fates, [](fate f) { return f == fate::unknown; });
  if (k->wrong && nothing_known) return calls().fail(*k->c, *std::move(k->wrong));
  auto ttl = k->ttl;
  if (k->until != time_point::max()) {
    k->c->counts_from = std::max(k->from, k->c->sent - k->ttl / 6);
    ttl = std::min(ttl, std::chrono::floor<milliseconds>(k->until - k->c->counts_from));
  }
  calls().answer<seam::kept>(*k->c, seam::kept{std::move(k->fates), std::max(ttl, milliseconds{1})});
}

// By requests that left since: a look behind a sync, and a renewal.
void zookeeper_engine::do_confirm(const target& t, milliseconds ttl, const call_ptr<seam::kept>& c) {
  entry* e = own(t.who, t.name);
  if (e == nullptr || !e->in->usable(now())) return do_keep({&t, 1}, fate::holding, ttl, c);
  member* m = e->in;
  look(*m, e->name, true, [this, c, ttl, who = t.who, node = e->me.node](const failure* f, const view& v) {
    if (c->over()) return;
    if (f != nullptr) return calls().fail(*c, *f);
    const contender* found = v.all.find(who);
    const auto at = mine_.find(who);
    const bool known = at != mine_.end() && !at->second.over;
    if (!known || found == nullptr || (at->second.me.node == node && is_gone(at->second, found))) {
      if (known) lose(who);
      return calls().answer<seam::kept>(*c, seam::kept{{fate::gone}, ttl});
    }
    if (!at->second.holding) return calls().answer<seam::kept>(*c, seam::kept{{fate::waiting}, ttl});
    renew(*at->second.in, [this, c, ttl, who](bool live) {
      const auto again = mine_.find(who);
      if (c->over()) return;
      if (again == mine_.end() || again->second.over)
        return calls().answer<seam::kept>(*c, seam::kept{{fate::gone}, ttl});
      const lease& l = again->second.in->life;
      if (!live) return calls().fail(*c, no(why::unknown, errc::unavailable, "the session could not be renewed"));
      put_off(who, again->second, std::max(again->second.due, std::min(l.end(), c->sent + ttl)));
      const auto left = std::chrono::floor<milliseconds>(l.end() - c->sent);
      calls().answer<seam::kept>(*c, seam::kept{{fate::holding}, std::min(ttl, left)});
    });
  });
}

}  // namespace tyer::zookeeper
