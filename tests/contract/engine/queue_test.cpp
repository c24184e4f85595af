// First come, first served: places in the queue, hand-over, claim, and waiters that die.
#include "contract/engine/harness.hpp"

#include <algorithm>
#include <array>

namespace tyer::contract {

class queue_contract : public engine_contract {
 protected:
  // True if the engine has no queue: then whoever would wait is told to look again, and the test is over.
  bool without_queue() {
    if (can().queue) return false;
    a.lock(a.wants("in vain"));
    EXPECT_GT(b.find_busy(b.waits("in vain")).hint, 0ms);
    return true;
  }
  bool without_lock_delay() { return without_queue() || !can().lock_delay; }
};

TEST_F(queue_contract, a_free_name_is_granted_at_once) {
  if (without_queue()) return;
  a.lock(a.waits("order"));
}

TEST_F(queue_contract, who_cannot_have_it_gets_a_place) {
  if (without_queue()) return;
  a.lock(a.wants("order"));
  const auto first = b.enqueue(b.waits("order")), second = c.enqueue(c.waits("order"));
  EXPECT_EQ(first.ahead, 0u);
  EXPECT_EQ(second.ahead, 1u);
  EXPECT_GT(first.look_again, 0ms);
  EXPECT_GT(second.look_again, 0ms);
}

TEST_F(queue_contract, the_same_id_again_is_the_same_place) {
  if (without_queue()) return;
  a.lock(a.wants("order"));
  const auto w = b.waits("order");
  b.enqueue(w);
  c.enqueue(c.waits("order"));
  EXPECT_EQ(b.enqueue(w).ahead, 0u);
  EXPECT_EQ(a.of_name("order").size(), 3u);
}

TEST_F(queue_contract, the_head_looks_again_when_the_hold_may_end) {
  if (without_queue()) return;
  auto w = a.wants("order");
  w.ttl = steady();
  const auto given = a.lock(w).ttl;
  auto head = b.waits("order");
  head.waiter_ttl = 60s;
  EXPECT_LE(b.enqueue(head).look_again, given + 1ms);
}

TEST_F(queue_contract, the_others_look_again_within_a_waiter_lease) {
  if (without_queue()) return;
  a.lock(a.wants("order"));
  b.enqueue(b.waits("order"));
  auto second = c.waits("order");
  second.waiter_ttl = 2s;
  EXPECT_LE(c.enqueue(second).look_again, second.waiter_ttl);
}

TEST_F(queue_contract, a_try_does_not_overtake) {
  if (without_queue()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  const auto waiter = b.waits("order");
  b.enqueue(waiter);
  EXPECT_EQ(a.release(holder), fate::holding);
  c.find_busy(c.wants("order"));
  b.lock(waiter);
}

TEST_F(queue_contract, ten_waiters_of_three_clients_have_their_turn_in_order) {
  if (without_queue()) return;
  const std::array<client*, 3> clients{&a, &b, &c};
  auto holder = a.wants("order");
  a.lock(holder);
  std::vector<std::pair<client*, want>> queue;
  for (std::uint32_t i = 0; i < 10; ++i) {
    client* who = clients[i % 3];
    queue.emplace_back(who, who->waits("order"));
    EXPECT_EQ(who->enqueue(queue.back().second).ahead, i);
  }
  EXPECT_EQ(a.release(holder), fate::holding);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    auto& [who, w] = queue[i];
    if (i + 1 < queue.size()) {
      auto& [next, next_want] = queue[i + 1];
      EXPECT_EQ(next->enqueue(next_want).ahead, 0u);
    }
    who->wait_turn(w);
    EXPECT_EQ(who->release(w), fate::holding);
  }
  EXPECT_TRUE(a.could_lock(a.wants("order")));
}

TEST_F(queue_contract, a_release_wakes_exactly_the_head) {
  if (without_queue() || !can().push) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  const auto first = b.waits("order"), second = b.waits("order"), third = c.waits("order");
  b.enqueue(first);
  b.enqueue(second);
  c.enqueue(third);
  EXPECT_EQ(b.count(event::kind::wake), 0u);
  EXPECT_EQ(a.release(holder), fate::holding);
  b.await(event::kind::wake, first.who);
  b.round_trip();
  c.round_trip();
  EXPECT_FALSE(b.saw(event::kind::wake, second.who));
  EXPECT_FALSE(c.saw(event::kind::wake, third.who));
}

TEST_F(queue_contract, whoever_is_handed_the_lock_holds_it_before_the_claim) {
  if (without_queue()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  const auto waiter = b.waits("order");
  b.enqueue(waiter);
  a.release(holder);
  const auto shown = c.listed(waiter);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->what, fate::holding);
  c.find_busy(c.wants("order"));
}

TEST_F(queue_contract, the_claim_keeps_the_part) {
  if (without_queue() || !can().token) return;
  const auto holder = a.wants("order");
  const auto before = a.lock(holder).part;
  const auto waiter = b.waits("order");
  b.enqueue(waiter);
  a.release(holder);
  const auto shown = c.listed(waiter);
  ASSERT_TRUE(shown);
  const auto claimed = b.lock(waiter).part;
  EXPECT_EQ(claimed, shown->part);
  EXPECT_GT(claimed, before);
  EXPECT_EQ(b.lock(waiter).part, claimed);
}

TEST_F(queue_contract, the_claim_brings_the_full_ttl) {
  if (without_queue()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  auto waiter = b.waits("order");
  waiter.waiter_ttl = steady();
  waiter.ttl = steady() + 20s;
  b.enqueue(waiter);
  a.release(holder);
  EXPECT_GE(b.lock(waiter).ttl, waiter.ttl);
  const auto claimed = b.now();
  c.pump_until(claimed + waiter.waiter_ttl * 2);
  EXPECT_FALSE(c.could_lock(c.wants("order")));
  EXPECT_EQ(b.keep(waiter, fate::holding, 20s), fate::holding);
}

TEST_F(queue_contract, a_hand_over_nobody_claims_passes_on_after_a_waiter_lease) {
  if (without_queue()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  auto dead = b.waits("order");
  be_mortal(dead);
  const auto before = a.now();  // on etcd its lease counts from here, not from the hand-over
  b.enqueue(dead);
  auto next = c.waits("order");
  next.waiter_ttl = 5s;
  c.enqueue(next);
  a.release(holder);
  c.wait_turn(next);
  EXPECT_GE(c.now(), before + dead.waiter_ttl);
  EXPECT_EQ(b.keep(dead, fate::waiting, 2s), fate::gone);
}

TEST_F(queue_contract, a_hand_over_claimed_too_late_goes_to_the_end_of_the_queue) {
  if (without_queue()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  auto late = b.waits("order");
  late.waiter_ttl = steady();
  b.enqueue(late);
  const auto next = c.waits("order");
  c.enqueue(next);
  a.release(holder);
  // Where the waiter's own client judges (etcd), its time runs from when it is told.
  if (can().push) b.await(event::kind::wake, late.who);
  b.pump_until(b.now() + late.waiter_ttl + 5ms);
  EXPECT_EQ(b.enqueue(late).ahead, 0u);
  c.wait_turn(next);
}

TEST_F(queue_contract, a_waiter_whose_client_died_is_passed_over) {
  if (without_queue()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  auto mortal = another();
  auto dead = mortal->waits("order");
  be_mortal(dead);
  mortal->enqueue(dead);
  const auto died = mortal->now();
  mortal.reset();
  const auto next = c.waits("order");
  EXPECT_EQ(c.enqueue(next).ahead, 1u);
  c.pump_until(died + dead.waiter_ttl + 5ms);
  a.release(holder);
  if (can().push) c.await(event::kind::wake, next.who);
  c.lock(next);
}

TEST_F(queue_contract, looking_again_alone_is_enough_after_the_holder_died) {
  if (without_queue()) return;
  auto holder = a.wants("order");
  holder.ttl = brief();
  const auto o = a.acquire(holder);
  ASSERT_TRUE(granted_in(o)) << describe(o);
  const auto next = b.waits("order");  // its place outlives the test: nothing but look_again counts
  for (int asked = 1;; ++asked) {
    const auto again = b.acquire(next);
    if (granted_in(again)) break;
    ASSERT_TRUE(queued_in(again)) << describe(again);
    ASSERT_LE(asked, 3) << "look_again is too early";
    b.pump_until(b.now() + queued_in(again)->look_again);
  }
  EXPECT_GE(b.now(), o.sent + granted_in(o)->ttl);
}

TEST_F(queue_contract, a_waiter_that_keeps_its_place_outlives_its_lease) {
  if (without_queue()) return;
  a.lock(a.wants("order"));
  auto w = b.waits("order");
  w.waiter_ttl = steady();
  b.enqueue(w);
  const auto end = b.now() + w.waiter_ttl;
  EXPECT_EQ(b.keep(w, fate::waiting, 20s), fate::waiting);
  b.pump_until(end + 5ms);
  EXPECT_EQ(b.keep(w, fate::waiting, 20s), fate::waiting);
  EXPECT_EQ(b.enqueue(w).ahead, 0u);
}

TEST_F(queue_contract, asking_again_keeps_the_place_too) {
  if (without_queue()) return;
  a.lock(a.wants("order"));
  auto w = b.waits("order");
  w.waiter_ttl = 2 * steady();  // half of it is left when the next one comes
  b.enqueue(w);
  const auto end = b.now() + w.waiter_ttl;
  b.pump_until(b.now() + w.waiter_ttl / 2);
  b.enqueue(w);
  c.pump_until(end + 5ms);
  EXPECT_EQ(c.enqueue(c.waits("order")).ahead, 1u);
}

TEST_F(queue_contract, a_waiter_can_be_cancelled_at_every_place) {
  if (without_queue()) return;
  for (std::size_t cancelled = 0; cancelled < 3; ++cancelled) {
    const std::string name = "order/" + std::to_string(cancelled);
    const auto holder = a.wants(name);
    a.lock(holder);
    std::vector<want> queue;
    for (int i = 0; i < 3; ++i) b.enqueue(queue.emplace_back(b.waits(name)));
    EXPECT_EQ(b.release(queue[cancelled]), fate::waiting);
    EXPECT_EQ(b.release(queue[cancelled]), fate::gone);
    EXPECT_EQ(b.keep(queue[cancelled], fate::waiting, 20s), fate::gone);
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(cancelled));
    EXPECT_EQ(b.enqueue(queue[0]).ahead, 0u);
    EXPECT_EQ(b.enqueue(queue[1]).ahead, 1u);
    a.release(holder);
    b.lock(queue[0]);
    EXPECT_EQ(b.release(queue[0]), fate::holding);
    b.lock(queue[1]);
  }
}

TEST_F(queue_contract, a_hand_over_can_be_declined) {
  if (without_queue()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  const auto first = b.waits("order"), second = c.waits("order");
  b.enqueue(first);
  c.enqueue(second);
  a.release(holder);
  EXPECT_EQ(b.release(first), fate::holding);
  c.lock(second);
}

TEST_F(queue_contract, a_cancelled_waiter_is_not_woken) {
  if (without_queue() || !can().push) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  const auto w = b.waits("order");
  b.enqueue(w);
  b.release(w);
  a.release(holder);
  b.round_trip();
  EXPECT_FALSE(b.saw(event::kind::wake, w.who));
  EXPECT_TRUE(c.could_lock(c.wants("order")));
}

TEST_F(queue_contract, a_lock_delay_holds_the_head_back_too) {
  if (without_lock_delay()) return;
  auto holder = a.wants("order");
  holder.lock_delay = brief();
  a.lock(holder);
  const auto next = b.waits("order");
  b.enqueue(next);
  const auto before = a.now();
  a.release(holder, false);
  b.wait_turn(next);
  EXPECT_GE(b.now(), before + holder.lock_delay);
}

TEST_F(queue_contract, a_waiter_that_died_unclaimed_causes_no_lock_delay) {
  if (without_lock_delay()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  auto dead = b.waits("order");
  dead.waiter_ttl = brief();
  dead.lock_delay = 60s;
  b.enqueue(dead);
  const auto next = c.waits("order");
  c.enqueue(next);
  a.release(holder);
  c.pump_until(c.now() + dead.waiter_ttl + 5ms);
  c.wait_turn(next);
}

}  // namespace tyer::contract
