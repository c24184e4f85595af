// A node of one's own: found again, or made, and what is known of the line by then.
#include "engines/zookeeper/core.hpp"

#include <utility>

namespace tyer::zookeeper {

// The answer to an earlier request was lost. It is ours if a session of ours has it; else it is of one that has ended.
void zookeeper_engine::adopt(const attempt_ptr& a, member& m, const contender& c) {
  const auto path = path_of(a->name) + '/' + c.node;
  m.link.session().call(op::get_data, wire::watch_body(path, false), now(), [this, a, &m, c, path](const response& r) {
    if (a->c->over()) return;
    if (r.is == response::how::answered && r.error == wire::no_node) return retry(a);
    const auto n = r.good() ? wire::read_node(r.body) : std::nullopt;
    if (!n) return calls().fail(*a->c, failed(r, false));
    const auto record = read_record(n->data);
    for (auto& each : members_) {
      if (each->over || each->number != n->is.owner || !record) continue;
      add_entry(*a, *each, c, record->part_if(n->is.created));
      return again(a, mine_.at(a->who));
    }
    m.link.session().call(op::remove, wire::version_body(path, -1), now(), [this, a](const response& gone) {
      if (a->c->over()) return;
      gone.is == response::how::answered ? retry(a) : calls().fail(*a->c, failed(gone, false));
    });
  });
}

void zookeeper_engine::make_container(const attempt_ptr& a, member& m) {
  auto body = wire::create_body(path_of(a->name), {}, config_.rights, wire::node_kind::container);
  m.link.session().call(op::create_container, std::move(body), now(), [this, a, &m](const response& r) {
    if (a->c->over()) return;
    const bool there = r.good() || (r.is == response::how::answered && r.error == wire::node_exists);
    if (!there) {
      auto f = failed(r, false);  // a container alone is nobody's hold
      return calls().fail(*a->c, std::move(f));
    }
    const auto made = r.good() ? wire::read_created(r.body) : std::nullopt;
    if (!made) return retry(a);
    view v;
    v.there = true;
    v.is = made->is;
    create(a, m, v);
  });
}

// What the look before has shown holds if nobody came in between, and if it was this container: one that was swept meanwhile and made
// again counts from nothing. A question behind the create tells, and costs no time.
struct zookeeper_engine::creation {
  view before;
  std::optional<contender> me{};
  bool told = false;  // what the container is
  std::int64_t container = 0;
};

void zookeeper_engine::create(const attempt_ptr& a, member& m, const view& before) {
  if (calls().too_late(*a->c, now())) return;
  if (!m.usable(now())) return calls().fail(*a->c, no(why::not_sent, errc::unavailable, "the session has ended"));
  if (before.numbers() >= numbers_max) return calls().fail(*a->c, no_more_numbers());
  const auto container = path_of(a->name), path = container + '/' + new_node(a->how, a->who, a->take, a->capacity);
  const record what{a->ttl, m.link.session().timeout(), 0, 0, {}, a->owner};
  auto body = wire::create_body(path, write(what), config_.rights, wire::node_kind::ephemeral_sequential);
  const auto number = m.number;
  const auto made = std::make_shared<creation>(creation{before});
  writing_.insert(a->who);
  m.link.session().call(op::create_stat, std::move(body), now(), [this, a, &m, made, number](const response& r) {
    writing_.erase(a->who);
    if (r.is == response::how::answered && r.error == wire::no_node && !a->c->over()) return retry(a);
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
    if (!a->c->over()) calls().fail(*a->c, failed(r, true));
  });
  m.link.session().call(op::exists, wire::watch_body(container, false), now(), [this, a, &m, made](const response& r) {
    const auto is = r.good() ? wire::read_stat(r.body) : std::nullopt;
    made->container = is ? is->created : 0;
    made->told = true;
    if (made->me) stand_in_line(a, m, *made);
  });
}

void zookeeper_engine::on_created(const attempt_ptr& a, member& m, const std::shared_ptr<creation>& made,
                                  const std::string& path, const wire::stat& is) {
  made->me = read_contender(path.substr(path.rfind('/') + 1));
  if (!made->me)
    return calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, "the server named a node as it should not"));
  add_entry(*a, m, *made->me, part_at(is.created));
  if (made->told) stand_in_line(a, m, *made);  // it could not be asked
}

void zookeeper_engine::stand_in_line(const attempt_ptr& a, member& m, const creation& made) {
  if (a->c->over()) return drop(a->who);
  if (own(a->who, a->name) == nullptr)
    return calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, "it was taken away while it was acquired"));
  const view& before = made.before;
  const bool same = made.container != 0 && made.container == before.is.created;
  const bool in_turn =
      same && static_cast<std::uint32_t>(made.me->number) == before.numbers();  // nobody came in between
  const bool simple = before.is.version == 0 && a->how != mode::permit;
  if (in_turn && simple && before.all.fits(a->how, a->take, a->capacity)) return grant_once_proven(a);
  look(m, a->name, false, [this, a](const failure* f, const view& v) {
    if (a->c->over()) return drop(a->who);
    if (f == nullptr) return decide(a, v);
    drop(a->who);
    calls().fail(*a->c, no(why::unknown, errc::outcome_unknown, f->words));
  });
}

}  // namespace tyer::zookeeper
