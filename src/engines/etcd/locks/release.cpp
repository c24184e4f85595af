// release, evict, convert and ask: each one step of the ledger.
#include "engines/etcd/locks/engine.hpp"
#include "engines/etcd/locks/line.hpp"
#include "engines/etcd/locks/transactions.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace tyer::etcd {

struct etcd_engine::releasing {
  releasing(const call_ptr<fate>& c, const target& t)
      : call(c), o(std::make_shared<operation>(c, t.name)), who(t.who) {}

  const call_ptr<fate> call;
  const op o;
  const id who;
  fate was = fate::gone;

  decide removed() {
    return [this](ledger& l) { was = l.remove(who); };
  }
};

void etcd_engine::do_release(const target& t, bool, const call_ptr<fate>& c) {
  const auto r = std::make_shared<releasing>(c, t);
  r->o->on_no_space = [this, weak = std::weak_ptr{r}] {
    const auto self = weak.lock();
    if (!self) return;
    delete_alone(self->o, self->who, [this, self](fate is) {
      self->was = is;
      released(self);
    });
  };
  calls().in_turn(c, t.name, [this, r] {
    const auto at = mine_.find(r->who);
    if (at == mine_.end() || at->second.name != r->o->name) return settle_release(r);
    give_back(r, at->second);
  });
}

void etcd_engine::settle_release(const std::shared_ptr<releasing>& r) {
  read_and_settle(r->o, r->removed(), [this, r](ledger&) { released(r); });
}

void etcd_engine::released(const std::shared_ptr<releasing>& r) {
  forget_released(r->who, r->was);
  calls().answer<fate>(*r->call, r->was);
}

// To the next, if it is known who that is. Else it is tried whether there is nobody, unless that is known to be in vain.
void etcd_engine::give_back(const std::shared_ptr<releasing>& r, const mine& m) {
  if (m.due <= around().clock->now()) return settle_release(r);
  if (m.waits || !m.exclusive) return leave(r, m);
  pb::Line line;
  if (line.ParseFromString(m.line)) {
    const own_hold hold{m.who, *keys_.read(m.key)->at, m.created, m.modified, m.lease};
    if (auto l = hold_and_next(keys_, m.name, hold, line, link_.revision()); l && is_plain_hand_over(*l, r->who)) {
      return pass_on(r, *std::move(l), line);
    }
    if (line.goes_on()) return look_for_next(r);
  }
  auto t = give_back_if_alone(keys_, m.name, m.key, m.created, m.modified);
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(t), r->call->deadline,
                                              [this, r](const failure* f, pb::TxnResponse& answer) {
                                                if (f != nullptr) return calls().fail(*r->call, *f);
                                                if (!answer.succeeded()) return hand_over(r, answer);
                                                link_.saw(answer.header());
                                                r->was = fate::holding;
                                                released(r);
                                              });
}

// Whose turn it is then is told before it is answered. Should that come to nothing, the first of those who wait finds it out; it
// has been given back all the same.
void etcd_engine::leave(const std::shared_ptr<releasing>& r, const mine& m) {
  r->was = m.waits ? fate::waiting : fate::holding;
  // Of readers and places those who came first say enough; but whoever waited to be upgraded kept out all who came since.
  const auto as_many = (m.permits && !m.waits) || m.upgrading ? 0 : some;
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, etcd::leave(keys_.room(m.name), m.key, m.modified, as_many), r->call->deadline,
      [this, r](const failure* f, pb::TxnResponse& answer) {
        if (f != nullptr) return calls().fail(*r->call, *f);
        link_.saw(answer.header());
        if (!answer.succeeded()) return settle_release(r);  // it has changed meanwhile
        forget_released(r->who, r->was);
        r->call->achieved = r->was;
        tell_turns_behind(r->o->name, r->was, answer.responses(1).response_range(), answer.header().revision(),
                          [this, r] { calls().answer<fate>(*r->call, r->was); });
      });
}

// For want of space etcd refuses to write, and so to hand over, but not to delete. The next sees that it is gone.
void etcd_engine::delete_alone(const op& o, const id& who, std::function<void(fate was)> deleted) {
  const auto was = std::make_shared<fate>();
  const auto only_this = [who, was](ledger& l) {
    seat* const s = l.find(who);
    *was = s == nullptr ? fate::gone : s->waits() ? fate::waiting : fate::holding;
    if (s != nullptr) s->removed = true;
  };
  read_and_settle(o, only_this, [was, deleted = std::move(deleted)](ledger&) { deleted(*was); });
}

// The oldest of the room are all there is to know, however many wait.
void etcd_engine::look_for_next(const std::shared_ptr<releasing>& r) {
  const auto looked = [this, r](const failure* f, pb::TxnResponse& answer) {
    if (f == nullptr) return hand_over(r, answer);
    auto wrong = *f;
    if (wrong.kind == why::unknown) wrong.kind = why::not_sent;  // only reading has been tried
    calls().fail(*r->call, std::move(wrong));
  };
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, look_who_is_next(keys_, r->o->name), r->call->deadline,
                                              looked);
}

void etcd_engine::hand_over(const std::shared_ptr<releasing>& r, pb::TxnResponse& answer) {
  if (r->call->over()) return;
  link_.saw(answer.header());
  auto& oldest = *answer.mutable_responses(0)->mutable_response_range();
  const auto& floor = answer.responses(1).response_range();
  if (floor.kvs_size() > 0) *oldest.add_kvs() = floor.kvs(0);
  auto read = ledger::from(keys_, oldest, answer.header().revision());
  auto* const l = std::get_if<ledger>(&read);
  if (l != nullptr && is_plain_hand_over(*l, r->who)) {
    const auto line = line_behind_next(*l, oldest.more());
    return pass_on(r, std::move(*l), line);
  }
  if (l == nullptr || oldest.more()) return settle_release(r);
  settle(r->o, std::move(*l), r->removed(), [this, r](ledger&) { released(r); });
}

// From an exclusive hold to an exclusive waiter. As long as these two are there, nobody can come before or between them.
bool etcd_engine::is_plain_hand_over(const ledger& l, const id& who) const {
  if (l.seats().size() < 2) return false;
  const seat &first = l.seats().front(), &next = l.seats()[1];
  const auto overdue = [&](const seat& s) {
    const auto at = mine_.find(s.who);
    return at != mine_.end() && at->second.due <= around().clock->now();
  };
  return first.who == who && !first.waits() && first.how() == mode::exclusive && next.waits() &&
         next.how() == mode::exclusive && !overdue(first) && !overdue(next);
}

// Refused: the next has left meanwhile, or this hold has changed.
void etcd_engine::pass_on(const std::shared_ptr<releasing>& r, ledger l, const pb::Line& line) {
  r->removed()(l);
  tell_line(l, line);
  auto t = write_changes(l, keys_, r->o->name, if_meanwhile::anything);
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, std::move(t), r->call->deadline, [this, r](const failure* f, pb::TxnResponse& answer) {
        if (f != nullptr && says_no_space(*f) && r->o->on_no_space && !r->call->over())
          return std::exchange(r->o->on_no_space, {})();
        if (f != nullptr) return calls().fail(*r->call, *f);
        link_.saw(answer.header());
        answer.succeeded() ? released(r) : look_for_next(r);
      });
}

void etcd_engine::do_evict(const target& t, std::string_view, const call_ptr<fate>& c) {
  const auto o = std::make_shared<operation>(c, t.name);
  const auto was = std::make_shared<fate>(fate::gone);
  o->on_no_space = [this, weak = std::weak_ptr{o}, c, who = t.who] {
    const auto self = weak.lock();
    if (self) delete_alone(self, who, [this, c](fate is) { calls().answer<fate>(*c, is); });
  };
  calls().in_turn(c, t.name, [this, o, c, was, who = t.who] {
    read_and_settle(
        o, [who, was](ledger& l) { *was = l.remove(who); },
        [this, c, was](ledger&) { calls().answer<fate>(*c, *was); });
  });
}

struct etcd_engine::asking_holders {
  call_ptr<std::uint32_t> call;
  op o;
  std::string reason;
  std::set<id> asked = {};
  std::vector<id> now = {};

  decide some() {
    return [this](ledger& l) { now = l.ask(reason, asked); };
  }
};

void etcd_engine::do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>& c) {
  const auto x =
      std::make_shared<asking_holders>(asking_holders{c, std::make_shared<operation>(c, name), std::string{reason}});
  calls().in_turn(c, name, [this, x] { read_and_settle(x->o, x->some(), [this, x](ledger& l) { ask_more(x, l); }); });
}

void etcd_engine::ask_more(const std::shared_ptr<asking_holders>& x, const ledger& l) {
  x->asked.insert(x->now.begin(), x->now.end());
  if (x->now.size() < asked_per_write) {
    return calls().answer<std::uint32_t>(*x->call, static_cast<std::uint32_t>(x->asked.size()));
  }
  settle(x->o, l, x->some(), [this, x](ledger& after) { ask_more(x, after); });
}

void etcd_engine::do_convert(const target& t, mode to, milliseconds, const call_ptr<answer>& c) {
  const auto o = std::make_shared<operation>(c, t.name);
  const auto result = std::make_shared<std::variant<answer, failure>>();
  calls().in_turn(c, t.name, [this, o, c, result, who = t.who, to] {
    read_and_settle(
        o, [result, who, to](ledger& l) { *result = l.convert(who, to); },
        [this, c, result, who](ledger& l) {
          if (auto* a = std::get_if<answer>(result.get())) converted(who, l, *a);
          calls().answer<answer>(*c, std::move(*result));
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
    left = std::max(milliseconds{1}, std::chrono::floor<milliseconds>(due - around().clock->now()));
    mine& m = have(own->second.name, *at, due);
    m.line.clear();  // it was told to an exclusive hold, which this is or was not
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
