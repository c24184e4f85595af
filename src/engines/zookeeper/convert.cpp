// convert(): a node gets another name in the same place.
#include "core/token.hpp"
#include "engines/zookeeper/core.hpp"

#include <algorithm>
#include <utility>

namespace tyer::zookeeper {

void zookeeper_engine::do_convert(const target& t, mode to, milliseconds, const call_ptr<answer>& c) {
  c->of = t.who;
  calls().in_turn(c, t.name,
                  [this, c, name = std::string{t.name}, who = t.who, to] { start_convert(c, name, who, to); });
}

void zookeeper_engine::start_convert(const call_ptr<answer>& c, const std::string& name, const id& who, mode to) {
  if (c->over() || calls().too_late(*c, now())) return;
  const auto known = mine_.find(who);
  const bool leaves = known != mine_.end() && known->second.name == name && known->second.leaving;
  if (leaves && known->second.over)
    return calls().fail(*c, no(why::refused, errc::lost, "there is no such hold to convert"));
  if (writing_.contains(who) || leaves) return calls().fail(*c, under_way());
  entry* e = own(who, name);
  if (e != nullptr && e->in_doubt != nullptr) {
    return settle_doubt(who, [this, c, name, who, to](const failure* f) {
      if (c->over()) return;
      f != nullptr ? calls().fail(*c, *f) : start_convert(c, name, who, to);
    });
  }
  member* m = e != nullptr ? e->in : any_member();  // of what it does not know only a server can tell
  if (m == nullptr || !m->usable(now())) return calls().fail(*c, not_connected());
  look(*m, name, true, [this, c, who, to, mine = e != nullptr](const failure* f, const view& v) {
    if (c->over()) return;
    if (f != nullptr) return calls().fail(*c, *f);
    mine ? convert_seen(c, who, to, v)
         : calls().fail(*c, no(why::refused, errc::lost, "there is no such hold to convert"));
  });
}

void zookeeper_engine::convert_seen(const call_ptr<answer>& c, const id& who, mode to, const view& v) {
  const contender* me = v.all.find(who);
  const auto at = mine_.find(who);
  const bool gone = me == nullptr || (at != mine_.end() && is_gone(at->second, me));
  if (gone || !v.all.holds(*me) || at == mine_.end()) {
    if (gone) lose(who);
    return calls().fail(*c, no(why::refused, errc::lost, "there is no such hold to convert"));
  }
  if (me->how == mode::permit || to == mode::permit)
    return calls().fail(*c, no(why::unsupported, errc::unsupported, "permits cannot be converted"));
  const auto done = [this, c, who](const failure* f) {
    if (c->over()) return;
    f != nullptr ? calls().fail(*c, *f) : converted(c, who);
  };
  if (to == me->how && !me->upgrading) return converted(c, who);
  // An upgrade that waits is taken back; one that has its turn is a downgrade, whether its owner knows of it or not.
  if (to == mode::shared) return rename(who, v.all, to, v.all.is_exclusive(*me), done);
  if (const contender* other = v.all.upgrade(); other != nullptr && other->who != who)
    return calls().answer<answer>(*c, answer{seam::busy{mine_.at(who).ttl}});
  if (v.numbers() >= numbers_max) return calls().fail(*c, no_more_numbers());
  me->upgrading ? upgrade_marked(c, who, v) : mark_upgrade(c, who, v, *me);
}

// From its mark on nobody joins: whoever holds it has a smaller number, and is waited for. So has whoever waits already: the first
// of those is noted, if it still waits when that is written.
void zookeeper_engine::mark_upgrade(const call_ptr<answer>& c, const id& who, const view& v, const contender& me) {
  entry& e = mine_.at(who);
  const record r{e.ttl, e.in->link.session().timeout(), e.part, e.times_asked, {}, e.owner};
  const contender* first = v.all.unmarked_behind(me);
  const auto path = path_of(e.name) + '/';
  const auto kind = me.upgrading ? wire::node_kind::ephemeral : wire::node_kind::ephemeral_sequential;
  std::vector<wire::step> steps{
      {op::create, wire::create_body(path + upgrading_node(me, first), write(r), config_.rights, kind)},
      {op::remove, wire::version_body(path + me.node, -1)}};
  if (first != nullptr) steps.push_back({op::check, wire::version_body(path + first->node, -1)});
  e.leaving = true;
  writing_.insert(who);
  e.in->link.session().call(op::multi, wire::multi_body(steps), now(),
                            [this, c, who](const response& w) { on_marked(c, who, w); });
}

void zookeeper_engine::on_marked(const call_ptr<answer>& c, const id& who, const response& w) {
  writing_.erase(who);
  const auto at = mine_.find(who);
  const auto all = w.good() ? wire::read_multi(w.body) : std::nullopt;
  if (at != mine_.end()) at->second.leaving = false;
  if (at != mine_.end() && w.is == response::how::unknown) doubt(who, *at->second.in);
  const bool left = all && all->size() == 3 && all->back().error == wire::no_node;
  const bool done = all && std::ranges::all_of(*all, [](const auto& s) { return s.error == wire::ok; });
  const auto made = done ? read_contender(std::string_view{all->front().path}.substr(all->front().path.rfind('/') + 1))
                         : std::nullopt;
  if (at != mine_.end() && left)  // who was to be the first behind it; perhaps nobody waits any more
    return c->over() ? void() : start_convert(c, std::string{at->second.name}, who, mode::exclusive);
  const auto wrong = all ? wire::error_of(*all) : w.error;
  if (at == mine_.end() || (all && !made && (done || wrong == wire::no_node))) {
    lose(who);
    return c->over() ? void() : calls().fail(*c, no(why::refused, errc::lost, "the hold was taken away"));
  }
  if (!made) return c->over() ? void() : calls().fail(*c, failed(all ? refused_with(wrong) : w, true));
  rename_entry(at->second, *made, *at->second.in);
  at->second.upgrading = at->second.holding = true;  // whoever converts it knows that it has it
  at->second.turn = false;
  look(*at->second.in, at->second.name, false, [this, c, who](const failure* f, const view& v) {
    if (c->over()) return;
    f != nullptr ? calls().fail(*c, no(why::unknown, errc::outcome_unknown, f->words)) : upgrade_marked(c, who, v);
  });
}

void zookeeper_engine::upgrade_marked(const call_ptr<answer>& c, const id& who, const view& v) {
  const contender* me = v.all.find(who);
  const auto at = mine_.find(who);
  if (me == nullptr || at == mine_.end())
    return calls().fail(*c, no(why::refused, errc::lost, "there is no such hold to convert"));
  entry& e = at->second;
  if (v.all.upgrade()->who != who) {  // the second of two would wait for ever
    return rename(who, v.all, mode::shared, false, [this, c, ttl = e.ttl](const failure* f) {
      if (c->over()) return;
      f != nullptr ? calls().fail(*c, *f) : calls().answer<answer>(*c, answer{seam::busy{ttl}});
    });
  }
  if (v.all.unmarked_behind(*me) != nullptr) return mark_upgrade(c, who, v, *me);  // it came just before the mark
  if (!v.all.has_turn(*me)) {
    watch_way(who, e, v, *me);
    return calls().answer<answer>(*c, answer{seam::queued{0, e.ttl}});
  }
  rename(who, v.all, mode::exclusive, true, [this, c, who](const failure* f) {
    if (c->over()) return;
    f != nullptr ? calls().fail(*c, *f) : converted(c, who);
  });
}

// A new part is that of this write, and the least that anybody after it may have: so it is noted with the name.
struct zookeeper_engine::renaming {
  id who;
  member* by;
  line seen;
  mode to;
  bool new_part;
  std::function<void(const failure*)> then;
  int tries = 0;
  bool place_gone = false;
  contender next{};
  std::uint64_t place = 0;
};

void zookeeper_engine::rename(const id& who, const line& seen, mode to, bool new_part,
                              std::function<void(const failure*)> then) {
  const auto r = std::make_shared<renaming>(renaming{who, mine_.at(who).in, seen, to, new_part, std::move(then)});
  const entry& e = mine_.at(who);
  read_name(*e.in, e.name, [this, r](const failure* f, record_of_name name, const wire::stat& is) {
    f != nullptr ? r->then(f) : rename_with(r, std::move(name), is);
  });
}

void zookeeper_engine::rename_with(const std::shared_ptr<renaming>& r, record_of_name name, const wire::stat& is) {
  const auto at = mine_.find(r->who);
  const contender* me = r->seen.find(r->who);
  if (at == mine_.end() || me == nullptr || at->second.leaving) {
    const auto lost = no(why::refused, errc::lost, "there is no such hold to convert");
    return r->then(&lost);
  }
  entry& e = at->second;
  r->next = *me;
  r->next.how = r->to;
  r->next.upgrading = false;
  r->next.place.clear();
  r->next.node = moved_node(r->to, *me);
  name.keep_floor(is.modified);
  if (r->new_part) name.raise(r->seen.with(r->who, r->to));
  r->place = name.place_of(*me);
  const record own{e.ttl, e.in->link.session().timeout(), r->new_part ? r->place : e.part, e.times_asked, {}, e.owner};
  const auto path = path_of(e.name) + '/';
  std::vector<wire::step> steps{
      {op::create, wire::create_body(path + r->next.node, write(own), config_.rights, wire::node_kind::ephemeral)},
      {op::remove, wire::version_body(path + me->node, -1)}};
  const bool has_place = me->has_both() && !r->place_gone;
  if (has_place) steps.push_back({op::remove, wire::version_body(path + me->place, -1)});
  steps.push_back({op::set_data, wire::data_body(path_of(e.name), write(name), is.version)});
  e.leaving = true;  // its end is no news
  writing_.insert(r->who);
  e.in->link.session().call(op::multi, wire::multi_body(steps), now(),
                            [this, r, has_place](const response& w) { on_renamed(r, has_place, w); });
}

void zookeeper_engine::on_renamed(const std::shared_ptr<renaming>& r, bool had_place, const response& w) {
  writing_.erase(r->who);
  const auto at = mine_.find(r->who);
  const auto gone = no(why::refused, errc::lost, "the hold was taken away");
  if (at == mine_.end() || at->second.in != r->by)
    return r->then(&gone);  // or its place alone is left, to be taken away
  entry& e = at->second;
  e.leaving = false;
  const auto all = w.good() ? wire::read_multi(w.body) : std::nullopt;
  if (!all) {
    if (w.is == response::how::unknown) doubt(r->who, *e.in);
    const auto wrong = failed(w, true);
    return r->then(&wrong);
  }
  const auto error = wire::error_of(*all);
  const bool place_gone = had_place && all->size() > 2 && (*all)[2].error == wire::no_node;
  r->place_gone |= place_gone;
  if ((place_gone || error == wire::bad_version) && ++r->tries < tries_max) {  // others were quicker
    return read_name(*e.in, e.name, [this, r](const failure* f, record_of_name name, const wire::stat& is) {
      f != nullptr ? r->then(f) : rename_with(r, std::move(name), is);
    });
  }
  if (error == wire::no_node) {
    lose(r->who);
    return r->then(&gone);
  }
  if (error != wire::ok) {  // it is what it was
    const auto wrong = failed(refused_with(error), true);
    return r->then(&wrong);
  }
  rename_entry(e, r->next, *e.in);
  e.upgrading = false;
  e.holding = e.told = e.turn = true;
  if (r->new_part) e.part = part_at(all->back().is.modified, r->place);
  watch_own(r->who);
  r->then(nullptr);
}

void zookeeper_engine::converted(const call_ptr<answer>& c, const id& who) {
  const entry& e = mine_.at(who);
  if (e.part > core::part_max) {
    return remove(std::string{e.name}, id{who}, 0, [this, c](const failure*, fate) {
      if (!c->over()) calls().fail(*c, no(why::refused, errc::lost, "the last token there is has been given"));
    });
  }
  const auto left = std::chrono::floor<milliseconds>(std::min(e.due, e.in->life.end()) - c->sent);
  calls().answer<answer>(*c, answer{seam::granted{e.part, std::max(left, milliseconds{1})}});
}

}  // namespace tyer::zookeeper
