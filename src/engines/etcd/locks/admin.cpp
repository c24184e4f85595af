// show and list, for people.
#include "engines/etcd/locks/engine.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tyer::etcd {

namespace {

using tyer::engine::page;

template <class Found>
void add(const std::string& name, ledger& l, std::vector<Found>& out) {
  l.turn();
  for (const auto& group : {l.holds(), l.queue()}) {
    for (const seat* s : group) {
      const bool waits = s->waits();
      const auto most =
          waits || s->record.state() == pb::Record::HANDED_OVER ? s->record.lease_ms() : s->record.ttl_ms();
      out.push_back({{s->who, name, waits ? fate::waiting : fate::holding, s->how(),
                      milliseconds{static_cast<std::int64_t>(most)}, waits ? 0 : s->part(), s->record.owner(),
                      waits ? std::vector<std::uint32_t>{} : s->slots()},
                     s->lease});
    }
  }
}

}  // namespace

void etcd_engine::do_show(std::string_view name, const call_ptr<page>& c) {
  show_all(start_listing(c), std::string{name});
}

// A hold that ends is told with what it was; one whose past the server has forgotten may have been anything.
bool etcd_engine::of_holders(const std::string&, const pb::Event& e) {
  if (e.type() == pb::Event::DELETE && !e.has_prev_kv()) return true;
  const auto& kv = e.type() == pb::Event::DELETE ? e.prev_kv() : e.kv();
  const auto record = read_value(kv.value());
  return !record || record->state() != pb::Record::WAITING;
}

void etcd_engine::do_look(std::string_view name, bool waiters, const call_ptr<page>& c) {
  auto x = start_listing(c);
  x->holders_only = !waiters;
  x->brief = true;
  show_all(x, std::string{name});
}

void etcd_engine::show_all(const std::shared_ptr<listing>& x, const std::string& name) {
  const auto room = keys_.room(name);
  pb::RangeRequest r;
  r.set_key(room.from);
  r.set_range_end(room.to);
  link_.call<pb::RangeRequest, pb::RangeResponse>(method::range, std::move(r), x->call->deadline,
                                                  [this, x, name](const failure* f, pb::RangeResponse& answer) {
                                                    if (f != nullptr) return calls().fail(*x->call, *f);
                                                    auto l = ledger::from(keys_, answer, answer.header().revision());
                                                    if (auto* wrong = std::get_if<failure>(&l))
                                                      return calls().fail(*x->call, std::move(*wrong));
                                                    add(name, std::get<ledger>(l), x->all);
                                                    ask_time_left(x);
                                                  });
}

// A page is whole names: who holds and who waits is seen only from all keys of a name. The cursor is the key to go on from.
void etcd_engine::do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
                          const call_ptr<page>& c) {
  auto x = start_listing(c);
  auto range = keys_.beginning_with(prefix);
  if (cursor > range.from && cursor < range.to) range.from = std::string{cursor};
  pb::RangeRequest r;
  r.set_key(range.from);
  r.set_range_end(range.to);
  r.set_limit(std::max<std::int64_t>(limit, 1));
  link_.call<pb::RangeRequest, pb::RangeResponse>(method::range, std::move(r), x->call->deadline,
                                                  [this, x](const failure* f, pb::RangeResponse& answer) {
                                                    if (f != nullptr) return calls().fail(*x->call, *f);
                                                    take_page(x, answer);
                                                  });
}

void etcd_engine::take_page(const std::shared_ptr<listing>& x, const pb::RangeResponse& answer) {
  std::vector<std::pair<std::string, pb::RangeResponse>> names;
  for (const auto& kv : answer.kvs()) {
    const auto where = keys_.read(kv.key());
    if (!where) continue;  // not ours
    if (names.empty() || names.back().first != where->name) names.emplace_back(where->name, pb::RangeResponse{});
    *names.back().second.add_kvs() = kv;
  }
  if (answer.more() && !names.empty()) {
    // Of the last name there may be more: it is the next page's first, or has a page of its own.
    const auto room = keys_.room(names.back().first);
    x->cursor = names.size() > 1 ? room.from : room.to;
    const auto last = names.back().first;
    names.pop_back();
    if (names.empty()) return show_all(x, last);
  }
  for (auto& [name, kvs] : names) {
    auto l = ledger::from(keys_, kvs, answer.header().revision());
    if (auto* read = std::get_if<ledger>(&l)) add(name, *read, x->all);
  }
  ask_time_left(x);
}

}  // namespace tyer::etcd
