// The engine's part of the fencing token: larger for every later conflicting grant of a name.
#include "core/token.hpp"

#include "contract/engine/harness.hpp"

namespace tyer::contract {

class token_contract : public engine_contract {
 protected:
  bool without_token() {
    if (can().token) return false;
    EXPECT_EQ(a.lock(a.wants("refused")).part, 0u);
    return true;
  }
  // True if the parts are the server's own count: one who has seen more is refused, and leaves nothing behind.
  bool without_raising() {
    if (without_token()) return true;
    if (can().above_seen) return false;
    auto w = a.wants("refused");
    w.seen = later_than_now();
    EXPECT_EQ(a.find_failure(w).kind, why::refused);
    EXPECT_TRUE(b.could_lock(b.wants("refused")));
    return true;
  }
  // A part that the engine would not come to by itself, odd and of many digits.
  std::uint64_t later_than_now() { return a.lock(a.wants("another name")).part * 2 + 1; }
};

TEST_F(token_contract, grows_over_grants_of_any_client) {
  if (without_token()) return;
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    for (client* who : {&a, &b, &c}) {
      const auto w = who->wants("order");
      const auto part = who->lock(w).part;
      EXPECT_GT(part, last);
      EXPECT_LE(part, core::part_max);
      last = part;
      who->release(w);
    }
  }
}

TEST_F(token_contract, grows_over_hand_overs) {
  if (without_token() || !can().queue) return;
  auto holder = a.wants("order");
  auto last = a.lock(holder).part;
  std::vector<want> queue;
  for (int i = 0; i < 5; ++i) b.enqueue(queue.emplace_back(b.waits("order")));
  a.release(holder);
  for (const want& w : queue) {
    const auto part = b.wait_turn(w).part;
    EXPECT_GT(part, last);
    last = part;
    b.release(w);
  }
}

TEST_F(token_contract, grows_over_expiry) {
  if (without_token()) return;
  auto w = a.wants("order");
  w.ttl = brief();
  const auto first = a.lock(w);
  b.pump_until(b.now() + outlives_its_client(w, first) + 5ms);
  EXPECT_GT(b.lock_freed(b.wants("order")).part, first.part);
}

TEST_F(token_contract, the_same_id_after_its_expiry_has_a_new_part) {
  if (without_token()) return;
  auto w = a.wants("order");
  w.ttl = brief();
  const auto first = a.lock(w);
  a.pump_until(a.now() + lasts(w, first) + 5ms);
  EXPECT_GT(a.lock_freed(w).part, first.part);
}

TEST_F(token_contract, grows_over_eviction) {
  if (without_token()) return;
  const auto w = a.wants("order");
  const auto first = a.lock(w).part;
  EXPECT_EQ(b.evict(w), fate::holding);
  EXPECT_GT(b.lock(b.wants("order")).part, first);
}

TEST_F(token_contract, is_above_what_the_client_has_seen) {
  if (without_raising()) return;
  auto w = a.wants("order");
  w.seen = later_than_now();
  const auto part = a.lock(w).part;
  EXPECT_GT(part, w.seen);
  a.release(w);
  EXPECT_GT(b.lock(b.wants("order")).part, part);
}

TEST_F(token_contract, is_above_what_a_waiter_has_seen) {
  if (!can().queue || without_raising()) return;
  const auto holder = a.wants("order");
  a.lock(holder);
  auto w = b.waits("order");
  w.seen = later_than_now();
  b.enqueue(w);
  a.release(holder);
  EXPECT_GT(b.wait_turn(w).part, w.seen);
}

TEST_F(token_contract, keeps_its_last_digits) {
  if (without_raising()) return;
  auto w = a.wants("order");
  w.seen = later_than_now();
  auto last = a.lock(w).part;
  EXPECT_EQ(last, w.seen + 1);
  for (int i = 0; i < 20; ++i) {
    a.release(w);
    w = a.wants("order");
    const auto part = a.lock(w).part;
    EXPECT_GT(part, last);
    EXPECT_EQ(a.lock(w).part, part);
    const auto shown = b.listed(w);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->part, part);
    last = part;
  }
}

TEST_F(token_contract, a_lift_raises_the_part_of_its_own_hold_and_never_lowers_it) {
  if (!can().lift) {
    const auto w = a.wants("order");
    const auto o = a.call<fate>([&](auto reply) { a.raw().lift(w.target(), 1, std::move(reply)); });
    EXPECT_TRUE(is_unsupported(o));
    return;
  }
  const auto w = a.wants("order");
  const auto part = a.lock(w).part;
  EXPECT_EQ(b.lift(b.wants("order"), part + 10), fate::gone);
  EXPECT_EQ(a.lift(w, part - 1), fate::gone);
  EXPECT_EQ(a.lift(w, part + 10), fate::holding);
  EXPECT_EQ(a.lift(w, part + 10), fate::holding) << "the same again is recognised";
  EXPECT_EQ(a.lift(w, part + 9), fate::gone);
  EXPECT_EQ(a.lock(w).part, part + 10);
  a.release(w);
  EXPECT_EQ(a.lift(w, part + 20), fate::gone);
  EXPECT_GT(b.lock(b.wants("order")).part, part + 10);
}

TEST_F(token_contract, only_a_live_exclusive_hold_can_be_lifted) {
  if (!can().lift) return;
  auto w = a.wants("order");
  w.ttl = brief();
  const auto g = a.lock(w);
  a.pump_until(a.now() + lasts(w, g) + 5ms);
  EXPECT_EQ(a.lift(w, core::part_max), fate::gone);
  const auto next = a.wants("order");
  a.lock(next);
  EXPECT_EQ(a.lift(next, core::part_max + 1), fate::gone);
  if (can().shared) {
    const auto reader = a.wants("read", mode::shared);
    EXPECT_EQ(a.lift(reader, a.lock(reader).part + 1), fate::gone);
  }
  if (can().queue) {
    const auto waiter = b.waits("order");
    b.enqueue(waiter);
    EXPECT_EQ(b.lift(waiter, core::part_max), fate::gone);
    a.release(next);
    EXPECT_EQ(b.lift(waiter, core::part_max), fate::gone) << "handed over, but not claimed";
  }
}

TEST_F(token_contract, near_the_end_is_counted_or_refused_but_never_wrong) {
  if (without_token()) return;
  for (const std::uint64_t seen : {core::part_max - 1, core::part_max, core::part_max + 2, ~std::uint64_t{0}}) {
    auto w = a.wants("order/" + std::to_string(seen));
    w.seen = seen;
    const auto o = a.acquire(w);
    if (const auto* g = granted_in(o)) {
      EXPECT_GT(g->part, seen);
      EXPECT_LE(g->part, core::part_max);
    } else {
      EXPECT_TRUE(std::holds_alternative<engine::failure>(o.result)) << describe(o);
      EXPECT_TRUE(b.could_lock(b.wants(w.name)));
    }
  }
}

}  // namespace tyer::contract
