// What this client has, and what it is told about it.
#include "engines/zookeeper/core.hpp"

#include <algorithm>
#include <utility>

namespace tyer::zookeeper {

static std::string_view node_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }

static std::vector<std::string> names_of(const contender& c) {
  auto moved = moved_node(c.how, c);
  return c.node == moved ? std::vector{c.node} : std::vector{c.node, std::move(moved)};
}

zookeeper_engine::entry* zookeeper_engine::own(const id& who, std::string_view name) {
  const auto at = mine_.find(who);
  return at == mine_.end() || at->second.name != name || at->second.leaving ? nullptr : &at->second;
}

zookeeper_engine::entry& zookeeper_engine::add_entry(const attempt& a, member& m, const contender& c,
                                                     std::uint64_t part) {
  forget(a.who);
  entry& e = mine_[a.who];
  e.name = a.name;
  e.me = c;
  e.in = &m;
  e.ttl = a.ttl;
  e.waiter_ttl = a.waiter_ttl;
  e.part = part;
  e.seen = a.seen;
  e.owner = a.owner;
  const auto path = path_of(e);
  count(m, a.who, path);
  by_path_[path] = a.who;
  names_[e.name].ids.insert(a.who);
  put_off(a.who, e, now() + std::max(a.waiter_ttl, around().request_timeout));
  return e;
}

// Its place stays where it was, if it has one beside its hold then.
void zookeeper_engine::rename_entry(entry& e, contender c, member& m) {
  count_no_more(e);
  by_path_.erase(path_of(e));
  member* const of_place = e.me.is_place() ? e.in : e.place_in;
  e.place_in = c.has_both() ? of_place : nullptr;
  e.me = std::move(c);
  if (std::exchange(e.in, &m) != &m) e.watching.clear(), e.barred = way::nothing;  // it is told by another session
  e.own_watch = watched::no;
  count(m, e.me.who, path_of(e));
  if (e.place_in != nullptr) count(*e.place_in, e.me.who, path_of(e.name) + '/' + e.me.place);
  by_path_[path_of(e)] = e.me.who;
}

void zookeeper_engine::count(member& m, const id& who, const std::string& path) {
  m.entries.insert(who);
  m.path_bytes += path.size() + 4;
}

void zookeeper_engine::count_no_more(const entry& e) {
  e.in->path_bytes -= path_of(e).size() + 4;
  e.in->entries.erase(e.me.who);
  if (e.place_in == nullptr) return;
  e.place_in->path_bytes -= path_of(e.name).size() + 1 + e.me.place.size() + 4;
  e.place_in->entries.erase(e.me.who);
}

// --- a write that may have renamed the node, and has no answer

void zookeeper_engine::doubt(const id& who, member& sent_in) {
  mine_.at(who).in_doubt = &sent_in;
  sent_in.doubts.insert(who);
}

void zookeeper_engine::clear_doubt(entry& e) {
  if (member* m = std::exchange(e.in_doubt, nullptr)) m->doubts.erase(e.me.who);
}

// The session of its place has ended, but it was moved to another one before, or may have been: then it is there as long as that.
bool zookeeper_engine::may_have_moved(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return false;
  entry& e = at->second;
  if (e.in_doubt == nullptr || e.in_doubt == e.in || e.in_doubt->over) return false;
  auto c = e.me;
  c.node.clear();
  c.place.clear();
  rename_entry(e, std::move(c), *e.in_doubt);
  e.turn = e.called = false;
  return true;
}

// Only the session that the write was sent in can tell, once it is connected again: then nothing that it sent before is carried
// out any more.
void zookeeper_engine::settle_doubt(const id& who, settled then) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || at->second.in_doubt == nullptr) return then(nullptr);
  member& by = *at->second.in_doubt;
  if (!by.usable(now())) {
    const auto f = not_connected();
    return then(&f);
  }
  look(by, at->second.name, true, [this, who, &by, then = std::move(then)](const failure* f, const view& v) {
    if (f != nullptr) return then(f);
    const auto left = mine_.find(who);
    if (left == mine_.end() || left->second.in_doubt != &by) return then(nullptr);
    const contender* c = v.all.find(who);
    const bool place_alone = c != nullptr && left->second.holding && c->is_place();
    if (!place_alone && c != nullptr && c->node != left->second.me.node) return settle_with(who, *c, by, then);
    clear_doubt(left->second);
    if (c == nullptr || place_alone) lose(who);
    then(nullptr);
  });
}

// It was carried out: whose is the node?
void zookeeper_engine::settle_with(const id& who, const contender& c, member& by, settled then) {
  const auto path = path_of(mine_.at(who).name) + '/' + c.node;
  by.link.session().call(op::get_data, wire::watch_body(path, false), now(),
                         [this, who, c, &by, then = std::move(then)](const response& r) {
                           const auto at = mine_.find(who);
                           if (at == mine_.end() || at->second.in_doubt != &by) return then(nullptr);
                           const bool gone = r.says(wire::no_node);
                           const auto n = r.good() ? wire::read_node(r.body) : std::nullopt;
                           const auto record = n ? layout_.read_data(n->data) : std::nullopt;
                           if (!gone && !record) {
                             const auto f = failed(r, false);
                             return then(&f);
                           }
                           entry& e = at->second;
                           clear_doubt(e);
                           const auto is_its = [&](const auto& m) {
                             return !gone && !m->over && m->number == n->is.owner;
                           };
                           const auto in = std::ranges::find_if(members_, is_its);
                           if (in == members_.end()) {
                             e.me.is_place() ? give_up(who, *e.in) : lose(who);
                             return then(nullptr);
                           }
                           rename_entry(e, c, **in);
                           e.part = record->part_if(n->is.created);
                           e.upgrading = c.upgrading;
                           if (c.upgrading) e.turn = false;
                           watch_own(who);
                           then(nullptr);
                         });
}

void zookeeper_engine::forget(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  entry& e = at->second;
  const auto path = path_of(e);
  dues_.erase({e.due, who});
  settling_.erase({e.settles, who});
  by_path_.erase(path);
  clear_doubt(e);
  if (const auto n = names_.find(e.name); n != names_.end()) {
    n->second.ids.erase(who);
    if (n->second.ids.empty() && !n->second.looking) names_.erase(n);
  }
  count_no_more(e);
  e.in->used = now();
  if (e.place_in != nullptr) e.place_in->used = now();
  mine_.erase(at);
}

// By value: often from what is lost.
void zookeeper_engine::lose(id who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  const entry& e = at->second;
  member* const of_place = e.place_in != nullptr || !e.me.has_both() ? e.place_in : any_member();
  if (of_place != nullptr && !of_place->over) return give_up(who, *of_place);
  const bool news = !e.leaving;
  forget(who);
  if (auto* t = told(); t != nullptr && news) t->gone(who);
}

// Its hold has gone, and its place is in the way of others for as long as it stands.
void zookeeper_engine::give_up(id who, member& of_place) {
  entry& e = mine_.at(who);
  const bool news = !std::exchange(e.leaving, true);
  auto c = e.me;
  c.node = c.place;
  clear_doubt(e);
  rename_entry(e, std::move(c), of_place);
  if (auto* t = told(); t != nullptr && news) t->gone(who);
  drop(who);
}

// Somebody has taken a place away. Whoever did that may have found it holding, before this client has looked.
void zookeeper_engine::taken_away(id who) {
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  auto* const t = at->second.leaving ? nullptr : told();
  if (t != nullptr && may_have_its_turn(at->second)) t->wake(who);
  lose(who);
}

// What is in its way is known to be there still, if that would have been told before: in the same session, by watches that stand.
// Those that are set again tell what they have missed in any order.
bool zookeeper_engine::may_have_its_turn(const entry& e) const {
  if (!waits(e) || e.turn) return false;
  if (e.barred == way::nothing || !e.in->link.session().watches_set()) return true;
  const name_state& n = names_.at(e.name);
  return e.barred == way::list && (n.listed_by != e.in->number || !n.listed.standing());
}

void zookeeper_engine::put_off(const id& who, entry& e, time_point due) {
  dues_.erase({e.due, who});
  e.due = due;
  dues_.insert({due, who});
}

// --- looking

void zookeeper_engine::look(member& m, const std::string& name, bool synced, with_view then) {
  const auto path = path_of(name);
  if (synced) m.link.session().call(op::sync, wire::path_body(path), now(), nullptr);
  m.link.session().call(op::get_children, wire::watch_body(path, false), now(),
                        [this, then = std::move(then)](const response& r) {
                          view v;
                          if (r.says(wire::no_node)) return then(nullptr, v);
                          const auto c = r.good() ? wire::read_children(r.body) : std::nullopt;
                          if (!c) {
                            const auto f = failed(r, false);
                            return then(&f, v);
                          }
                          v.all = layout_.line_of(c->names);
                          v.is = c->is;
                          v.there = true;
                          then(nullptr, v);
                        });
}

void zookeeper_engine::read_name(member& m, const std::string& name, with_record then) {
  m.link.session().call(
      op::get_data, wire::watch_body(path_of(name), false), now(), [then = std::move(then)](const response& r) {
        const auto n = r.good() ? wire::read_node(r.body) : std::nullopt;
        const auto record = n ? read_record_of_name(n->data) : std::nullopt;
        if (record) return then(nullptr, *record, n->is);
        const auto f = n ? no(why::name_conflict, errc::name_conflict, "something else lies there") : failed(r, false);
        then(&f, {}, {});
      });
}

// First what is in the name's data, then who is there: whoever has slots in what was read and is not there has gone. The other way
// round it may have come in between, and its slots would be given to somebody else.
void zookeeper_engine::read_both(member& m, const std::string& name, with_both then) {
  struct answer {
    std::optional<failure> wrong;
    record_of_name record;
    wire::stat is;
  };
  const auto got = std::make_shared<answer>();
  read_name(m, name, [got](const failure* f, record_of_name r, const wire::stat& is) {
    if (f != nullptr) got->wrong = *f;
    got->record = std::move(r);
    got->is = is;
  });
  look(m, name, false, [got, then = std::move(then)](const failure* f, const view& v) {
    then(got->wrong ? &*got->wrong : f, std::move(got->record), got->is, v);
  });
}

// One look for all who wait for the name here; whatever comes meanwhile makes it look once more. It may be old: whoever has its turn
// by it keeps that, and whoever has not asks for a watch of what is in its way, which tells if that has gone.
void zookeeper_engine::refresh(const std::string& name, std::int64_t informed) {
  const auto at = names_.find(name);
  if (at == names_.end()) return;
  name_state& n = at->second;
  if (informed != 0) n.informed = informed;
  n.again = n.looking;
  if (n.looking) return;
  member* by = nullptr;
  for (const auto& who : n.ids) {
    const entry& e = mine_.at(who);
    if (waits(e) && e.in->usable(now()) && (by == nullptr || e.in->number == n.informed)) by = e.in;
  }
  if (by == nullptr) by = any_member();
  if (by == nullptr) return;  // when it is up again
  n.looking = true;
  look(*by, name, false, [this, name, by](const failure* f, const view& v) {
    if (f == nullptr) refreshed(name, v);
    const auto left = names_.find(name);  // it stays while somebody looks
    left->second.looking = false;
    const bool another_must = f != nullptr && !by->usable(now());
    const bool more = std::exchange(left->second.again, false) || another_must;
    if (more && !left->second.ids.empty()) return refresh(name);
    if (left->second.ids.empty()) names_.erase(left);
  });
}

void zookeeper_engine::refreshed(const std::string& name, const view& v) {
  std::vector<id> some;
  for (const auto& who : names_.at(name).ids) {
    const entry& e = mine_.at(who);
    if (!e.leaving && waits(e)) some.push_back(who);
  }
  for (const auto& who : some) place_seen(who, v);
}

void zookeeper_engine::place_seen(const id& who, const view& v) {
  const contender* c = v.all.find(who);
  const auto at = mine_.find(who);
  if (at == mine_.end()) return;
  entry& e = at->second;
  if (c == nullptr || c->node != e.me.node) return;  // on its way; that it has gone, its own watch tells
  if (!v.all.has_turn(*c)) return watch_way(who, e, v, *c);
  if (std::exchange(e.turn, true)) return;
  e.own_part = v.is.version == 0;
  if (!e.upgrading) put_off(who, e, now() + e.waiter_ttl);
  if (auto* t = told()) t->wake(who);
}

// Whoever held it alone stood first. It may have been converted to shared, or the own place been taken away: the claim fails then.
void zookeeper_engine::call_next(const id& who, std::vector<std::string> must_be_gone) {
  entry& e = mine_.at(who);
  if (e.turn || e.leaving) return;
  e.called = true;
  e.must_be_gone = std::move(must_be_gone);
  put_off(who, e, now() + e.waiter_ttl);
  if (auto* t = told()) t->wake(who);
}

void zookeeper_engine::watch_way(const id& who, entry& e, const view& v, const contender& c, heard told) {
  if (e.upgrading) watch_own(who);
  const auto together = std::min(names_.at(e.name).ids.size(), looks_serve_max);
  if (e.own_watch == watched::no && e.settles <= now()) settle(who, e, waited_after * together);
  const contender* before = v.all.in_the_way_of(c);
  if (before == nullptr) return watch_all(e, v);
  e.behind_first = v.all.place(*before) == 0;
  watch_node(who, e, path_of(e.name) + '/' + before->watched(), std::move(told));
}

void zookeeper_engine::watch_node(const id& who, entry& e, const std::string& path, heard told) {
  if (e.watching == path) return;
  e.watching = path;
  e.barred = way::nothing;
  e.called = false;
  e.in->link.session().watch(op::get_data, path, now(), [this, who, path, told = std::move(told)](const response& r) {
    if (told) told(r);
    const auto at = mine_.find(who);
    if (at == mine_.end() || at->second.watching != path) return;
    entry& mine = at->second;
    mine.barred = r.good() ? way::node : way::nothing;
    if (!r.good()) mine.watching.clear();  // nobody watches: when it is up again
    if (!r.says(wire::no_node)) return;
    if (const auto next = path_when_moved(path)) return watch_node(who, mine, *next);
    // It was seen as the first of all: so this is next, if it is gone for all servers, and not here alone.
    const auto c = read_contender(node_in(path));
    const bool is_next = c && c->how == mode::exclusive && mine.me.how == mode::exclusive && mine.behind_first;
    is_next ? call_next(who, names_of(*c)) : refresh(std::string{mine.name}, mine.in->number);
  });
}

// One session watches for all who need it here.
void zookeeper_engine::watch_all(entry& e, const view& v) {
  name_state& n = names_.at(e.name);
  e.barred = way::list;
  const auto lives = [&](const auto& m) { return !m->over && m->number == n.listed_by; };
  if (n.listed_by != 0 && std::ranges::none_of(members_, lives)) n.listed_by = 0;
  if (n.listed_by != 0) {
    if (n.listed.seen(v.is.child_version)) refresh(e.name, n.listed_by);
    return;
  }
  n.listed_by = e.in->number;
  n.listed = {};
  n.listed.seen(v.is.child_version);
  e.in->link.session().watch(op::get_children, path_of(e.name), now(), [this, name = e.name](const response& r) {
    const auto after = r.good() ? wire::read_children(r.body) : std::nullopt;
    const auto at = names_.find(name);
    if (at == names_.end()) return;
    if (!after) at->second.listed_by = 0;
    if (after && at->second.listed.stands(after->is.child_version)) refresh(name, at->second.listed_by);
  });
}

// It watched lists for others too, and is over.
void zookeeper_engine::relist(std::int64_t session) {
  std::vector<std::string> some;
  for (const auto& [name, n] : names_) {
    if (n.listed_by == session) some.push_back(name);
  }
  for (const auto& name : some) {
    if (const auto at = names_.find(name); at != names_.end()) at->second.listed_by = 0;
    refresh(name);
  }
}

// --- the own node

void zookeeper_engine::settle(const id& who, entry& e, milliseconds after) {
  settling_.erase({e.settles, who});
  e.settles = now() + after;
  settling_.insert({e.settles, who});
}

void zookeeper_engine::watch_own(const id& who) {
  const auto at = mine_.find(who);
  if (at == mine_.end() || at->second.own_watch != watched::no || at->second.leaving) return;
  if (at->second.in->usable(now())) own_changed(who);
}

void zookeeper_engine::own_changed(const id& who) {
  entry& e = mine_.at(who);
  const auto path = path_of(e);
  e.own_watch = watched::asked;
  e.in->link.session().watch(op::get_data, path, now(), [this, who, path](const response& r) {
    const auto at = mine_.find(who);
    if (at == mine_.end() || path_of(at->second) != path) return;
    if (at->second.leaving || at->second.in_doubt != nullptr) {  // being renamed: the watch of the new node tells
      at->second.own_watch = watched::no;
      return;
    }
    if (r.says(wire::no_node)) return taken_away(who);
    const auto n = r.good() ? wire::read_node(r.body) : std::nullopt;
    const auto record = n ? layout_.read_data(n->data) : std::nullopt;
    at->second.own_watch = record ? watched::yes : watched::no;
    if (!record) return;
    if (record->times_asked == at->second.times_asked) return;
    at->second.times_asked = record->times_asked;
    if (auto* t = told(); t != nullptr && at->second.holding) t->asked(who, record->asked);
  });
}

void zookeeper_engine::on_event(const member& m, const wire::event& e) {
  if (const auto at = by_path_.find(e.path); at != by_path_.end()) {
    const auto who = at->second;
    const bool news = !mine_.at(who).leaving && mine_.at(who).in_doubt == nullptr;
    if (news && e.what == wire::event::kind::changed) own_changed(who);
    if (news && e.what == wire::event::kind::removed) taken_away(who);
    if (!news) mine_.at(who).own_watch = watched::no;  // a watch tells once: it is looked at again
  }
  // Of a list of nodes, or of one of them.
  auto name = layout_.name_of(e.path);
  const bool of_list = name && names_.contains(*name);
  if (!of_list) name = layout_.name_of(std::string_view{e.path}.substr(0, e.path.rfind('/')));
  const auto at = name ? names_.find(*name) : names_.end();
  if (at == names_.end()) return;
  if (of_list) at->second.listed_by = 0;
  const auto c = layout_.read(node_in(e.path));
  const bool changed = e.what == wire::event::kind::changed && c && !c->is_place();
  const auto next = changed ? std::optional{e.path} : path_when_moved(e.path);
  std::vector<id> some, called;
  bool must_look = false;
  for (const auto& who : at->second.ids) {
    entry& mine = mine_.at(who);
    const bool by_list = of_list && mine.barred == way::list, by_node = mine.watching == e.path;
    if (!waits(mine) || (!by_list && !by_node)) continue;
    mine.barred = way::nothing;
    if (by_node) mine.watching.clear();
    const bool has_it = by_node && c && tells_the_next(mine, *c, e.what);
    if (has_it || (by_node && next)) (has_it ? called : some).push_back(who);
    must_look |= !has_it && (!by_node || !next);
  }
  for (const auto& who : some) {  // it is there still, or again, or has gone: then that is told at once
    if (const auto left = mine_.find(who); left != mine_.end()) watch_node(who, left->second, *next);
  }
  for (const auto& who : called) {
    if (mine_.contains(who)) call_next(who, to_be_gone(*c, e.what));
  }
  if (must_look) refresh(*name, m.number);
}

// What stood before it held the name alone: it was the first of all; or is called as a hold is, which nobody is before it had its turn; or
// is a place, which is changed by nothing but its end together with its hold. Where names do not tell, it may have waited too: then the
// next looks before it claims anyway.
bool zookeeper_engine::tells_the_next(const entry& next, const contender& before, wire::event::kind what) const {
  if (before.how != mode::exclusive || next.me.how != mode::exclusive) return false;
  if (what == wire::event::kind::changed) return before.is_place();
  const bool held = !layout_.is_own() || next.behind_first || before.node.ends_with('h');
  return what == wire::event::kind::removed && held;
}

// What its claim is to prove. Of a place that was changed, that it has gone; of what was seen as the first of all, that it has no other
// name now.
std::vector<std::string> zookeeper_engine::to_be_gone(const contender& before, wire::event::kind what) const {
  if (!layout_.is_own() || before.node.ends_with('h')) return {};
  if (what == wire::event::kind::changed) return {before.node};
  return names_of(before);
}

// Whoever had its turn together with others, and had a place in another session, is called so from then on, in its place.
std::optional<std::string> zookeeper_engine::path_when_moved(const std::string& path) {
  const auto c = read_contender(node_in(path));
  if (!c || c->upgrading || c->how == mode::exclusive || path.ends_with('h')) return std::nullopt;
  return path.substr(0, path.rfind('/') + 1) + moved_node(c->how, *c);
}

}  // namespace tyer::zookeeper
