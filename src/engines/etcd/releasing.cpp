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
  o->on_no_space = [this, weak = std::weak_ptr{o}, b, who] {
    const auto self = weak.lock();
    const auto deleted = [this, self, b, who](fate is) {
      forget_released(who, is);
      finish(self, b, {is});
    };
    if (self) delete_alone(self, who, deleted);
  };
  enqueue(o, [this, o, b, who, removed, told] {
    const auto at = mine_.find(who);
    const bool plain = at != mine_.end() && at->second.name == o->name && at->second.alone &&
                       at->second.due > environment_.clock->now();
    if (!plain && at != mine_.end() && !at->second.waits) return hand_over(o, who, removed, told);
    if (!plain) return read_and_settle(o, removed, told);
    auto plain_step = give_back_if_alone(keys_.room(o->name), at->second.key, at->second.modified);
    link_.call<pb::TxnRequest, pb::TxnResponse>(
        method::txn, std::move(plain_step), o->deadline,
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

// From an exclusive hold to an exclusive waiter: the first two of the room are all there is to know, however many wait. As
// long as these two are there, nobody can come before or between them.
void etcd_engine::hand_over(const op& o, const id& who, decide removed, settled told) {
  pb::TxnRequest look;
  read_oldest(*look.add_success()->mutable_request_range(), keys_.room(o->name), 2);
  look.add_success()->mutable_request_range()->set_key(keys_.floor(o->name));
  const auto looked = [this, o, who, removed, told](const failure* f, pb::TxnResponse& answer) {
    if (f == nullptr) return hand_over_to_next(o, who, answer, removed, told);
    auto wrong = *f;
    if (wrong.kind == why::unknown) wrong.kind = why::not_sent;  // only reading has been tried
    fail(o, std::move(wrong));
  };
  link_.call<pb::TxnRequest, pb::TxnResponse>(method::txn, std::move(look), o->deadline, looked);
}

void etcd_engine::hand_over_to_next(const op& o, const id& who, pb::TxnResponse& answer, const decide& removed,
                                    const settled& told) {
  if (o->over()) return next_of(o);
  link_.saw(answer.header());
  auto& oldest = *answer.mutable_responses(0)->mutable_response_range();
  const auto& floor = answer.responses(1).response_range();
  if (floor.kvs_size() > 0) *oldest.add_kvs() = floor.kvs(0);
  auto read = ledger::from(keys_, oldest, answer.header().revision());
  auto* const l = std::get_if<ledger>(&read);
  if (l != nullptr && is_plain_hand_over(*l, who)) {
    removed(*l);
    return write_hand_over(o, std::move(*l), removed, told);
  }
  const bool is_all = l != nullptr && !oldest.more();
  is_all ? settle(o, std::move(*l), removed, told) : read_and_settle(o, removed, told);
}

bool etcd_engine::is_plain_hand_over(const ledger& l, const id& who) const {
  if (l.seats().size() != 2) return false;
  const seat &first = l.seats().front(), &next = l.seats().back();
  const auto overdue = [&](const seat& s) {
    const auto at = mine_.find(s.who);
    return at != mine_.end() && at->second.due <= environment_.clock->now();
  };
  return first.who == who && !first.waits() && first.how() == mode::exclusive && next.waits() &&
         next.how() == mode::exclusive && !overdue(first) && !overdue(next);
}

void etcd_engine::write_hand_over(const op& o, ledger l, decide removed, settled told) {
  auto t = write_changes(l, keys_, o->name, if_meanwhile::anything);
  link_.call<pb::TxnRequest, pb::TxnResponse>(
      method::txn, std::move(t), o->deadline,
      [this, o, l = std::move(l), removed = std::move(removed), told = std::move(told)](
          const failure* f, pb::TxnResponse& answer) mutable {
        if (f != nullptr && says_no_space(*f) && o->on_no_space && !o->over())
          return std::exchange(o->on_no_space, {})();
        if (f != nullptr) return fail(o, *f);
        link_.saw(answer.header());
        if (!answer.succeeded()) return read_and_settle(o, removed, told);
        tell_handed_over(l);
        l.wrote(answer.header().revision());
        told(l);
      });
}

void etcd_engine::evict(const target& t, std::string_view, reply<fate> back) {
  auto b = std::make_shared<reply<fate>>(std::move(back));
  const auto o = make(std::string{t.name}, b);
  const auto was = std::make_shared<fate>(fate::gone);
  o->on_no_space = [this, weak = std::weak_ptr{o}, b, who = t.who] {
    const auto self = weak.lock();
    if (self) delete_alone(self, who, [this, self, b](fate is) { finish(self, b, {is}); });
  };
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
