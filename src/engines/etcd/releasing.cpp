// release, evict, convert and ask: each one step of the ledger.
#include "engines/etcd/core.hpp"
#include "engines/etcd/transactions.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

void etcd_engine::release(const target& t, bool, reply<fate> back) {
  auto b = std::make_shared<reply<fate>>(std::move(back));
  const auto o = make(std::string{t.name}, b);
  o->gives_back = true;
  const auto was = std::make_shared<fate>(fate::gone);
  const auto who = t.who;
  const auto removed = [who, was](ledger& l) { *was = l.remove(who); };
  const auto told = [this, o, b, who, was](ledger&) {
    forget_released(who, *was);
    finish(o, b, {*was});
  };
  enqueue(o, [this, o, b, who, removed, told] {
    const auto at = mine_.find(who);
    const bool plain = at != mine_.end() && at->second.name == o->name && at->second.alone &&
                       at->second.due > environment_.clock->now();
    if (!plain) return read_and_settle(o, removed, told);
    auto t = give_back_if_alone(keys_.room(o->name), at->second.key, at->second.modified);
    link_.call<pb::TxnRequest, pb::TxnResponse>(
        method::txn, std::move(t), o->deadline,
        [this, o, b, who, removed, told](const failure* f, pb::TxnResponse& answer) {
          if (f != nullptr) return fail(o, *f);
          link_.saw(answer.header());
          if (answer.succeeded()) {
            lose(who);
            return finish(o, b, {fate::holding});
          }
          auto l = ledger::from(keys_, answer.responses(0).response_range(), answer.header().revision());
          if (auto* wrong = std::get_if<failure>(&l)) return fail(o, std::move(*wrong));
          settle(o, std::get<ledger>(std::move(l)), removed, told);
        });
  });
}

void etcd_engine::evict(const target& t, std::string_view, reply<fate> back) {
  auto b = std::make_shared<reply<fate>>(std::move(back));
  const auto o = make(std::string{t.name}, b);
  const auto was = std::make_shared<fate>(fate::gone);
  enqueue(o, [this, o, b, was, who = t.who] {
    read_and_settle(
        o, [who, was](ledger& l) { *was = l.remove(who); }, [this, o, b, was](ledger&) { finish(o, b, {*was}); });
  });
}

// For engines made of several servers without an order of their own; here revisions are that order.
void etcd_engine::lift(const target& t, std::uint64_t, reply<fate> back) {
  const auto o = make(std::string{t.name}, std::make_shared<reply<fate>>(std::move(back)));
  box_->put([this, o] { fail(o, no(why::unsupported, errc::unsupported, "etcd's tokens are its revisions")); });
}

void etcd_engine::ask(std::string_view name, std::string_view reason, reply<std::uint32_t> back) {
  auto b = std::make_shared<reply<std::uint32_t>>(std::move(back));
  const auto o = make(std::string{name}, b);
  const auto asked = std::make_shared<std::uint32_t>(0);
  enqueue(o, [this, o, b, asked, reason = std::string{reason}] {
    read_and_settle(
        o, [asked, reason](ledger& l) { *asked = l.ask(reason); },
        [this, o, b, asked](ledger&) { finish(o, b, {*asked}); });
  });
}

void etcd_engine::convert(const target& t, mode to, milliseconds not_after, reply<answer> back) {
  auto b = std::make_shared<reply<answer>>(std::move(back));
  const auto o = make(std::string{t.name}, b);
  o->not_after = o->sent + not_after;
  const auto result = std::make_shared<std::variant<answer, failure>>();
  enqueue(o, [this, o, b, result, who = t.who, to] {
    read_and_settle(
        o, [result, who, to](ledger& l) { *result = l.convert(who, to); },
        [this, o, b, result, who](ledger& l) {
          if (auto* f = std::get_if<failure>(result.get())) return fail(o, std::move(*f));
          converted(who, l, std::get<answer>(*result));
          finish(o, b, std::move(*result));
        });
  });
}

// A hold lives as long as before.
void etcd_engine::converted(const id& who, const ledger& l, answer& a) {
  const auto at = std::ranges::find(l.seats(), who, &seat::who);
  if (at == l.seats().end()) return;
  auto left = milliseconds{static_cast<std::int64_t>(at->record.ttl_ms())};
  if (const auto own = mine_.find(who); own != mine_.end()) {
    const auto due = own->second.due;
    left = std::max(milliseconds{1}, std::chrono::floor<milliseconds>(due - environment_.clock->now()));
    mine& m = have(own->second.name, *at, due);
    m.alone = l.seats().size() == 1;
    if (m.upgrading) {
      watch_own(m);
      watch_ahead(m, l);
    }
  }
  if (auto* g = std::get_if<tyer::engine::granted>(&a)) {
    g->part = at->part();
    g->ttl = left;
  }
}

}  // namespace tyer::etcd
