// Operators' queries to all nodes: show, list, ask, evict, diagnose.
#include "engines/compose/redlock/merge.hpp"
#include "engines/compose/redlock/templates.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>

namespace tyer::redlock {

using seam::entry;
using seam::finding;
using seam::page;

void redlock_engine::do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>& c) {
  auto knows = [](const survey<std::uint32_t>& s) { return counted_by_majority(s).has_value(); };
  auto done = [this, c](survey<std::uint32_t>& s) {
    using said = kit::result<std::uint32_t>;
    const auto asked = counted_by_majority(s);
    give<std::uint32_t>(c, s.sent(), asked ? said{*asked} : said{s.shortage(setting_.names)});
  };
  // Waits for nodes whose answers could decide: the quickest may be those that do not have the lock.
  const auto s = begin<std::uint32_t>(nodes_.size(), knows, std::move(done), around().request_timeout);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    ask_node<std::uint32_t>(
        s, i, i, [name = std::string{name}, reason = std::string{reason}](seam::engine& e, reply<std::uint32_t> told) {
          e.ask(name, reason, std::move(told));
        });
  }
}

void redlock_engine::do_show(std::string_view name, const call_ptr<page>& c) {
  auto done = [this, c](survey<page>& s) {
    if (!s.has_majority() || undecided(s)) return give<page>(c, s.sent(), s.shortage(setting_.names));
    give<page>(c, s.sent(), page{holds_of_majority(s), {}});
  };
  show_all(std::string{name}, std::move(done));
}

// Waits for nodes whose answers could decide whether a majority has the lock, however slow they are.
void redlock_engine::show_all(const std::string& name, survey<page>::finish done) {
  const auto s = begin<page>(nodes_.size(), settled, std::move(done), around().request_timeout);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    ask_node<page>(s, i, i, [name](seam::engine& e, reply<page> told) { e.show(name, std::move(told)); });
  }
}

// Looks the hold up first: the remains of a lost attempt on a node are evicted too, but were no hold.
void redlock_engine::do_evict(const target& t, std::string_view reason, const call_ptr<fate>& c) {
  auto break_it = [this, who = t.who, name = std::string{t.name}, reason = std::string{reason}, c](survey<page>& s) {
    if (!s.has_majority() || undecided(s)) return give<fate>(c, s.sent(), s.shortage(setting_.names));
    const auto holds = holds_of_majority(s);
    const bool held = std::ranges::find(holds, who, &entry::who) != holds.end();
    auto done = [this, held, c](survey<fate>& broken) {
      if (!broken.has_majority()) return give<fate>(c, broken.sent(), broken.shortage(setting_.names));
      give<fate>(c, broken.sent(), held ? fate::holding : fate::gone);
    };
    // Waits for all nodes: a late eviction could break a lock that the same id has got since.
    const auto all = begin<fate>(nodes_.size(), nullptr, std::move(done), around().request_timeout);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      ask_node<fate>(all, i, i, [who, name, reason](seam::engine& e, reply<fate> told) {
        e.evict({who, name, mode::exclusive}, reason, std::move(told));
      });
    }
  };
  show_all(std::string{t.name}, std::move(break_it));
}

void redlock_engine::do_diagnose(const call_ptr<std::vector<finding>>& c) {
  auto done = [this, c](survey<std::vector<finding>>& s) {
    std::vector<finding> all;
    for (std::size_t i = 0; i < s.all().size(); ++i) {
      const auto& name = setting_.names[i];
      if (const auto* found = s.of(i)) {
        for (const finding& f : *found) all.push_back({name + ": " + f.what, f.advice, f.severity});
      } else {
        all.push_back({name + " does not answer: " + (s.wrong(i) != nullptr ? s.wrong(i)->words : "too slow"),
                       "bring it back: " + std::to_string(majority(s.all().size())) + " of " +
                           std::to_string(s.all().size()) + " nodes are needed for every lock",
                       s.has_majority() ? 2 : 3});
      }
    }
    if (auto apart = nodes_up_.clocks_apart(remembers_)) all.push_back(*std::move(apart));
    give<std::vector<finding>>(c, s.sent(), std::move(all));
  };
  ask_all<std::vector<finding>>(nullptr, std::move(done),
                                [](seam::engine& e, reply<std::vector<finding>> told) { e.diagnose(std::move(told)); });
}

// ---- list
//
// Each node lists its names in an order of its own. A hold of a majority is on at least one node of any other majority. So
// a majority of nodes is walked, one node after the other, and every name that turns up is looked up on all nodes. A hold
// is therefore listed once for each walked node that has it: it cannot be known afterwards whether an earlier node had it
// already when it was walked.

struct redlock_engine::listing {
  std::string prefix;
  std::uint32_t limit = 0;
  call_ptr<page> c;

  std::uint64_t walked = 0;  // nodes, a bit each
  std::size_t node = 0;
  std::string cursor;      // of that node
  std::uint64_t away = 0;  // nodes that did not answer, in this call
  page found;
  std::size_t open = 0;  // names being looked up
  failure wrong;
  bool failed = false;

  std::string write() const { return std::to_string(walked) + ' ' + std::to_string(node) + ' ' + cursor; }
  void read(std::string_view text) {
    const auto number = [&](auto& out) {
      const auto end = std::from_chars(text.data(), text.data() + text.size(), out).ptr;
      text.remove_prefix(std::min<std::size_t>(static_cast<std::size_t>(end - text.data()) + 1, text.size()));
    };
    number(walked);
    number(node);
    cursor = std::string{text};
  }
};

void redlock_engine::do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                             const call_ptr<page>& c) {
  auto l = std::make_shared<listing>();
  l->prefix = std::string{prefix};
  l->limit = limit;
  l->c = c;
  if (!cursor.empty()) l->read(cursor);
  walk(std::move(l));
}

void redlock_engine::walk(std::shared_ptr<listing> l) {
  const auto bit = [](std::size_t i) { return std::uint64_t{1} << i; };
  while (l->node < nodes_.size() && ((l->walked | l->away) & bit(l->node)) != 0) ++l->node;
  if (l->node >= nodes_.size()) {
    l->failed = true;
    l->wrong = nodes_up_.absence();
    return end_page(*l);
  }
  const auto s = begin<page>(
      1, nullptr,
      [this, l, bit](survey<page>& only) {
        const page* p = only.of(0);
        if (p == nullptr) {
          l->away |= bit(l->node);
          l->cursor.clear();
          return walk(l);
        }
        std::set<std::string> names;
        for (const entry& e : p->entries) names.insert(e.name);
        l->cursor = p->cursor;
        look_up(l, {names.begin(), names.end()});
      },
      setting_.straggle);
  ask_node<page>(s, 0, l->node,
                 [prefix = l->prefix, cursor = l->cursor, limit = l->limit](seam::engine& e, reply<page> told) {
                   e.list(prefix, cursor, limit, std::move(told));
                 });
}

void redlock_engine::look_up(std::shared_ptr<listing> l, std::vector<std::string> names) {
  l->open = names.size();
  if (names.empty()) return end_page(*l);
  for (auto& name : names) {
    auto done = [this, l](survey<page>& s) {
      if (!s.has_majority()) {
        l->failed = true;
        l->wrong = s.shortage(setting_.names);
      }
      for (entry& e : holds_that_may_be(s)) l->found.entries.push_back(std::move(e));
      if (--l->open == 0) end_page(*l);
    };
    show_all(name, std::move(done));
  }
}

void redlock_engine::end_page(listing& l) {
  if (l.failed) return calls().fail(*l.c, std::move(l.wrong));
  bool more = true;
  if (l.cursor.empty()) {
    l.walked |= std::uint64_t{1} << l.node;
    l.node = 0;
    more = static_cast<std::size_t>(std::popcount(l.walked)) < majority(nodes_.size());
  }
  if (more) l.found.cursor = l.write();
  calls().answer<page>(*l.c, std::move(l.found));
}

}  // namespace tyer::redlock
