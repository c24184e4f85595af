// k of N.
#include "contract/engine/harness.hpp"

namespace tyer::contract {

class permit_contract : public engine_contract {
 protected:
  bool without_permits() {
    if (can().permits) return false;
    EXPECT_TRUE(is_unsupported(a.acquire(a.permits("refused", 1, 3))));
    return true;
  }
};

TEST_F(permit_contract, as_many_as_there_are) {
  if (without_permits()) return;
  const auto one = a.permits("pool", 2, 3), two = b.permits("pool", 1, 3);
  a.lock(one);
  b.lock(two);
  EXPECT_GT(c.find_busy(c.permits("pool", 1, 3)).hint, 0ms);
  EXPECT_EQ(a.release(one), fate::holding);
  c.find_busy(c.permits("pool", 3, 3));
  c.lock(c.permits("pool", 2, 3));
}

TEST_F(permit_contract, a_repeated_request_takes_once) {
  if (without_permits()) return;
  const auto w = a.permits("pool", 1, 2);
  EXPECT_EQ(a.lock(w).part, a.lock(w).part);
  b.lock(b.permits("pool", 1, 2));
  c.find_busy(c.permits("pool", 1, 2));
}

TEST_F(permit_contract, each_permit_is_one_of_the_slots) {
  if (without_permits()) return;
  using slots = std::vector<std::uint32_t>;
  const auto one = a.permits("pool", 2, 4), two = b.permits("pool", 1, 4);
  EXPECT_EQ(a.lock(one).slots, (slots{0, 1}));
  EXPECT_EQ(b.lock(two).slots, slots{2});
  EXPECT_EQ(a.lock(one).slots, (slots{0, 1})) << "a repeated request tells them again";
  const auto shown = c.listed(one);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->how, mode::permit);
  EXPECT_EQ(shown->slots, (slots{0, 1}));
  a.release(one);
  EXPECT_EQ(c.lock(c.permits("pool", 3, 4)).slots, (slots{0, 1, 3}));
}

TEST_F(permit_contract, a_claim_tells_the_slots) {
  if (without_permits() || !can().queue) return;
  const auto holder = a.permits("pool", 3, 3);
  a.lock(holder);
  auto w = b.permits("pool", 2, 3);
  w.enqueue = true;
  b.enqueue(w);
  a.release(holder);
  EXPECT_EQ(b.lock(w).slots, (std::vector<std::uint32_t>{0, 1}));
}

TEST_F(permit_contract, slots_of_many_holders_are_given_anew) {
  if (without_permits()) return;
  constexpr std::uint32_t capacity = 1000;
  std::vector<want> holders;
  for (std::uint32_t i = 0; i < 100; ++i) a.lock(holders.emplace_back(a.permits("pool", 10, capacity)));
  b.find_busy(b.permits("pool", 1, capacity));
  std::vector<std::uint32_t> freed;
  for (std::uint32_t i = 0; i < 100; i += 3) {
    a.release(holders[i]);
    for (std::uint32_t slot = i * 10; slot < i * 10 + 10; ++slot) freed.push_back(slot);
  }
  EXPECT_EQ(b.lock(b.permits("pool", static_cast<std::uint32_t>(freed.size()), capacity)).slots, freed);
}

TEST_F(permit_contract, what_can_never_be_is_refused) {
  if (without_permits()) return;
  const auto too_many = a.find_failure(a.permits("pool", 4, 3));
  EXPECT_EQ(too_many.kind, why::refused);
  EXPECT_FALSE(too_many.words.empty());
  EXPECT_EQ(a.find_failure(a.permits("pool", 0, 3)).kind, why::refused);
  EXPECT_EQ(a.find_failure(a.permits("pool", 1, 4'000'000'000)).kind, why::over_limit);
  a.lock(a.permits("pool", 3, 3));
}

TEST_F(permit_contract, another_capacity_is_refused_while_in_use) {
  if (without_permits()) return;
  const auto w = a.permits("pool", 1, 3);
  a.lock(w);
  const auto f = b.find_failure(b.permits("pool", 1, 5));
  EXPECT_EQ(f.kind, why::refused);
  EXPECT_NE(f.words.find("3 permits"), f.words.npos) << f.words;
  a.release(w);
  b.lock(b.permits("pool", 1, 5));
}

TEST_F(permit_contract, who_wants_few_does_not_overtake_who_wants_many) {
  if (without_permits() || !can().queue) return;
  const auto holder = a.permits("pool", 2, 3);
  a.lock(holder);
  auto many = b.permits("pool", 3, 3), few = c.permits("pool", 1, 3);
  many.enqueue = few.enqueue = true;
  b.enqueue(many);
  c.find_busy(c.permits("pool", 1, 3));
  EXPECT_EQ(c.enqueue(few).ahead, 1u);
  a.release(holder);
  b.lock(many);
  EXPECT_EQ(b.release(many), fate::holding);
  c.lock(few);
}

TEST_F(permit_contract, one_release_may_serve_several_waiters) {
  if (without_permits() || !can().queue) return;
  const auto holder = a.permits("pool", 3, 3);
  a.lock(holder);
  std::vector<want> queue;
  for (int i = 0; i < 4; ++i) {
    auto& w = queue.emplace_back(b.permits("pool", 1, 3));
    w.enqueue = true;
    b.enqueue(w);
  }
  a.release(holder);
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto part = b.lock(queue[static_cast<std::size_t>(i)]).part;
    EXPECT_TRUE(part > last || !can().token);
    last = part;
  }
  EXPECT_EQ(b.enqueue(queue[3]).ahead, 0u);
}

TEST_F(permit_contract, permits_expire_one_by_one) {
  if (without_permits()) return;
  auto mortal = a.permits("pool", 1, 2);
  mortal.ttl = brief();
  const auto lasting = b.permits("pool", 1, 2);
  const auto given = outlives_its_client(mortal, a.lock(mortal));
  b.lock(lasting);
  c.pump_until(c.now() + given + 5ms);
  c.lock_freed(c.permits("pool", 1, 2));
  EXPECT_EQ(b.keep(lasting, fate::holding, 20s), fate::holding);
  EXPECT_EQ(a.keep(mortal, fate::holding, 20s), fate::gone);
}

}  // namespace tyer::contract
