// release() and evict(): a node is taken away, and what it was is told.
#include "engines/zookeeper/core.hpp"

#include <utility>

namespace tyer::zookeeper {

void zookeeper_engine::do_release(const target& t, bool, const call_ptr<fate>& c) {
  c->of = t.who;
  c->hurries = true;
  calls().in_turn(c, t.name, [this, c, name = std::string{t.name}, who = t.who] { take_away(name, who, false, c); });
}

void zookeeper_engine::do_evict(const target& t, std::string_view, const call_ptr<fate>& c) {
  c->of = t.who;
  calls().in_turn(c, t.name, [this, c, name = std::string{t.name}, who = t.who] {
    const entry* e = own(who, name);
    if (e == nullptr || !waits(*e) || !e->in->usable(now())) return take_away(name, who, e != nullptr, c);
    look(*e->in, name, true, [this, c, name, who](const failure* f, const view& v) {  // its turn may have come first
      if (f == nullptr && own(who, name) != nullptr) place_seen(who, v);
      if (!c->over()) take_away(name, who, own(who, name) != nullptr, c);
    });
  });
}

void zookeeper_engine::take_away(const std::string& name, const id& who, bool is_news, const call_ptr<fate>& c) {
  remove(name, who, 0, [this, c, who, is_news](const failure* f, fate was) {
    if (auto* t = told(); t != nullptr && is_news && f == nullptr && was != fate::gone) t->gone(who);
    if (c->over()) return;
    f != nullptr ? calls().fail(*c, *f) : calls().answer<fate>(*c, was);
  });
}

// An exclusive or shared hold goes without a look: nothing else depends on it.
void zookeeper_engine::remove(const std::string& name, const id& who, int tries, removed then, bool was_over) {
  const auto at = mine_.find(who);
  entry* e = at != mine_.end() && at->second.name == name ? &at->second : nullptr;
  was_over = was_over || (e != nullptr && e->over);
  if (e != nullptr && e->in_doubt != nullptr) {
    return settle_doubt(who, [this, name, who, tries, was_over, then = std::move(then)](const failure* f) {
      if (f == nullptr && is_asked_anew(who, was_over)) return then(nullptr, fate::gone);
      f != nullptr ? then(f, fate::unknown) : remove(name, who, tries + 1, then, was_over);
    });
  }
  member* m = e != nullptr && e->in->usable(now()) ? e->in : any_member();
  if (m == nullptr || tries > tries_max || writing_.contains(who)) {
    const auto f = tries > tries_max ? others_were_quicker() : m != nullptr ? under_way() : not_connected();
    return then(&f, fate::unknown);
  }
  if (e != nullptr && e->holding && !e->leaving && e->me.how != mode::permit)
    return delete_node(*m, name, e->me, fate::holding, std::move(then));
  look(*m, name, true, [this, m, name, who, tries, was_over, then = std::move(then)](const failure* f, const view& v) {
    if (f != nullptr) return then(f, fate::unknown);
    if (is_asked_anew(who, was_over)) return then(nullptr, fate::gone);
    const contender* c = v.all.find(who);
    if (c == nullptr) {
      if (const auto left = mine_.find(who); left != mine_.end() && left->second.name == name) lose(who);
      return then(nullptr, fate::gone);
    }
    if (const contender* another = v.all.another_of(who, c->number))
      return remove_another(*m, name, *another, tries, then, was_over);
    if (c->how == mode::permit) return remove_permit(*m, name, who, tries, then, was_over);
    delete_node(*m, name, *c, v.all.holds(*c) ? fate::holding : fate::waiting, then);
  });
}

// Of an earlier request of this id; or its own, if that one stands before it: both are to go.
void zookeeper_engine::remove_another(member& m, const std::string& name, const contender& another, int tries,
                                      removed then, bool was_over) {
  if (const auto at = mine_.find(another.who); at != mine_.end()) at->second.leaving = true;
  delete_nodes(m, name, another, [this, name, who = another.who, tries, then, was_over](const response& r) {
    if (r.is == response::how::answered) return remove(name, who, tries + 1, then, was_over);
    if (const auto at = mine_.find(who); at != mine_.end()) put_off(who, at->second, now() + settled_after);
    const auto f = failed(r, true);
    then(&f, fate::unknown);
  });
}

void zookeeper_engine::delete_node(member& m, const std::string& name, const contender& c, fate was, removed then) {
  const auto at = mine_.find(c.who);
  const bool news = at != mine_.end() && !std::exchange(at->second.leaving, true);
  delete_nodes(m, name, contender{c}, [this, name, who = c.who, was, news, then = std::move(then)](const response& r) {
    const auto left = mine_.find(who);
    const bool gone = r.says(wire::no_node);
    if (r.good() || gone) {
      if (left != mine_.end() && left->second.leaving) forget(who);
      if (auto* t = told(); t != nullptr && news && gone) t->gone(who);
      return then(nullptr, gone ? fate::gone : was);
    }
    if (r.says(wire::node_exists)) return remove(name, who, 1, then);            // it has just been claimed
    if (left != mine_.end()) put_off(who, left->second, now() + settled_after);  // once more
    const auto f = failed(r, true);
    then(&f, fate::unknown);
  });
}

// A hold goes with its place, which is changed by that: so whoever watches the place knows that it is next (own.cpp). A place that goes by
// itself is not; another client may be about to claim by it, and then both are to go.
void zookeeper_engine::delete_nodes(member& m, const std::string& name, const contender& c, heard then) {
  const auto path = path_of(name) + '/';
  const auto gone = [&](const std::string& node) {
    return wire::step{op::remove, wire::version_body(path + node, -1)};
  };
  std::vector<wire::step> steps;
  if (c.has_both()) {
    steps = {{op::set_data, wire::data_body(path + c.place, {}, -1)}, gone(c.place), gone(c.node)};
  } else if (c.is_place() && !mine_.contains(c.who)) {
    const auto hold = moved_node(c.how, c);
    steps = {never_there(path + hold), gone(hold), gone(c.place)};
  } else {
    return m.link.session().call(op::remove, wire::version_body(path + c.node, -1), now(), std::move(then));
  }
  m.link.session().call(op::multi, wire::multi_body(steps), now(), [this, &m, name, c, then](const response& r) {
    const auto all = r.good() ? wire::read_multi(r.body) : std::nullopt;
    const auto error = all ? wire::error_of(*all) : wire::runtime_inconsistency;
    if (!r.good()) return then(r);
    if (error != wire::no_node || !c.has_both()) return then(refused_with(error));
    auto rest = c;  // one of the two
    const bool no_place = all->front().error == wire::no_node;
    no_place ? rest.place.clear() : void(rest.node = rest.place);
    delete_nodes(m, name, rest, [no_place, then](const response& w) {
      then(w.good() && !no_place ? refused_with(wire::no_node) : w);
    });
  });
}

// Whoever has its turn by this gets its slots now: later others may be free.
void zookeeper_engine::remove_permit(member& m, const std::string& name, const id& who, int tries, removed then,
                                     bool was_over) {
  read_both(m, name,
            [this, &m, name, who, tries, was_over, then](const failure* f, record_of_name r, const wire::stat& is,
                                                         const view& v) {
              if (f != nullptr) return then(f, fate::unknown);
              if (is_asked_anew(who, was_over)) return then(nullptr, fate::gone);
              const contender* c = v.all.find(who);
              if (c == nullptr) return remove(name, who, tries + 1, then, was_over);  // it has just gone
              const auto was = v.all.holds(*c) ? fate::holding : fate::waiting;
              auto rest = v.all;
              r.assign(rest);  // as they stand; then as they will
              rest.remove(who);
              r.assign(rest);
              r.keep_floor(is.modified);
              if (const auto at = mine_.find(who); at != mine_.end()) at->second.leaving = true;
              const std::vector<wire::step> steps{{op::remove, wire::version_body(path_of(name) + '/' + c->node, -1)},
                                                  {op::set_data, wire::data_body(path_of(name), write(r), is.version)}};
              m.link.session().call(
                  op::multi, wire::multi_body(steps), now(),
                  [this, name, who, was, tries, was_over, then](const response& w) {
                    const auto at = mine_.find(who);
                    const auto all = w.good() ? wire::read_multi(w.body) : std::nullopt;
                    if (all && all->size() == 2 && all->front().error == wire::ok && all->back().error == wire::ok) {
                      if (at != mine_.end() && at->second.leaving) forget(who);
                      return then(nullptr, was);
                    }
                    if (at != mine_.end()) at->second.leaving = false;
                    const auto error = all ? wire::error_of(*all) : w.error;
                    if (all && (error == wire::bad_version || error == wire::no_node))
                      return remove(name, who, tries + 1, then, was_over);
                    if (at != mine_.end() && !all) put_off(who, at->second, now() + settled_after);
                    const auto wrong = failed(all ? refused_with(error) : w, true);
                    then(&wrong, fate::unknown);
                  });
            });
}

// Nobody was told of it, or its time is over. Whoever keeps nothing may not run for long either: so without a question, where there is
// none. Tried until it is gone, or its session is.
void zookeeper_engine::drop(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  entry& e = at->second;
  const bool news = e.told && !e.leaving;
  put_off(who, e, now() + around().request_timeout);  // once more, if this fails
  e.leaving = e.over = true;
  if (auto* t = told(); t != nullptr && news) t->gone(id{who});
  const auto again = mine_.find(who);
  if (again == mine_.end() || !again->second.in->usable(now())) return;
  const auto gone = [this, who = id{who}](const failure* f, fate) {
    const auto left = mine_.find(who);
    if (left == mine_.end() || !left->second.leaving) return;
    f == nullptr ? forget(who) : put_off(who, left->second, now() + settled_after * 4);
  };
  entry& left = again->second;
  const bool one_write = left.me.how != mode::permit && !is_renamed(left);  // nobody asks what it was
  const auto name = left.name;
  one_write ? delete_node(*left.in, name, left.me, fate::unknown, gone) : remove(name, id{left.me.who}, 0, gone);
}

void zookeeper_engine::drop_overdue(time_point now) {
  while (!dues_.empty() && dues_.begin()->first <= now) drop(id{dues_.begin()->second});
}

}  // namespace tyer::zookeeper
