// Read, decide, write if nothing has changed since; else again on what is there now.
#include "engines/etcd/locks/engine.hpp"
#include "engines/etcd/locks/transactions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tyer::etcd {

namespace {

constexpr std::ptrdiff_t dropped_per_write = 40;  // of the 128 operations that a transaction may have

}  // namespace

bool etcd_engine::says_no_space(const failure& f) { return f.words.find("database space exceeded") != f.words.npos; }

void etcd_engine::read_and_settle(const op& o, decide d, settled s) {
  const auto room = keys_.room(o->name);
  pb::RangeRequest r;
  r.set_key(room.from);
  r.set_range_end(room.to);
  link_.call<pb::RangeRequest, pb::RangeResponse>(
      method::range, std::move(r), o->call->deadline,
      [this, o, d = std::move(d), s = std::move(s)](const failure* f, pb::RangeResponse& answer) mutable {
        if (f != nullptr) {
          auto wrong = *f;
          if (wrong.kind == why::unknown) wrong.kind = why::not_sent;  // only reading has been tried
          return calls().fail(*o->call, std::move(wrong));
        }
        link_.saw(answer.header());
        auto l = ledger::from(keys_, answer, answer.header().revision());
        if (auto* wrong = std::get_if<failure>(&l)) return calls().fail(*o->call, std::move(*wrong));
        settle(o, std::get<ledger>(std::move(l)), std::move(d), std::move(s));
      });
}

void etcd_engine::settle(const op& o, ledger l, decide d, settled s) {
  if (o->call->over()) return;
  if (drop_overdue(l, o->name)) {
    d(l);
  } else {  // more than one write takes away: first those
    s = [this, o, d = std::move(d), s = std::move(s)](ledger& left) { settle(o, left, d, s); };
    d = [](ledger&) {};
  }
  if (!l.dirty()) return s(l);
  if (calls().too_late(*o->call, now())) return;
  auto t = write_changes(l, keys_, o->name, needed_for(l, o->refused));
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(t), o->call->deadline,
                                              [this, o, l = std::move(l), d = std::move(d), s = std::move(s)](
                                                  const failure* f, pb::TxnResponse& answer) mutable {
                                                if (f == nullptr)
                                                  return written(o, std::move(l), answer, std::move(d), std::move(s));
                                                if (names_a_lost_lease(*f) && o->on_lease_lost && !o->call->over())
                                                  return o->on_lease_lost();
                                                if (says_no_space(*f) && o->on_no_space && !o->call->over())
                                                  return std::exchange(o->on_no_space, {})();
                                                calls().fail(*o->call, *f);
                                              });
}

void etcd_engine::written(const op& o, ledger l, const pb::TxnResponse& answer, decide d, settled told) {
  const auto revision = answer.header().revision();
  link_.saw(answer.header());
  if (!answer.succeeded()) {
    ++o->refused;
    auto now = ledger::from(keys_, answer.responses(0).response_range(), revision);
    if (auto* wrong = std::get_if<failure>(&now)) return calls().fail(*o->call, std::move(*wrong));
    return settle(o, std::get<ledger>(std::move(now)), std::move(d), std::move(told));
  }
  // What was dropped is gone now, and not before: had the write come to nothing, it would still have to be taken away.
  for (const seat& s : l.seats()) {
    const auto own = mine_.find(s.who);
    if (s.removed && own != mine_.end() && own->second.due <= around().clock->now()) lose(s.who);
  }
  l.wrote(revision);
  if (const auto after = turns_left(answer)) tell_turns(o->name, after, [] {});
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

// As a call of its own, that waits for no other; `then` it has come to its end, whatever that is.
void etcd_engine::tell_turns(const std::string& name, const std::optional<ledger>& known, std::function<void()> then) {
  using tyer::engine::done;
  const auto c = calls().begin_own<done>(now(), [then = std::move(then)](outcome<done>&&) { then(); });
  const auto o = std::make_shared<operation>(c, name);
  // Whoever was quicker to tell the first in the queue has seen in the same step what there is left to tell.
  const auto all = [o = o.get(), first = id{}](ledger& l) mutable {
    const seat* const was_first = o->refused > 0 ? l.find(first) : nullptr;
    if (was_first != nullptr && !was_first->waits()) return;
    if (const auto queue = l.queue(); !queue.empty()) first = queue.front()->who;
    l.turn();
  };
  const auto told = [this, c](ledger&) { calls().answer<done>(*c, done{}); };
  known ? settle(o, *known, all, told) : read_and_settle(o, all, told);
}

// One has left, and these are the oldest of those who were there then. One reader of many has left nobody a turn.
void etcd_engine::tell_turns_behind(const std::string& name, fate left, const pb::RangeResponse& oldest,
                                    std::int64_t revision, std::function<void()> then) {
  auto read = ledger::from(keys_, oldest, revision);
  auto* const l = std::get_if<ledger>(&read);
  if (l == nullptr) return then();
  ledger after = *l;
  after.turn();
  const auto holds = l->holds();
  const bool beside_readers = left == fate::holding && !holds.empty() && holds.front()->how() == mode::shared;
  const bool seen = !oldest.more() || !l->queue().empty() || beside_readers;  // who is next, if somebody is
  if (seen && !after.dirty()) return then();
  tell_turns(name, oldest.more() ? std::nullopt : std::optional{std::move(*l)}, std::move(then));
}

// A hold of ours that nobody kept is over, even if the server still has it. False: there are still more of them.
bool etcd_engine::drop_overdue(ledger& l, const std::string& name) {
  const auto now = around().clock->now();
  auto most = dropped_per_write;
  for (seat& s : l.seats()) {
    const auto at = mine_.find(s.who);
    if (at == mine_.end() || at->second.name != name || at->second.due > now) continue;
    // Handed over meanwhile, it has a little longer, and we are about to hear of it.
    const bool news = s.modified != at->second.modified && s.record.state() == pb::Record::HANDED_OVER;
    if (news) continue;
    if (most-- == 0) return false;
    s.removed = true;
  }
  return true;
}

}  // namespace tyer::etcd
