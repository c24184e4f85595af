// show and list, for people.
#include "engines/sql/database.hpp"
#include "engines/sql/prefix.hpp"
#include "engines/sql/rows.hpp"
#include "engines/sql/seats.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sql {

using seam::entry;
using seam::page;

namespace {

milliseconds left(store_time until, store_time now) { return std::chrono::ceil<milliseconds>(until - now); }

void add_entries(std::string name, const record& r, const sessions& known, std::vector<entry>& to) {
  auto holds = holds_of(r);
  if (!holds) return;
  for (seat& s : *holds) {
    known.apply(s);
    if (s.ghost() || s.expires <= r.now) continue;
    to.push_back({s.who, name, fate::holding, s.how, left(s.expires, r.now), s.part, s.owner, s.slots});
  }
  for (const place& p : r.places) {
    const auto s = read_place(p.body);
    const bool holds_it = holds_now(*holds, p.who, r.now);
    if (!s || p.expires <= r.now || holds_it) continue;
    to.push_back({p.who, name, fate::waiting, s->how, left(p.expires, r.now), 0, s->owner});
  }
}

}  // namespace

// Whether a hold lives may be its session's to say.
template <class Names>
void database::show_all(const call_ptr<page>& c, std::shared_ptr<Names> names, std::string cursor) {
  std::vector<std::int64_t> unsure;
  for (const auto& [name, r] : *names) {
    const auto holds = holds_of(r);
    for (seat s : holds.value_or(std::vector<seat>{})) {
      known_.apply(s);
      if (known_.must_ask(s, r.now)) unsure.push_back(s.lease);
    }
  }
  const auto tell = [this, c, names, cursor = std::move(cursor)] {
    page p;
    for (const auto& [name, r] : *names) add_entries(name.substr(around().prefix.size()), r, known_, p.entries);
    p.cursor = cursor;
    calls().answer(*c, {std::move(p)});
  };
  if (unsure.empty()) return tell();
  end_sessions(unsure, c->deadline,
               [this, c, tell](const failure* f) { f != nullptr ? calls().fail(*c, *f) : tell(); });
}

void database::do_show(std::string_view name, const call_ptr<page>& c) {
  link_.ask(says_->read(full(name), {}, whole_queue), c->deadline, [this, c, name = full(name)](link::said&& s) {
    if (const auto* f = std::get_if<failure>(&s)) return calls().fail(*c, *f);
    auto names = std::make_shared<std::map<std::string, record>>();
    names->emplace(name, reading(std::get<answers>(s)));
    show_all(c, std::move(names), {});
  });
}

// A page is whole names.
void database::do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, const call_ptr<page>& c) {
  const auto begin = full(prefix);
  const auto from = cursor.empty() ? begin : std::string{cursor} + '\0';
  limit = std::clamp<std::uint32_t>(limit, 1, names_max);
  link_.ask(says_->list(from, behind(begin), limit), c->deadline, [this, c, limit](link::said&& s) {
    if (const auto* f = std::get_if<failure>(&s)) return calls().fail(*c, *f);
    auto names = std::make_shared<std::map<std::string, record>>(listing(std::get<answers>(s)));
    const auto last = names->size() >= limit ? names->rbegin()->first : std::string{};
    show_all(c, std::move(names), last);
  });
}

}  // namespace tyer::sql
