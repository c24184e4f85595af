// release() and evict(): a node is taken away, and what it was is told.
#include "engines/zookeeper/core.hpp"

#include <utility>

namespace tyer::zookeeper {

void zookeeper_engine::do_release(const target& t, bool, const call_ptr<fate>& c) {
  calls().in_turn(c, t.name, [this, c, name = std::string{t.name}, who = t.who] { take_away(name, who, c); });
}

void zookeeper_engine::do_evict(const target& t, std::string_view, const call_ptr<fate>& c) {
  calls().in_turn(c, t.name, [this, c, name = std::string{t.name}, who = t.who] {
    const entry* e = own(who, name);
    if (e == nullptr || !waits(*e) || !e->in->usable(now())) return evict_now(name, who, c);
    look(*e->in, name, true, [this, c, name, who](const failure* f, const view& v) {  // its turn may have come first
      if (f == nullptr && own(who, name) != nullptr) place_seen(who, v);
      if (!c->over()) evict_now(name, who, c);
    });
  });
}

void zookeeper_engine::evict_now(const std::string& name, const id& who, const call_ptr<fate>& c) {
  const bool mine = own(who, name) != nullptr;
  remove(name, who, 0, [this, c, who, mine](const failure* f, fate was) {
    if (auto* events = told(); events != nullptr && mine && f == nullptr && was != fate::gone) events->gone(who);
    if (c->over()) return;
    f != nullptr ? calls().fail(*c, *f) : calls().answer<fate>(*c, was);
  });
}

void zookeeper_engine::take_away(const std::string& name, const id& who, const call_ptr<fate>& c) {
  remove(name, who, 0, [this, c](const failure* f, fate was) {
    if (c->over()) return;
    f != nullptr ? calls().fail(*c, *f) : calls().answer<fate>(*c, was);
  });
}

// An exclusive or shared hold goes without a look: nothing else depends on it.
void zookeeper_engine::remove(const std::string& name, const id& who, int tries, removed then) {
  const auto at = mine_.find(who);
  entry* e = at != mine_.end() && at->second.name == name ? &at->second : nullptr;
  if (e != nullptr && e->in_doubt != nullptr) {
    return settle_doubt(who, [this, name, who, tries, then = std::move(then)](const failure* f) {
      f != nullptr ? then(f, fate::unknown) : remove(name, who, tries + 1, then);
    });
  }
  member* m = e != nullptr && e->in->usable(now()) ? e->in : any_member();
  if (m == nullptr || tries > tries_max || writing_.contains(who)) {
    const auto f = tries > tries_max ? others_were_quicker() : m != nullptr ? under_way() : not_connected();
    return then(&f, fate::unknown);
  }
  if (e != nullptr && e->holding && !e->leaving && e->me.how != mode::permit)
    return delete_node(*m, who, path_of(*e), fate::holding, std::move(then));
  look(*m, name, true, [this, m, name, who, tries, then = std::move(then)](const failure* f, const view& v) {
    if (f != nullptr) return then(f, fate::unknown);
    const contender* c = v.all.find(who);
    if (c == nullptr) {
      if (const auto left = mine_.find(who); left != mine_.end() && left->second.name == name) lose(who);
      return then(nullptr, fate::gone);
    }
    if (c->how == mode::permit) return remove_permit(*m, name, who, tries, then);
    delete_node(*m, who, path_of(name) + '/' + c->node, v.all.holds(*c) ? fate::holding : fate::waiting, then);
  });
}

void zookeeper_engine::delete_node(member& m, const id& who, const std::string& path, fate was, removed then) {
  const auto at = mine_.find(who);
  const bool news = at != mine_.end() && !std::exchange(at->second.leaving, true);
  m.link.session().call(op::remove, wire::version_body(path, -1), now(),
                        [this, who, was, news, then = std::move(then)](const response& r) {
                          const auto left = mine_.find(who);
                          const bool gone = r.is == response::how::answered && r.error == wire::no_node;
                          if (r.good() || gone) {
                            if (left != mine_.end() && left->second.leaving) forget(who);
                            if (auto* t = told(); t != nullptr && news && gone) t->gone(who);
                            return then(nullptr, gone ? fate::gone : was);
                          }
                          if (left != mine_.end()) put_off(who, left->second, now() + settled_after);  // once more
                          const auto f = failed(r, true);
                          then(&f, fate::unknown);
                        });
}

// Whoever has its turn by this gets its slots now: later others may be free.
void zookeeper_engine::remove_permit(member& m, const std::string& name, const id& who, int tries, removed then) {
  read_both(
      m, name,
      [this, &m, name, who, tries, then](const failure* f, record_of_name r, const wire::stat& is, const view& v) {
        if (f != nullptr) return then(f, fate::unknown);
        const contender* c = v.all.find(who);
        if (c == nullptr) return remove(name, who, tries + 1, then);  // it has just gone
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
            op::multi, wire::multi_body(steps), now(), [this, name, who, was, tries, then](const response& w) {
              const auto at = mine_.find(who);
              const auto all = w.good() ? wire::read_multi(w.body) : std::nullopt;
              if (all && all->size() == 2 && all->front().error == wire::ok && all->back().error == wire::ok) {
                if (at != mine_.end() && at->second.leaving) forget(who);
                return then(nullptr, was);
              }
              if (at != mine_.end()) at->second.leaving = false;
              const auto error = all ? wire::error_of(*all) : w.error;
              if (all && (error == wire::bad_version || error == wire::no_node))
                return remove(name, who, tries + 1, then);
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
  one_write ? delete_node(*left.in, id{who}, path_of(left), fate::unknown, gone) : remove(left.name, id{who}, 0, gone);
}

void zookeeper_engine::drop_overdue(time_point now) {
  while (!dues_.empty() && dues_.begin()->first <= now) drop(id{dues_.begin()->second});
}

}  // namespace tyer::zookeeper
