// There is no queue: whoever is told `busy` and would wait is woken when the lock may be free.
#include "contract/engine/harness.hpp"

namespace tyer::contract {

class woken_contract : public engine_contract {
 protected:
  // As a runtime does: asks, and asks again when it was woken, until `ready`.
  void ask_until(client& who, const want& w, const std::function<bool(const outcome<answer>&)>& ready) {
    const auto end = who.now() + patience;
    while (who.now() < end) {
      const auto wakes = who.count(event::kind::wake);
      if (ready(who.acquire(w))) return;
      who.pump_until([&] { return who.count(event::kind::wake) > wakes || who.now() >= end; }, "wake()");
    }
    throw surprise("nobody woke it");
  }
  // Told busy, and whatever it takes to be woken is in place.
  void wait_in_front(client& who, const want& w) {
    who.find_busy(w);
    who.await(event::kind::wake, w.who);
    who.find_busy(w);
  }
};

TEST_F(woken_contract, a_release_wakes_those_who_wait) {
  const auto held = a.wants("order");
  a.lock(held);
  const auto one = b.waits("order"), two = c.waits("order");
  wait_in_front(b, one);
  wait_in_front(c, two);
  EXPECT_EQ(a.release(held), fate::holding);
  ask_until(b, one, [](const auto& o) { return granted_in(o) != nullptr; });
  EXPECT_EQ(b.release(one), fate::holding);
  ask_until(c, two, [](const auto& o) { return granted_in(o) != nullptr; });
}

// Between the answer `busy` and the moment from which messages are heard, a release would be missed: so it is woken then too.
TEST_F(woken_contract, a_release_is_not_missed_while_one_begins_to_listen) {
  for (int i = 0; i < 50; ++i) {
    const auto held = a.wants("order"), next = b.waits("order");
    a.lock(held);
    b.find_busy(next);
    EXPECT_EQ(a.release(held), fate::holding);
    b.await(event::kind::wake, next.who);
    ask_until(b, next, [](const auto& o) { return granted_in(o) != nullptr; });
    EXPECT_EQ(b.release(next), fate::holding);
  }
}

TEST_F(woken_contract, who_has_left_is_not_woken) {
  const auto held = a.wants("order"), left = b.waits("order");
  a.lock(held);
  wait_in_front(b, left);
  EXPECT_EQ(b.release(left), fate::gone);
  const auto wakes = b.count(event::kind::wake);
  EXPECT_EQ(a.release(held), fate::holding);
  b.round_trip();
  b.pump_until(b.now() + 20ms);
  EXPECT_EQ(b.count(event::kind::wake), wakes);
}

TEST_F(woken_contract, a_try_is_not_woken) {
  const auto held = a.wants("order");
  a.lock(held);
  b.find_busy(b.wants("order"));
  EXPECT_EQ(a.release(held), fate::holding);
  b.round_trip();
  EXPECT_EQ(b.count(event::kind::wake), 0u);
}

TEST_F(woken_contract, an_eviction_wakes_too) {
  const auto held = a.wants("order"), next = b.waits("order");
  a.lock(held);
  wait_in_front(b, next);
  EXPECT_EQ(c.evict(held), fate::holding);
  ask_until(b, next, [](const auto& o) { return granted_in(o) != nullptr; });
}

}  // namespace tyer::contract
