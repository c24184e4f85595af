// A lock that goes from one to the next, on the fake: who waits, has its turn, and lets go.
#pragma once

#include "sim/etcd/one_client.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace tyer::sim::etcd {

inline bool was_told(const one_client& of, const id& who) { return std::ranges::find(of.woken, who) != of.woken.end(); }

// A hand-over by what was told: it deletes a key and puts another.
inline bool passes_on(const exchange& e) {
  pb::TxnRequest t;
  if (e.method != "Txn" || !t.ParseFromString(e.request)) return false;
  const auto is = [&](auto has) { return std::ranges::any_of(t.success(), has); };
  return is([](const auto& o) { return o.has_request_delete_range(); }) &&
         is([](const auto& o) { return o.has_request_put(); });
}

struct etcd_hand_over : etcd_scripted {
  using etcd_scripted::etcd_scripted;

  struct one {
    one_client* by;
    id who;
  };
  one waits(one_client& by) {
    const one w{&by, by.next_id()};
    EXPECT_NE(queued_in(by.acquire(w.who, true)), nullptr);
    return w;
  }
  // Its turn comes, and it claims.
  bool has_turn(const one& w, duration within = 2s) {
    return a.run_until([&] { return was_told(*w.by, w.who); }, within) &&
           granted_in(w.by->acquire(w.who, true)) != nullptr;
  }
  bool has_turn_while_it_keeps_its_place(const one& w, duration within) {
    for (const auto end = time.now() + within; !was_told(*w.by, w.who) && time.now() < end; w.by->run_for(200ms)) {
      w.by->keep(w.who, fate::waiting);
    }
    return has_turn(w, duration{1ms});
  }
  fate let_go(const one& w) {
    const auto o = w.by->release(w.who);
    const auto* f = std::get_if<fate>(&o.result);
    return f != nullptr ? *f : fate::unknown;
  }
  void delete_by_hand(const one& w) {  // etcdctl del
    pb::TxnRequest t;
    t.add_success()->mutable_request_delete_range()->set_key(where_is(w.who).value());
    pb::TxnResponse answer;
    data.transact(t, answer);
    ASSERT_TRUE(answer.succeeded());
  }
  one holds(one_client& by) {
    const one h{&by, by.next_id()};
    EXPECT_NE(granted_in(by.acquire(h.who, true)), nullptr);
    return h;
  }
  // Both have waited before, so that leases and watches are there.
  void warm_up() {
    for (int i = 0; i < 2; ++i) {
      const auto h = holds(a), w = waits(b);
      let_go(h);
      ASSERT_TRUE(has_turn(w));
      const auto v = waits(a);
      let_go(w);
      ASSERT_TRUE(has_turn(v));
      let_go(v);
    }
    a.run_for(10ms);
  }
  void strike_first(bool (*such)(const exchange&), const journey& how) {
    struck = false;
    fake.decide = [this, such, how](const exchange& e) {
      if (!struck && such(e)) {
        struck = true;
        return how;
      }
      return journey{500us, 500us};
    };
  }
  void expect_nothing_left() {
    a.run_for(ttl + 20s);
    EXPECT_EQ(data.all().size(), 0u);
  }
  bool struck = false;
};

}  // namespace tyer::sim::etcd
