// What people do: ask, look, list, diagnose.
#include "engines/zookeeper/core.hpp"
#include "engines/zookeeper/diagnosis.hpp"
#include "engines/zookeeper/wire/question.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tyer::zookeeper {

void zookeeper_engine::do_ask(std::string_view of, std::string_view reason, const call_ptr<std::uint32_t>& c) {
  calls().in_turn(c, of, [this, c, name = std::string{of}, reason = std::string{reason.substr(0, 4096)}] {
    member* m = any_member();
    if (m == nullptr) return calls().fail(*c, not_connected());
    look(*m, name, true, [this, c, m, name, reason](const failure* f, const view& v) {
      if (c->over()) return;
      if (f != nullptr) return calls().fail(*c, *f);
      const auto left = std::make_shared<std::pair<std::size_t, std::uint32_t>>(v.all.holders() + 1, 0);
      const auto one = [this, c, left](bool asked) {
        left->second += asked ? 1 : 0;
        if (--left->first == 0 && !c->over()) calls().answer<std::uint32_t>(*c, left->second);
      };
      for (std::size_t i = 0; i < v.all.holders(); ++i) {
        if (v.all.all()[i].is_place()) {  // it does not hold it yet, and is changed by nothing but its end
          one(false);
          continue;
        }
        const auto path = path_of(name) + '/' + v.all.all()[i].node;
        m->link.session().call(op::get_data, wire::watch_body(path, false), now(),
                               [this, m, path, reason, one](const response& r) {
                                 const auto n = r.good() ? wire::read_node(r.body) : std::nullopt;
                                 auto record = n ? layout_.read_data(n->data) : std::nullopt;
                                 if (!record || record->by_another) return one(false);
                                 ++record->times_asked;
                                 record->asked = reason;
                                 m->link.session().call(op::set_data, wire::data_body(path, layout_.write(*record), -1),
                                                        now(), [one](const response& w) { one(w.good()); });
                               });
      }
      one(false);
    });
  });
}

void zookeeper_engine::entries_of(member& m, const std::string& name, bool waiters,
                                  std::function<void(const failure*, std::vector<seam::entry>)> then) {
  look(m, name, true, [this, &m, name, waiters, then = std::move(then)](const failure* f, const view& v) {
    if (f != nullptr) return then(f, {});
    struct gathering {
      std::vector<std::optional<seam::entry>> all;
      std::size_t left;
      record_of_name slots;
      line who;
    };
    const auto g = std::make_shared<gathering>();
    g->who = v.all;
    g->all.resize(waiters ? v.all.all().size() : v.all.holders());
    g->left = g->all.size() + 1;
    const auto one = [g, then] {
      if (--g->left > 0) return;
      std::vector<seam::entry> found;
      for (std::size_t i = 0; i < g->all.size(); ++i) {
        if (!g->all[i]) continue;
        const auto at = g->slots.slots.find(g->who.all()[i].number);
        if (at != g->slots.slots.end()) g->all[i]->slots = at->second;
        found.push_back(std::move(*g->all[i]));
      }
      then(nullptr, std::move(found));
    };
    for (std::size_t i = 0; i < g->all.size(); ++i) {
      const auto path = path_of(name) + '/' + v.all.all()[i].node;
      m.link.session().call(op::get_data, wire::watch_body(path, false), now(),
                            [this, g, i, name, one](const response& r) {
                              const auto n = r.good() ? wire::read_node(r.body) : std::nullopt;
                              const contender& c = g->who.all()[i];
                              if (const auto record = n ? layout_.read_data(n->data) : std::nullopt) {
                                g->all[i] = seam::entry{c.who,
                                                        name,
                                                        g->who.holds(c) ? fate::holding : fate::waiting,
                                                        g->who.is_exclusive(c) ? mode::exclusive : c.how,
                                                        record->ttl,
                                                        record->part_if(n->is.created),
                                                        record->owner,
                                                        {}};
                              }
                              one();
                            });
    }
    if (v.is.version == 0 || !layout_.is_own()) return one();
    read_name(m, name, [g, one](const failure* wrong, record_of_name r, wire::stat) {
      if (wrong == nullptr) {
        r.assign(g->who);
        g->slots = std::move(r);
      }
      one();
    });
  });
}

void zookeeper_engine::do_look(std::string_view name, bool waiters, const call_ptr<seam::page>& c) {
  member* m = any_member();
  if (m == nullptr) return calls().fail(*c, not_connected());
  entries_of(*m, std::string{name}, waiters, [this, c](const failure* f, std::vector<seam::entry> all) {
    if (c->over()) return;
    if (f != nullptr) return calls().fail(*c, *f);
    calls().answer<seam::page>(*c, seam::page{std::move(all), {}});
  });
}

// The cursor is the last name that was listed.
void zookeeper_engine::list_names(member& m, std::vector<std::string> names, std::string_view cursor,
                                  std::uint32_t limit, const call_ptr<seam::page>& c) {
  std::erase_if(names, [&](const std::string& name) { return !cursor.empty() && 'n' + name <= cursor; });
  std::ranges::sort(names);
  const bool more = names.size() > limit;
  if (more) names.resize(limit);
  const auto page = std::make_shared<seam::page>();
  const auto left = std::make_shared<std::size_t>(names.size() + 1);
  if (more) page->cursor = 'n' + names.back();
  const auto one = [this, c, page, left](const failure* f, std::vector<seam::entry> some) {
    if (f != nullptr && !c->over()) calls().fail(*c, *f);
    std::ranges::move(some, std::back_inserter(page->entries));
    if (--*left == 0 && !c->over()) calls().answer<seam::page>(*c, std::move(*page));
  };
  for (const auto& name : names) entries_of(m, name, true, one);
  one(nullptr, {});
}

// The names of others lie at any depth: whatever has a contender below it is one.
struct zookeeper_engine::walk {
  call_ptr<seam::page> c;
  std::string start, cursor;
  std::uint32_t limit;
  std::vector<std::string> found{};
  std::size_t seen = 0, open = 0;
};

void zookeeper_engine::visit(member& m, const std::shared_ptr<walk>& w, const std::string& path) {
  if (w->c->over()) return;
  if (++w->seen > walk_max)
    return calls().fail(*w->c, no(why::over_limit, errc::over_limit, "too many nodes to look for names among them"));
  ++w->open;
  auto body = wire::watch_body(path.empty() ? "/" : path, false);
  m.link.session().call(op::get_children, std::move(body), now(), [this, &m, w, path](const response& r) {
    if (w->c->over()) return;
    const bool of_others = r.error == wire::no_auth && path != layout_.names();
    const bool nothing = r.is == response::how::answered && (r.error == wire::no_node || of_others);
    const auto children = r.good() ? wire::read_children(r.body) : std::nullopt;
    if (!children && !nothing) return calls().fail(*w->c, failed(r, false));
    if (children) visited(m, w, path, children->names);
    if (--w->open == 0 && !w->c->over()) list_names(m, std::move(w->found), w->cursor, w->limit, w->c);
  });
}

void zookeeper_engine::visited(member& m, const std::shared_ptr<walk>& w, const std::string& path,
                               const std::vector<std::string>& children) {
  bool is_name = false;
  for (const auto& child : children) {
    const auto below = path + '/' + child;
    const bool contends = layout_.read(child).has_value();
    is_name |= contends;
    const bool theirs = !contends && below != "/zookeeper" && below != layout_.sessions();
    if (theirs && layout_.leads_to(below, w->start)) visit(m, w, below);
  }
  const auto name = is_name ? layout_.name_of(path) : std::nullopt;
  if (name && name->starts_with(w->start)) w->found.push_back(*name);
}

void zookeeper_engine::do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                               const call_ptr<seam::page>& c) {
  member* m = any_member();
  if (m == nullptr) return calls().fail(*c, not_connected());
  limit = std::max(limit, 1U);
  const auto& all = layout_.names();
  m->link.session().call(op::sync, wire::path_body(all.empty() ? "/" : all), now(), nullptr);
  if (!layout_.is_own()) {
    walk w{c, std::string{prefix}, std::string{cursor}, limit};
    return visit(*m, std::make_shared<walk>(std::move(w)), all);
  }
  m->link.session().call(
      op::get_children, wire::watch_body(all, false), now(),
      [this, c, m, limit, start = std::string{prefix}, after = std::string{cursor}](const response& r) {
        if (c->over()) return;
        if (r.says(wire::no_node)) return list_names(*m, {}, after, limit, c);
        const auto children = r.good() ? wire::read_children(r.body) : std::nullopt;
        if (!children) return calls().fail(*c, failed(r, false));
        std::vector<std::string> names;
        for (const auto& child : children->names) {
          auto name = layout_.name_of(layout_.names() + '/' + child);
          if (name && name->starts_with(start)) names.push_back(std::move(*name));
        }
        list_names(*m, std::move(names), after, limit, c);
      });
}

// The servers are asked for what they are, each on a connection of its own; with TLS they do not answer to that.
void zookeeper_engine::do_diagnose(const call_ptr<std::vector<seam::finding>>& c) {
  struct gathering {
    std::vector<said> all;
    std::size_t left = 1;
  };
  const auto g = std::make_shared<gathering>();
  const auto one = [this, c, g] {
    if (--g->left > 0 || c->over()) return;
    auto found = examine_sessions();
    std::ranges::move(examine(g->all), std::back_inserter(found));
    calls().answer<std::vector<seam::finding>>(*c, std::move(found));
  };
  if (!config_.servers.tls) {
    g->all.resize(config_.servers.hosts.size());
    g->left += g->all.size();
    for (std::size_t i = 0; i < g->all.size(); ++i) {
      auto to = config_.servers.hosts[i];
      if (to.port == 0) to.port = wire::default_port;
      g->all[i].server = to.host + ':' + std::to_string(to.port);
      wire::ask_server(loop_, to, "srvr", around().request_timeout / 2, [g, i, one](std::string words) {
        g->all[i].words = std::move(words);
        one();
      });
    }
  }
  one();
}

std::vector<seam::finding> zookeeper_engine::examine_sessions() const {
  std::vector<seam::finding> found;
  const auto say = [&](int severity, std::string what, std::string advice) {
    found.push_back({std::move(what), std::move(advice), severity});
  };
  for (const auto& m : members_) {
    if (m->over) continue;
    const auto words =
        "session of " + std::to_string(m->link.session().timeout().count()) + " ms at " + m->link.server();
    if (!m->link.session().up()) {
      say(2, words + ": not connected",
          "look at the server, and at maxClientCnxns, which limits connections of one address");
    } else if (m->link.session().timeout() < m->length) {
      say(1, words + ": the servers allow no more", "raise maxSessionTimeout, or use a shorter ttl");
    }
  }
  if (config_.servers.tls && !config_.servers.files.verify)
    say(2, "?verify=none", "anybody can pose as the server; use ?ca=");
  return found;
}

}  // namespace tyer::zookeeper
