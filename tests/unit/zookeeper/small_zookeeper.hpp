// A ZooKeeper of one server, as far as an engine needs it: nodes, numbers, sessions, watches, and what was asked of it. No ACL, and
// no time: a session ends when its client says so.
#pragma once

#include "unit/zookeeper/own_server.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tyer::zookeeper::test {

using requests = std::map<std::string, int>;

class small_zookeeper {
 public:
  explicit small_zookeeper(own_server& s) : server_(s) {
    nodes_[""] = {};
    s.serves = [this](wire::op what, wire::reader r, std::int64_t session) { return serve(what, r, session); };
  }
  small_zookeeper(const small_zookeeper&) = delete;

  requests asked;  // but pings
  std::function<void(wire::op, const std::string& path)> before_reading;

  std::vector<std::string> children(const std::string& path) const {
    std::vector<std::string> all;
    for (const auto& [each, n] : nodes_) {
      if (!each.empty() && parent(each) == path) all.push_back(each.substr(path.size() + 1));
    }
    return all;
  }
  // As an operator does it.
  void remove(const std::string& path) {
    changes all;
    ++zxid_;
    if (remove(path, -1, all) == wire::ok) tell(all);
  }

  void make(const std::string& path) {
    nodes_[path].created = ++zxid_;
    ++nodes_.at(parent(path)).children;
  }
  std::int64_t owner(const std::string& path) const { return nodes_.at(path).owner; }
  // As the servers do it when its time is over.
  void end(std::int64_t session) {
    changes all;
    std::vector<std::string> some;
    for (const auto& [path, n] : nodes_) {
      if (n.owner == session) some.push_back(path);
    }
    for (const auto& path : some) remove(path, -1, all);
    tell(all);
  }

  void change(const std::string& path) {
    ++zxid_;
    ++nodes_.at(path).version;
    tell({{kind::changed, path}});
  }

  // As a claim does it: an exclusive place stays,
  void hold(const std::string& place, const std::string& onto) {
    nodes_[onto] = nodes_.at(place);
    nodes_[onto].created = ++zxid_;
    auto& above = nodes_.at(parent(onto));
    ++above.made;
    ++above.children;
    tell({{kind::made, onto}});
  }
  // and any other goes.
  void move(const std::string& from, const std::string& onto) {
    ++zxid_;
    nodes_[onto] = nodes_.extract(from).mapped();
    tell({{kind::made, onto}, {kind::removed, from}});
  }

 private:
  struct node {
    std::string data;
    std::int64_t created = 0, modified = 0, owner = 0;
    std::int32_t version = 0, made = 0, children = 0;  // made: children ever
  };
  using answer = own_server::words;
  using kind = wire::event::kind;
  using changes = std::vector<std::pair<kind, std::string>>;

  static std::string parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

  static const char* name_of(wire::op what) {
    switch (what) {
      case wire::op::create:
      case wire::op::create_stat: return "create";
      case wire::op::create_container: return "container";
      case wire::op::remove: return "delete";
      case wire::op::exists: return "exists";
      case wire::op::get_data: return "data";
      case wire::op::set_data: return "set";
      case wire::op::get_children: return "children";
      case wire::op::sync: return "sync";
      case wire::op::multi: return "multi";
      case wire::op::close: return "close";
      default: return "other";
    }
  }

  std::string stat_of(const node& n) const {
    wire::writer w;
    w.big(n.created).big(n.modified).big(0).big(0).number(n.version).number(2 * n.made - n.children).number(0);
    w.big(n.owner).number(static_cast<std::int32_t>(n.data.size())).number(n.children).big(n.created);
    return w.take();
  }

  answer serve(wire::op what, wire::reader r, std::int64_t session) {
    if (what == wire::op::ping) return {wire::ok, {}};
    ++asked[name_of(what)];
    if (what == wire::op::close) end(session);
    if (what == wire::op::multi) return several(r, session);
    if (what == wire::op::exists || what == wire::op::get_data || what == wire::op::get_children)
      return read(what, r, session);
    wire::writer w;
    changes all;
    ++zxid_;
    const auto error = change(what, r, session, w, all);
    tell(all);
    return {error, w.take()};
  }

  answer read(wire::op what, wire::reader& r, std::int64_t session) {
    std::string path{r.text()};
    if (path == "/") path.clear();
    const bool watch = r.flag();
    if (before_reading) before_reading(what, path);
    const auto at = nodes_.find(path);
    if (watch && (at != nodes_.end() || what == wire::op::exists))
      (what == wire::op::get_children ? lists_ : watches_)[path].insert(session);
    if (at == nodes_.end()) return {wire::no_node, {}};
    wire::writer w;
    if (what == wire::op::get_data) w.text(at->second.data);
    if (what == wire::op::get_children) {
      const auto all = children(path);
      w.number(static_cast<std::int32_t>(all.size()));
      for (const auto& each : all) w.text(each);
    }
    return {wire::ok, w.raw(stat_of(at->second)).take()};
  }

  std::int32_t change(wire::op what, wire::reader& r, std::int64_t session, wire::writer& w, changes& all) {
    std::string path{r.text()};
    switch (what) {
      case wire::op::create:
      case wire::op::create_stat:
      case wire::op::create_container: return create(what, std::move(path), r, session, w, all);
      case wire::op::remove: return remove(path, r.number(), all);
      case wire::op::set_data: return set(path, r, w, all);
      case wire::op::check: {
        const auto at = nodes_.find(path);
        const auto version = r.number();
        if (at == nodes_.end()) return wire::no_node;
        return version == -1 || version == at->second.version ? wire::ok : wire::bad_version;
      }
      case wire::op::sync: w.text(path); return wire::ok;
      default: return wire::ok;
    }
  }

  std::int32_t create(wire::op what, std::string path, wire::reader& r, std::int64_t session, wire::writer& w,
                      changes& all) {
    node n;
    n.data = r.text();
    for (auto rights = r.number(); rights > 0; --rights) r.number(), r.text(), r.text();
    const auto how = static_cast<wire::node_kind>(r.number());
    const auto above = nodes_.find(parent(path));
    if (above == nodes_.end()) return wire::no_node;
    if (how == wire::node_kind::ephemeral_sequential) {
      const auto number = std::to_string(above->second.made);
      path += std::string(10 - number.size(), '0') + number;
    }
    if (nodes_.contains(path)) return wire::node_exists;
    if (how == wire::node_kind::ephemeral || how == wire::node_kind::ephemeral_sequential) n.owner = session;
    n.created = n.modified = zxid_;
    ++above->second.made;
    ++above->second.children;
    all.emplace_back(kind::made, path);
    w.text(path);
    if (what != wire::op::create) w.raw(stat_of(n));
    nodes_[path] = std::move(n);
    return wire::ok;
  }

  std::int32_t remove(const std::string& path, std::int32_t version, changes& all) {
    const auto at = nodes_.find(path);
    if (at == nodes_.end()) return wire::no_node;
    if (version != -1 && version != at->second.version) return wire::bad_version;
    nodes_.erase(at);
    --nodes_.at(parent(path)).children;
    all.emplace_back(kind::removed, path);
    return wire::ok;
  }

  std::int32_t set(const std::string& path, wire::reader& r, wire::writer& w, changes& all) {
    const auto at = nodes_.find(path);
    std::string data{r.text()};
    const auto version = r.number();
    if (at == nodes_.end()) return wire::no_node;
    if (version != -1 && version != at->second.version) return wire::bad_version;
    at->second.data = std::move(data);
    at->second.modified = zxid_;
    ++at->second.version;
    all.emplace_back(kind::changed, path);
    w.raw(stat_of(at->second));
    return wire::ok;
  }

  // All or nothing.
  answer several(wire::reader& r, std::int64_t session) {
    const auto before = nodes_;
    ++zxid_;
    wire::writer w;
    changes all;
    std::size_t well = 0;
    std::int32_t error = wire::ok;
    for (;;) {
      const auto what = static_cast<wire::op>(r.number());
      const bool end = r.flag();
      r.number();
      if (end) break;
      wire::writer one;
      if (error == wire::ok) error = change(what, r, session, one, all);
      if (error != wire::ok) break;
      ++well;
      w.number(static_cast<std::int32_t>(what)).flag(false).number(0).raw(one.take());
    }
    if (error == wire::ok) {
      tell(all);
      return {wire::ok, w.number(-1).flag(true).number(-1).take()};
    }
    nodes_ = before;
    wire::writer wrong;
    for (std::size_t i = 0; i <= well; ++i) {
      const auto is = i == well ? error : static_cast<std::int32_t>(wire::ok);
      wrong.number(-1).flag(false).number(is).number(is);
    }
    return {wire::ok, wrong.number(-1).flag(true).number(-1).take()};
  }

  void tell(const changes& all) {
    const auto fire = [this](auto& watches, const std::string& path, kind what, std::set<std::int64_t>& told) {
      const auto at = watches.find(path);
      if (at == watches.end()) return;
      for (const auto session : at->second) {
        if (told.insert(session).second) server_.tell(session, what, path);
      }
      watches.erase(at);
    };
    for (const auto& [what, path] : all) {
      std::set<std::int64_t> of_node, of_list;
      fire(watches_, path, what, of_node);
      if (what == kind::changed) continue;
      if (what == kind::removed) fire(lists_, path, what, of_node);
      fire(lists_, parent(path), kind::children, of_list);
    }
  }

  own_server& server_;
  std::map<std::string, node> nodes_;
  std::map<std::string, std::set<std::int64_t>> watches_, lists_;
  std::int64_t zxid_ = 0;
};

}  // namespace tyer::zookeeper::test
