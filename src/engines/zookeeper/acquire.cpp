// acquire(): look, stand in line, look again; the claim after a hand-over; the grant.
#include "core/token.hpp"
#include "engines/kit/resource.hpp"
#include "engines/zookeeper/core.hpp"

#include <algorithm>
#include <utility>

namespace tyer::zookeeper {

using namespace std::chrono_literals;

std::optional<failure> zookeeper_engine::objection(const seam::request& r) const {
  if (layout_.is_in_the_way(r.what.name))
    return no(why::refused, errc::refused,
              "a part of this name looks like a node of whoever waits for the name above it");
  return kit::resource{kit::limits{.capacity = capacity_max, .ttl = 24h}}.objection(r);
}

void zookeeper_engine::do_acquire(const seam::request& r, const call_ptr<answer>& c) {
  if (auto o = objection(r)) return calls().fail(*c, *std::move(o));
  if (calls().too_late(*c, now())) return;
  const auto a = std::make_shared<attempt>();
  a->c = c;
  a->who = r.what.who;
  a->name = r.what.name;
  a->owner = r.owner.substr(0, 4096);
  a->how = r.what.how;
  a->take = r.what.how == mode::permit ? r.take : 1;
  a->capacity = r.what.how == mode::permit ? r.capacity : 1;
  a->ttl = r.ttl;
  a->waiter_ttl = std::max(r.waiter_ttl, 1ms);
  a->enqueue = r.enqueue;
  a->seen = r.seen;
  const auto at = mine_.find(a->who);
  c->of = a->who;
  c->hurries = at != mine_.end() && (at->second.turn || at->second.called);
  calls().in_turn(c, a->name, [this, a] { start(a); });
}

void zookeeper_engine::start(const attempt_ptr& a) {
  if (a->c->over() || calls().too_late(*a->c, now())) return;
  if (writing_.contains(a->who)) return calls().fail(*a->c, under_way());
  const auto at = mine_.find(a->who);
  if (at != mine_.end() && at->second.name == a->name && at->second.in_doubt != nullptr) {
    return settle_doubt(a->who, [this, a](const failure* f) {
      if (a->c->over()) return;
      a->synced = true;
      f != nullptr ? calls().fail(*a->c, *f) : start(a);
    });
  }
  if (entry* e = own(a->who, a->name)) return again(a, *e);
  a->synced = a->synced || at != mine_.end();  // it is being taken away, and may be there
  const view* line = a->enqueue && !a->synced && a->how != mode::permit ? crowded(a->name) : nullptr;
  if (line != nullptr) {
    return find_member(place_ttl(*a), [this, a, v = *line](const failure* f, member* places) {
      if (a->c->over()) return;
      f != nullptr ? calls().fail(*a->c, *f) : create(a, *places, v, true);
    });
  }
  find_member(a->ttl, [this, a](const failure* f, member* m) {
    if (a->c->over()) return;
    f != nullptr ? calls().fail(*a->c, *f) : first_look(a, *m);
  });
}

void zookeeper_engine::retry(const attempt_ptr& a) {
  if (++a->tries > tries_max)
    return calls().fail(*a->c, no(why::unknown, errc::unavailable, others_were_quicker().words));
  start(a);
}

void zookeeper_engine::first_look(const attempt_ptr& a, member& m) {
  look(m, a->name, a->synced, [this, a, &m](const failure* f, const view& v) {
    if (a->c->over()) return;
    f != nullptr ? calls().fail(*a->c, *f) : first_seen(a, m, v);
  });
}

void zookeeper_engine::first_seen(const attempt_ptr& a, member& m, const view& v) {
  if (const contender* c = v.all.find(a->who)) return adopt(a, m, *c);
  if (!v.there) return make_container(a, m);
  if (v.all.fits(a->how, a->take, a->capacity)) return create(a, m, v, false);
  const contender& first = v.all.all().front();
  const bool differs = a->how == mode::permit && first.how == mode::permit && first.capacity != a->capacity;
  if ((!a->enqueue || differs) && !std::exchange(a->synced, true)) return first_look(a, m);  // perhaps it was old
  if (differs) {
    return calls().fail(*a->c, no(why::refused, errc::permits_differ,
                                  "this name is in use with " + std::to_string(first.capacity) + " permits, not " +
                                      std::to_string(a->capacity)));
  }
  if (!a->enqueue) return tell_place(a, &first, seam::busy{a->waiter_ttl});
  find_member(place_ttl(*a), [this, a, v](const failure* f, member* places) {
    if (a->c->over()) return;
    f != nullptr ? calls().fail(*a->c, *f) : create(a, *places, v, true);
  });
}

// --- who stands in line already

void zookeeper_engine::again(const attempt_ptr& a, entry& e) {
  if (!e.in->usable(now())) return calls().fail(*a->c, not_connected());
  // Its turn stays, and there is a write to come that fails if its place has gone: that is all there is to look for. If it was only
  // called, the write fails too if anything was ever converted here.
  const bool called = !e.turn && std::exchange(e.called, false);
  const bool has_part = (called || (e.turn && e.own_part)) && e.part > a->seen;
  const bool knows_all = has_part && waits(e) && !e.upgrading && e.in_doubt == nullptr;
  if (knows_all && e.me.how == a->how && a->how != mode::permit && must_move(e, *a))
    return move(a, e.part, called ? with_move{{}, 0, std::exchange(e.must_be_gone, {})} : with_move{});
  look(*e.in, a->name, true, [this, a](const failure* f, const view& v) {
    if (a->c->over()) return;
    if (f != nullptr) return calls().fail(*a->c, *f);
    entry* mine = own(a->who, a->name);
    const contender* c = v.all.find(a->who);
    if (mine == nullptr) return retry(a);
    if (const contender* another = v.all.another_of(a->who, mine->me.number)) return clear_away(a, *mine->in, *another);
    if (!is_gone(*mine, c)) return decide(a, v);
    lose(a->who);  // this asks anew, when nothing is left of it
    if (c == nullptr) return retry(a);
    remove(a->name, a->who, 0, [this, a](const failure* wrong, fate) {
      if (a->c->over()) return;
      wrong != nullptr ? calls().fail(*a->c, *wrong) : retry(a);
    });
  });
}

void zookeeper_engine::decide(const attempt_ptr& a, const view& v) {
  entry* e = own(a->who, a->name);
  const contender* c = v.all.find(a->who);
  if (e == nullptr || c == nullptr) {
    forget(a->who);
    return calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, "it was taken away while it was acquired"));
  }
  const auto refuse = [&](const char* words) { calls().fail(*a->c, no(why::refused, errc::refused, words)); };
  const bool same = c->how == a->how && c->take == a->take;
  if (!v.all.holds(*c)) {
    if (!same) return refuse("this id waits for the lock in another mode");
    if (a->enqueue || e->turn) return queue(a, v, *c);
    return step_back(a, *e, v.all.all().front());
  }
  if (c->upgrading && a->how == mode::exclusive) {
    if (!v.all.has_turn(*c)) return calls().answer<answer>(*a->c, answer{seam::queued{0, e->ttl}});
    return rename(a->who, v.all, mode::exclusive, true, [this, a](const failure* f) {
      if (a->c->over()) return;
      f != nullptr ? calls().fail(*a->c, *f) : grant_once_proven(a);
    });
  }
  if (!same && !(c->how == mode::exclusive && a->how == mode::shared))
    return refuse("this id holds the lock in another mode");
  e->holding ? grant_once_proven(a) : claim(a, v);
}

// It came too late and does not wait: busy is told when its node is no more in anybody's way.
void zookeeper_engine::step_back(const attempt_ptr& a, entry& e, const contender& first) {
  put_off(a->who, e, now() + around().request_timeout);  // once more, if this fails
  e.leaving = e.over = true;
  remove(a->name, a->who, 0, [this, a, first](const failure* f, fate) {
    if (a->c->over()) return;
    f != nullptr ? calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, f->words))
                 : tell_place(a, &first, seam::busy{a->waiter_ttl});
  });
}

void zookeeper_engine::queue(const attempt_ptr& a, const view& v, const contender& c) {
  entry& e = mine_.at(a->who);
  put_off(a->who, e, now() + a->waiter_ttl);
  note_crowd(a->name, v);
  const contender& first = v.all.all().front();
  const seam::queued place{v.all.ahead(c), a->waiter_ttl};
  const bool watch_tells =
      place.ahead == 0 && v.all.in_the_way_of(c) == &first && e.watching != path_of(a->name) + '/' + first.watched();
  if (watch_tells)
    return watch_way(a->who, e, v, c, [this, a, place](const response& r) { tell_place_by(a, r, place); });
  watch_way(a->who, e, v, c);
  tell_place(a, place.ahead == 0 ? &first : nullptr, place);
}

// When to look again: when the first holder may be over by its own word; whoever asks after that, when its session must be.
void zookeeper_engine::tell_place(const attempt_ptr& a, const contender* first, told_place what) {
  member* m = any_member();
  if (a->c->over()) return;
  if (first == nullptr || m == nullptr) {
    return std::visit([&](auto& each) { calls().answer<answer>(*a->c, answer{each}); }, what);
  }
  const auto path = path_of(a->name) + '/' + first->node;
  m->link.session().call(op::get_data, wire::watch_body(path, false), now(),
                         [this, a, what](const response& r) { tell_place_by(a, r, what); });
}

void zookeeper_engine::tell_place_by(const attempt_ptr& a, const response& first, told_place what) {
  if (a->c->over()) return;
  const auto n = first.good() ? wire::read_node(first.body) : std::nullopt;
  const auto record = n ? layout_.read_data(n->data) : std::nullopt;
  const bool gone = first.says(wire::no_node);
  auto after = gone ? milliseconds{1} : a->waiter_ttl;  // how long it lasts, nobody may have written for us to read
  if (record && !record->by_another) after = record->ttl;
  if (auto* b = std::get_if<seam::busy>(&what)) {
    b->hint = after;
    return calls().answer<answer>(*a->c, answer{*b});
  }
  entry* e = own(a->who, a->name);
  const bool asked_before = e != nullptr && record && std::exchange(e->asked_before, true);
  if (asked_before) after = std::max(after, record->session * 3 / 2);
  std::get<seam::queued>(what).look_again = after;
  calls().answer<answer>(*a->c, answer{std::get<seam::queued>(what)});
}

// --- the grant

void zookeeper_engine::claim(const attempt_ptr& a, const view& v) {
  entry& e = mine_.at(a->who);
  const bool plain = v.is.version == 0 || !layout_.is_own();  // what others wrote there is not for us
  if (plain && a->how != mode::permit) return claim_with(a, v, {}, v.is);
  read_both(*e.in, a->name, [this, a](const failure* f, record_of_name r, const wire::stat& is, const view& now_there) {
    if (a->c->over()) return;
    if (f != nullptr) return calls().fail(*a->c, *f);
    const contender* c = now_there.all.find(a->who);
    const entry* mine = own(a->who, a->name);
    const bool holds = c != nullptr && now_there.all.holds(*c) && mine != nullptr && c->number == mine->me.number;
    holds ? claim_with(a, now_there, std::move(r), is) : retry(a);
  });
}

void zookeeper_engine::claim_with(const attempt_ptr& a, const view& v, record_of_name r, const wire::stat& is) {
  entry& e = mine_.at(a->who);
  auto part = r.part_of(e.me, e.part, is.modified);
  const bool overtaken = part && *part <= a->seen && layout_.is_own();  // by one of this client that came later
  if (overtaken) part.reset();
  if (a->how == mode::permit && r.assign(v.all)) {
    r.keep_floor(is.modified);
    auto body = wire::data_body(path_of(a->name), write(r), is.version);
    e.in->link.session().call(op::set_data, std::move(body), now(), [this, a](const response& w) {
      if (a->c->over()) return drop(a->who);
      const bool lost = w.says(wire::bad_version) || w.says(wire::no_node);
      w.good() || lost ? retry(a) : calls().fail(*a->c, failed(w, true));
    });
    return;
  }
  if (a->how == mode::permit) e.slots = r.slots[e.me.number];
  const bool named = e.me.node == moved_node(e.me.how, e.me);  // it has its part already
  if (named || (part == e.part && !must_move(e, *a))) return grant_once_proven(a);
  if (part) return move(a, *part);
  r.raise(v.all);
  move(a, r.place_of(e.me), {write(r), is.version});
}

// To a session that lives long enough for a hold; in the same place. An exclusive place stays beside it: whoever watches that need not
// look for another. With a new floor it is a place of this write.
void zookeeper_engine::move(const attempt_ptr& a, std::uint64_t part, with_move with) {
  find_member(a->ttl, [this, a, part, with = std::move(with)](const failure* f, member* to) {
    if (a->c->over()) return;
    if (f != nullptr) return calls().fail(*a->c, *f);
    entry* e = own(a->who, a->name);
    if (e == nullptr || writing_.contains(a->who)) return retry(a);
    auto next = e->me;
    next.node = moved_node(e->me.how, e->me);
    const auto from = path_of(*e), onto = path_of(a->name) + '/' + next.node;
    const record r{a->ttl, to->link.session().timeout(), part, e->times_asked, {}, a->owner};
    std::vector<wire::step> steps{
        {op::create, wire::create_body(onto, write(r), config_.rights, wire::node_kind::ephemeral)},
        {e->me.is_place() ? op::check : op::remove, wire::version_body(from, -1)}};
    const auto name = path_of(a->name);
    for (const auto& node : with.gone) {
      steps.push_back(never_there(name + '/' + node));
      steps.push_back({op::remove, wire::version_body(name + '/' + node, -1)});
    }
    if (!with.floor.empty()) {
      steps.push_back({op::set_data, wire::data_body(name, with.floor, *with.version)});
    } else if (with.version) {
      steps.push_back({op::check, wire::version_body(name, *with.version)});
    }
    e->leaving = true;  // its end is no news
    writing_.insert(a->who);
    to->link.session().call(op::multi, wire::multi_body(steps), now(),
                            [this, a, to, next, part](const response& w) { on_moved(a, *to, next, part, w); });
  });
}

void zookeeper_engine::on_moved(const attempt_ptr& a, member& to, const contender& next, std::uint64_t part,
                                const response& w) {
  writing_.erase(a->who);
  const auto all = w.good() ? wire::read_multi(w.body) : std::nullopt;
  const bool moved = all && std::ranges::all_of(*all, [](const auto& s) { return s.error == wire::ok; });
  // The session of its place has ended meanwhile, but it was moved before, or may have been: it is there as long as the other session.
  if ((moved || w.is == response::how::unknown) && !to.over && !mine_.contains(a->who)) {
    auto c = next;
    c.node.clear();
    c.place.clear();
    add_entry(*a, to, c, 0);
  }
  const auto at = mine_.find(a->who);
  if (at == mine_.end()) return a->c->over() ? void() : retry(a);
  entry& e = at->second;
  e.leaving = false;
  if (moved && !to.over) {
    rename_entry(e, next, to);
    e.part = part < places_per_write ? part_at(all->back().is.modified, part) : part;
    return a->c->over() ? drop(a->who) : grant_once_proven(a);
  }
  if (w.is == response::how::unknown && !to.over) doubt(a->who, to);
  const auto wrong = all ? wire::error_of(*all) : w.error;
  const bool taken = all && all->size() > 1 && (*all)[1].error == wire::no_node;  // its place
  const bool there = all && !all->empty() && all->front().error == wire::node_exists;
  const bool elsewhere = there || (moved && !e.me.is_place()) || (all && wrong == wire::no_node);
  if (taken) {
    lose(a->who);
  } else if (elsewhere && e.me.is_place() && a->c->over()) {
    drop(a->who);  // nobody looks for it any more
  } else if (elsewhere) {
    forget(a->who);
  }
  if (a->c->over()) return;
  const bool in_the_way = all && (wrong == wire::bad_version || wrong == wire::node_exists);
  if (moved || elsewhere || in_the_way) return retry(a);
  calls().fail(*a->c, failed(all ? refused_with(wrong) : w, true));
}

void zookeeper_engine::grant_once_proven(const attempt_ptr& a) {
  entry& e = mine_.at(a->who);
  prove(*e.in, a->c->sent + a->ttl, [this, a](bool) {
    if (a->c->over()) return drop(a->who);
    grant(a);
  });
}

// It stands as long as its session is proven to.
void zookeeper_engine::grant(const attempt_ptr& a) {
  entry* e = own(a->who, a->name);
  if (e == nullptr || !e->in->life.live(now()))
    return calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, "the session it lives by has ended"));
  const bool too_small = e->part <= a->seen;
  if (too_small || e->part > core::part_max) {
    if (too_small && !std::exchange(a->anew, true)) {  // a new node counts as much as the servers do
      return remove(a->name, a->who, 0, [this, a](const failure* f, fate) {
        if (a->c->over()) return;
        f != nullptr ? calls().fail(*a->c, *f) : start(a);
      });
    }
    const auto* words =
        too_small ? "the client has seen a larger token than ZooKeeper has counted to; was it restored from a copy?"
                  : "the last token there is has been given";
    return remove(a->name, a->who, 0, [this, a, words](const failure*, fate) {
      if (!a->c->over()) calls().fail(*a->c, no(why::refused, errc::refused, words));
    });
  }
  const auto left = std::chrono::floor<milliseconds>(e->in->life.end() - a->c->sent);
  const auto ttl = std::min(a->ttl, left);
  e->holding = e->turn = true;
  e->over = false;
  e->ttl = a->ttl;
  const bool first = !std::exchange(e->told, true);
  if (first || e->due < a->c->sent + ttl) put_off(a->who, *e, a->c->sent + ttl);
  if (e->own_watch == watched::no) settle(a->who, *e, settled_after);
  calls().answer<answer>(*a->c, answer{seam::granted{e->part, ttl, e->slots}});
}

}  // namespace tyer::zookeeper
