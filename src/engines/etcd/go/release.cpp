// release, evict and ask. Nothing is handed over: whoever is next sees the key go.
#include "engines/etcd/go/engine.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd::go {

namespace {

constexpr int asked_tries_max = 5;

}  // namespace

// Takes a key away, if it is still the one that was created then (0: however it is), and tells what it was.
void go_engine::remove(const std::string& name, const std::string& key, std::int64_t created, time_point deadline,
                       removed back) {
  pb::TxnRequest t;
  if (created != 0) only_if_created(t, key, created);
  read_all(*t.add_success()->mutable_request_range(), layout_.room(name));
  t.add_success()->mutable_request_delete_range()->set_key(key);
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, std::move(t), deadline,
      [this, key, name, back = std::move(back)](const failure* f, pb::TxnResponse& answer) {
        if (f != nullptr) return back(f, fate::gone);
        link_.saw(answer.header());
        if (!answer.succeeded()) return back(nullptr, fate::gone);
        const auto read = go::read(layout_, name, answer.responses(0).response_range());
        const auto* all = std::get_if<0>(&read);
        if (all == nullptr || std::ranges::find(*all, key, &place::key) == all->end()) return back(nullptr, fate::gone);
        back(nullptr, all->front().key == key ? fate::holding : fate::waiting);
      });
}

void go_engine::read_room(const std::string& name, time_point deadline, with_room back) {
  pb::RangeRequest r;
  read_all(r, layout_.room(name));
  link_.call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), deadline,
      [this, name, back = std::move(back)](const failure* f, pb::RangeResponse& answer) {
        if (f != nullptr) return back(f, {});
        link_.saw(answer.header());
        const auto read = go::read(layout_, name, answer);
        const auto* wrong = std::get_if<failure>(&read);
        back(wrong, wrong != nullptr ? std::vector<place>{} : std::get<0>(read));
      });
}

// For those who know the id only.
void go_engine::remove_found(const std::string& name, const id& who, time_point deadline, removed back) {
  const auto found = [this, name, who, deadline, back = std::move(back)](const failure* f,
                                                                         const std::vector<place>& all) {
    const auto at = std::ranges::find(all, who, &place::who);
    if (f != nullptr || at == all.end()) return back(f, fate::gone);
    remove(name, at->key, at->created, deadline, back);
  };
  read_room(name, deadline, found);
}

void go_engine::do_release(const target& t, bool, const call_ptr<fate>& c) {
  calls().in_turn(c, t.name, [this, c, who = t.who, name = std::string{t.name}] {
    mine* const m = own(who, name);
    const bool overdue = m != nullptr && m->due <= now();
    const auto told = [this, c, who, name, overdue](const failure* f, fate was) {
      if (f != nullptr) return calls().fail(*c, *f);
      const mine* still = own(who, name);
      if (still != nullptr) was == fate::gone && !overdue && !still->unknown ? find_lost(who) : lose(who);
      calls().answer<fate>(*c, overdue ? fate::gone : was);
    };
    if (m == nullptr) return remove_found(name, who, c->deadline, told);
    m->leaving = true;
    remove(name, m->key, m->created, c->deadline, told);
  });
}

void go_engine::do_evict(const target& t, std::string_view, const call_ptr<fate>& c) {
  calls().in_turn(c, t.name, [this, c, who = t.who, name = std::string{t.name}] {
    remove_found(name, who, c->deadline, [this, c](const failure* f, fate was) {
      f != nullptr ? calls().fail(*c, *f) : calls().answer<fate>(*c, was);
    });
  });
}

void go_engine::do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>& c) {
  calls().in_turn(c, name,
                  [this, c, of = std::string{name}, reason = std::string{reason}] { ask_first(of, reason, 1, c); });
}

// A program in Go looks at nobody's question, so none is put.
void go_engine::ask_first(const std::string& name, const std::string& reason, int tries,
                          const call_ptr<std::uint32_t>& c) {
  read_room(name, c->deadline, [this, c, name, reason, tries](const failure* f, const std::vector<place>& all) {
    if (f != nullptr) return calls().fail(*c, *f);
    if (all.empty() || !all.front().record) return calls().answer<std::uint32_t>(*c, 0u);
    const place& first = all.front();
    auto record = *first.record;
    record.set_asked(reason);
    record.set_asked_count(record.asked_count() + 1);
    pb::TxnRequest t;
    auto& same = *t.add_compare();
    same.set_key(first.key);
    same.set_target(pb::Compare::MOD);
    same.set_mod_revision(first.modified);
    put(*t.add_success(), first.key, record, first.lease);
    link_.call<pb::TxnRequest, pb::TxnResponse>(
        method::txn, std::move(t), c->deadline,
        [this, c, name, reason, tries](const failure* wrong, pb::TxnResponse& answer) {
          if (wrong != nullptr) return calls().fail(*c, *wrong);
          link_.saw(answer.header());
          if (!answer.succeeded() && tries < asked_tries_max) return ask_first(name, reason, tries + 1, c);
          calls().answer<std::uint32_t>(*c, std::uint32_t{answer.succeeded()});
        });
  });
}

}  // namespace tyer::etcd::go
