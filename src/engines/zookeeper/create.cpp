// A node of one's own: found again, or made, and what is known of the line by then.
#include "engines/zookeeper/core.hpp"

#include <utility>

namespace tyer::zookeeper {

// The answer to an earlier request was lost. It is ours if a session of ours has it; else it is of one that has ended.
void zookeeper_engine::adopt(const attempt_ptr& a, member& m, const contender& c) {
  const auto path = path_of(a->name) + '/' + c.node;
  m.link.session().call(op::get_data, wire::watch_body(path, false), now(), [this, a, &m, c](const response& r) {
    if (a->c->over()) return;
    if (r.says(wire::no_node)) return retry(a);
    const auto n = r.good() ? wire::read_node(r.body) : std::nullopt;
    if (!n) return calls().fail(*a->c, failed(r, false));
    const auto record = layout_.read_data(n->data);
    for (auto& each : members_) {
      if (each->over || each->number != n->is.owner || !record) continue;
      add_entry(*a, *each, c, record->part_if(n->is.created));
      return again(a, mine_.at(a->who));
    }
    delete_nodes(m, a->name, c, [this, a](const response& gone) {
      if (a->c->over()) return;
      gone.is == response::how::answered ? retry(a) : calls().fail(*a->c, failed(gone, false));
    });
  });
}

void zookeeper_engine::make_container(const attempt_ptr& a, member& m) {
  auto body = wire::create_body(path_of(a->name), {}, config_.rights, wire::node_kind::container);
  m.link.session().call(op::create_container, std::move(body), now(), [this, a, &m](const response& r) {
    if (a->c->over()) return;
    if (r.says(wire::no_node)) return make_parents(a, m);
    const bool there = r.good() || r.says(wire::node_exists);
    if (!there) {
      auto f = failed(r, false);  // a container alone is nobody's hold
      return calls().fail(*a->c, std::move(f));
    }
    const auto made = r.good() ? wire::read_created(r.body) : std::nullopt;
    if (!made) return retry(a);
    view v;
    v.there = true;
    v.is = made->is;
    create(a, m, v, false);
  });
}

// All that is above it: whatever is there already is as good. In Tyer's own way that is always there, unless those who came before
// have other names there, or an operator has taken it away.
void zookeeper_engine::make_parents(const attempt_ptr& a, member& m) {
  if (++a->tries > tries_max)
    return calls().fail(*a->c, no(why::unknown, errc::unavailable, "what is above the name cannot be made"));
  if (layout_.is_own()) {
    return make_base(m, [this, a, &m](const response& r) {
      if (a->c->over()) return;
      r.good() ? make_container(a, m) : calls().fail(*a->c, failed(r, false));
    });
  }
  const auto path = path_of(a->name);
  for (auto at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1)) {
    auto body = wire::create_body(path.substr(0, at), {}, config_.rights, wire::node_kind::container);
    m.link.session().call(op::create_container, std::move(body), now(), nullptr);
  }
  make_container(a, m);
}

// A question leaves behind the create, and costs no time. Who does not expect to wait asks which container it is: what the look before
// has shown holds if nobody came in between, and if it is the same one; another, made when that was swept, counts from nothing. Who
// expects to wait asks who stands in line.
struct zookeeper_engine::creation {
  view before;
  bool to_wait;
  std::optional<contender> me{};
  bool told = false;
  std::int64_t container = 0;
  view after{};
  std::optional<failure> wrong{};
};

void zookeeper_engine::create(const attempt_ptr& a, member& m, const view& before, bool to_wait) {
  if (calls().too_late(*a->c, now())) return;
  if (!m.usable(now())) return calls().fail(*a->c, no(why::not_sent, errc::unavailable, "the session has ended"));
  if (before.numbers() >= numbers_max) return calls().fail(*a->c, no_more_numbers());
  const bool apart = to_wait && m.length < session_for(a->ttl);
  const auto node = apart ? layout_.new_place(a->how, a->who, a->take, a->capacity)
                          : layout_.new_node(a->how, a->who, a->take, a->capacity);
  const auto path = path_of(a->name) + '/' + node;
  const record what{a->ttl, m.link.session().timeout(), 0, 0, {}, a->owner};
  auto body = wire::create_body(path, layout_.write(what), config_.rights, wire::node_kind::ephemeral_sequential);
  const auto number = m.number;
  const auto made = std::make_shared<creation>(creation{before, to_wait});
  writing_.insert(a->who);
  m.link.session().call(op::create_stat, std::move(body), now(), [this, a, &m, made, number](const response& r) {
    writing_.erase(a->who);
    if (r.says(wire::no_node)) {  // it was swept
      crowded_.erase(a->name);
      return a->c->over() ? void() : retry(a);
    }
    const auto answer = r.good() ? wire::read_created(r.body) : std::nullopt;
    if (answer && !m.over && m.number == number) return on_created(a, m, made, answer->path, answer->is);
    if (r.is == response::how::unknown && !m.over) {
      // It may be there: it is taken away when the session is up again, unless somebody asks for it first.
      const auto due = now() + a->waiter_ttl;
      contender c{a->who, a->how, false, a->take, a->capacity, 0, 0, {}};
      entry& e = add_entry(*a, m, c, 0);
      e.leaving = true;
      doubt(a->who, m);
      put_off(a->who, e, due);
    }
    if (a->c->over()) return;
    calls().fail(*a->c, r.good() ? no(why::unknown, errc::outcome_unknown, "the session it was to live by has ended")
                                 : failed(r, true));
  });
  ask_behind(a, m, made);
}

void zookeeper_engine::ask_behind(const attempt_ptr& a, member& m, const std::shared_ptr<creation>& made) {
  const auto told = [this, a, &m, made] {
    made->told = true;
    if (made->me) stand_in_line(a, m, *made);
  };
  if (made->to_wait) {
    return look(m, a->name, false, [made, told](const failure* f, const view& v) {
      if (f != nullptr) made->wrong = *f;
      made->after = v;
      told();
    });
  }
  m.link.session().call(op::exists, wire::watch_body(path_of(a->name), false), now(), [made, told](const response& r) {
    const auto is = r.good() ? wire::read_stat(r.body) : std::nullopt;
    made->container = is ? is->created : 0;
    told();
  });
}

void zookeeper_engine::on_created(const attempt_ptr& a, member& m, const std::shared_ptr<creation>& made,
                                  const std::string& path, const wire::stat& is) {
  made->me = layout_.read(path.substr(path.rfind('/') + 1));
  if (!made->me)
    return calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, "the server named a node as it should not"));
  add_entry(*a, m, *made->me, part_at(is.created));
  if (made->told) stand_in_line(a, m, *made);  // it could not be asked
}

void zookeeper_engine::stand_in_line(const attempt_ptr& a, member& m, const creation& made) {
  if (a->c->over()) return drop(a->who);
  if (own(a->who, a->name) == nullptr)
    return calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, "it was taken away while it was acquired"));
  if (made.to_wait) return seen_in_line(a, m, made.wrong ? &*made.wrong : nullptr, made.after);
  const view& before = made.before;
  const bool same = made.container != 0 && made.container == before.is.created;
  const bool in_turn =
      same && static_cast<std::uint32_t>(made.me->number) == before.numbers();  // nobody came in between
  const bool simple = (before.is.version == 0 || !layout_.is_own()) && a->how != mode::permit;
  if (in_turn && simple && before.all.fits(a->how, a->take, a->capacity)) return grant_once_proven(a);
  look(m, a->name, false, [this, a, &m](const failure* f, const view& v) { seen_in_line(a, m, f, v); });
}

void zookeeper_engine::seen_in_line(const attempt_ptr& a, member& m, const failure* f, const view& v) {
  if (a->c->over()) return drop(a->who);
  if (f != nullptr) {
    drop(a->who);
    return calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, f->words));
  }
  if (v.all.all().size() == 1) crowded_.erase(a->name);
  const contender* c = v.all.find(a->who);
  const entry* e = own(a->who, a->name);
  if (c == nullptr || e == nullptr) return decide(a, v);
  const contender* older = c->node == e->me.node ? v.all.older_of(*c) : c;
  older != nullptr ? clear_older(a, m, *older) : decide(a, v);
}

// The node of an earlier request of this id, whose session has ended here and not yet there: nobody was told of it.
void zookeeper_engine::clear_older(const attempt_ptr& a, member& m, const contender& c) {
  delete_nodes(m, a->name, c, [this, a](const response& gone) {
    if (a->c->over()) return drop(a->who);
    gone.is == response::how::answered ? retry(a) : calls().fail(*a->c, failed(gone, false));
  });
}

// --- names in which this client has waited

const zookeeper_engine::view* zookeeper_engine::crowded(const std::string& name) {
  const auto at = crowded_.find(name);
  if (at == crowded_.end()) return nullptr;
  if (now() - at->second.since <= crowded_for) return &at->second.seen;
  crowded_.erase(at);
  return nullptr;
}

void zookeeper_engine::note_crowd(const std::string& name, const view& v) {
  if (crowded_.size() >= crowded_max) {
    std::erase_if(crowded_, [t = now()](const auto& c) { return t - c.second.since > crowded_for; });
  }
  if (crowded_.size() >= crowded_max) return;
  crowd& c = crowded_[name];
  c.since = now();
  c.seen.there = true;
  c.seen.is = v.is;
}

}  // namespace tyer::zookeeper
