// Read, decide, write if nothing has changed since; else again on what is there now.
#include "engines/etcd/locks/engine.hpp"
#include "engines/etcd/locks/transactions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tyer::etcd {

void etcd_engine::read_and_settle(const op& o, decide d, settled s) {
  const auto room = keys_.room(o->name);
  pb::RangeRequest r;
  r.set_key(room.from);
  r.set_range_end(room.to);
  link_.call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), o->deadline,
      [this, o, d = std::move(d), s = std::move(s)](const failure* f, pb::RangeResponse& answer) mutable {
        if (f != nullptr) {
          auto wrong = *f;
          if (wrong.kind == why::unknown) wrong.kind = why::not_sent;  // only reading has been tried
          return fail(o, std::move(wrong));
        }
        link_.saw(answer.header());
        auto l = ledger::from(keys_, answer, answer.header().revision());
        if (auto* wrong = std::get_if<failure>(&l)) return fail(o, std::move(*wrong));
        settle(o, std::get<ledger>(std::move(l)), std::move(d), std::move(s));
      });
}

void etcd_engine::settle(const op& o, ledger l, decide d, settled s) {
  if (o->over()) return next_of(o);
  drop_overdue(l, o->name);
  d(l);
  if (!l.dirty()) return s(l);
  if (too_late(o)) return;
  // Of many that come or leave at once each would refuse all others once.
  const bool joins = o->refused > 0 && l.company_of_new_reader() != nullptr;
  const bool beside = joins || l.company_of_one_that_leaves() != nullptr;
  auto t = write_changes(l, keys_, o->name, beside ? if_meanwhile::company_stays : if_meanwhile::nobody_came);
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(t), o->deadline,
                                              [this, o, l = std::move(l), d = std::move(d), s = std::move(s)](
                                                  const failure* f, pb::TxnResponse& answer) mutable {
                                                if (f == nullptr)
                                                  return written(o, std::move(l), answer, std::move(d), std::move(s));
                                                if (names_a_lost_lease(*f) && o->on_lease_lost && !o->over())
                                                  return o->on_lease_lost();
                                                if (says_no_space(*f) && o->on_no_space && !o->over())
                                                  return std::exchange(o->on_no_space, {})();
                                                fail(o, *f);
                                              });
}

void etcd_engine::written(const op& o, ledger l, const pb::TxnResponse& answer, decide d, settled told) {
  const auto revision = answer.header().revision();
  link_.saw(answer.header());
  if (!answer.succeeded()) {
    ++o->refused;
    auto now = ledger::from(keys_, answer.responses(0).response_range(), revision);
    if (auto* wrong = std::get_if<failure>(&now)) return fail(o, std::move(*wrong));
    return settle(o, std::get<ledger>(std::move(now)), std::move(d), std::move(told));
  }
  // What was dropped is gone now, and not before: had the write come to nothing, it would still have to be taken away.
  for (const seat& s : l.seats()) {
    const auto own = mine_.find(s.who);
    if (s.removed && own != mine_.end() && own->second.due <= environment_.clock->now()) lose(s.who);
  }
  l.wrote(revision);
  if (auto after = turns_left(answer)) tell_turns(o->name, *std::move(after));
  told(l);
}

// There are more whose turn it is than one write can tell, or somebody has left whom this one had counted on.
std::optional<ledger> etcd_engine::turns_left(const pb::TxnResponse& answer) const {
  if (answer.responses().empty() || !answer.responses().rbegin()->has_response_range()) return std::nullopt;
  const auto& room = answer.responses().rbegin()->response_range();
  auto read = ledger::from(keys_, room, answer.header().revision());
  auto* const now = std::get_if<ledger>(&read);
  if (now == nullptr) return std::nullopt;
  ledger after = *now;
  after.turn();
  return after.dirty() ? std::optional{std::move(*now)} : std::nullopt;
}

// As an operation that nobody waits for.
void etcd_engine::tell_turns(const std::string& name, ledger l) {
  const auto back = std::make_shared<reply<tyer::engine::done>>([](outcome<tyer::engine::done>&&) {});
  const auto o = make(name, back);
  o->gives_back = true;
  enqueue(o, [this, o, back, l = std::move(l)] {
    settle(
        o, l, [](ledger& all) { all.turn(); }, [this, o, back](ledger&) { finish(o, back, {tyer::engine::done{}}); });
  });
}

// A hold of ours that nobody kept is over, even if the server still has it.
void etcd_engine::drop_overdue(ledger& l, const std::string& name) {
  const auto now = environment_.clock->now();
  for (seat& s : l.seats()) {
    const auto at = mine_.find(s.who);
    if (at == mine_.end() || at->second.name != name || at->second.due > now) continue;
    // Handed over meanwhile, it has a little longer, and we are about to hear of it.
    const bool news = s.modified != at->second.modified && s.record.state() == pb::Record::HANDED_OVER;
    if (!news) s.removed = true;
  }
}

}  // namespace tyer::etcd
