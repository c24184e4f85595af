// release, evict and ask. Nothing is handed over: whoever is next sees the key go.
#include "engines/etcd/go/engine.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd::go {

namespace {

constexpr int asked_tries_max = 5;

}  // namespace

// Takes a key away, if it is still the one that was created then (0: however it is), and tells what it was.
void go_engine::remove(const op& o, const std::string& key, std::int64_t created, removed back) {
  pb::TxnRequest t;
  if (created != 0) only_if_created(t, key, created);
  read_all(*t.add_success()->mutable_request_range(), layout_.room(o->name));
  t.add_success()->mutable_request_delete_range()->set_key(key);
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, std::move(t), o->deadline,
      [this, key, name = o->name, back = std::move(back)](const failure* f, pb::TxnResponse& answer) {
        if (f != nullptr) return back(f, fate::gone);
        link_.saw(answer.header());
        if (!answer.succeeded()) return back(nullptr, fate::gone);
        const auto read = go::read(layout_, name, answer.responses(0).response_range());
        const auto* all = std::get_if<0>(&read);
        if (all == nullptr || std::ranges::find(*all, key, &place::key) == all->end()) return back(nullptr, fate::gone);
        back(nullptr, all->front().key == key ? fate::holding : fate::waiting);
      });
}

void go_engine::read_room(const op& o, with_room back) {
  pb::RangeRequest r;
  read_all(r, layout_.room(o->name));
  link_.call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), o->deadline,
      [this, name = o->name, back = std::move(back)](const failure* f, pb::RangeResponse& answer) {
        if (f != nullptr) return back(f, {});
        link_.saw(answer.header());
        const auto read = go::read(layout_, name, answer);
        const auto* wrong = std::get_if<failure>(&read);
        back(wrong, wrong != nullptr ? std::vector<place>{} : std::get<0>(read));
      });
}

// For those who know the id only.
void go_engine::remove_found(const op& o, const id& who, removed back) {
  read_room(o, [this, o, who, back = std::move(back)](const failure* f, const std::vector<place>& all) {
    const auto at = std::ranges::find(all, who, &place::who);
    if (f != nullptr || at == all.end()) return back(f, fate::gone);
    remove(o, at->key, at->created, back);
  });
}

void go_engine::release(const target& t, bool, reply<fate> back) {
  auto b = std::make_shared<reply<fate>>(std::move(back));
  const auto o = make(std::string{t.name}, b);
  o->gives_back = true;
  enqueue(o, [this, o, b, who = t.who] {
    mine* const m = own(who, o->name);
    const bool overdue = m != nullptr && m->due <= environment_.clock->now();
    const auto told = [this, o, b, who, overdue](const failure* f, fate was) {
      if (f != nullptr) return fail(o, *f);
      const mine* still = own(who, o->name);
      if (still != nullptr) was == fate::gone && !overdue && !still->unknown ? find_lost(who) : lose(who);
      finish(o, b, {overdue ? fate::gone : was});
    };
    if (m == nullptr) return remove_found(o, who, told);
    m->leaving = true;
    remove(o, m->key, m->created, told);
  });
}

void go_engine::evict(const target& t, std::string_view, reply<fate> back) {
  auto b = std::make_shared<reply<fate>>(std::move(back));
  const auto o = make(std::string{t.name}, b);
  enqueue(o, [this, o, b, who = t.who] {
    remove_found(o, who, [this, o, b](const failure* f, fate was) {
      if (f != nullptr) return fail(o, *f);
      finish(o, b, {was});
    });
  });
}

void go_engine::ask(std::string_view name, std::string_view reason, reply<std::uint32_t> back) {
  auto b = std::make_shared<reply<std::uint32_t>>(std::move(back));
  const auto o = make(std::string{name}, b);
  enqueue(o, [this, o, b, reason = std::string{reason}] { ask_first(o, reason, 1, b); });
}

// A program in Go looks at nobody's question, so none is put.
void go_engine::ask_first(const op& o, const std::string& reason, int tries,
                          const std::shared_ptr<reply<std::uint32_t>>& b) {
  read_room(o, [this, o, reason, tries, b](const failure* f, const std::vector<place>& all) {
    if (f != nullptr) return fail(o, *f);
    if (all.empty() || !all.front().record) return finish(o, b, {std::uint32_t{0}});
    const place& first = all.front();
    auto record = *first.record;
    record.set_asked(reason);
    record.set_asked_count(record.asked_count() + 1);
    pb::TxnRequest t;
    auto& c = *t.add_compare();
    c.set_key(first.key);
    c.set_target(pb::Compare::MOD);
    c.set_mod_revision(first.modified);
    put(*t.add_success(), first.key, record, first.lease);
    link_.call<pb::TxnRequest, pb::TxnResponse>(
        method::txn, std::move(t), o->deadline,
        [this, o, reason, tries, b](const failure* wrong, pb::TxnResponse& answer) {
          if (wrong != nullptr) return fail(o, *wrong);
          link_.saw(answer.header());
          if (!answer.succeeded() && tries < asked_tries_max) return ask_first(o, reason, tries + 1, b);
          finish(o, b, {std::uint32_t{answer.succeeded()}});
        });
  });
}

}  // namespace tyer::etcd::go
