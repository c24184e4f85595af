// Readers beside readers, writers alone, and the way from one to the other.
#include "contract/engine/harness.hpp"

#include <tyer/error.hpp>

namespace tyer::contract {

class shared_contract : public engine_contract {
 protected:
  bool without_shared() {
    if (can().shared) return false;
    EXPECT_TRUE(is_unsupported(a.acquire(a.wants("refused", mode::shared))));
    return true;
  }
  bool without_convert() {
    if (without_shared()) return true;
    if (can().convert) return false;
    const auto w = a.wants("refused");
    a.lock(w);
    EXPECT_TRUE(is_unsupported(a.convert(w, mode::shared)));
    return true;
  }
};

using convert_contract = shared_contract;

TEST_F(shared_contract, readers_hold_beside_each_other) {
  if (without_shared()) return;
  a.lock(a.wants("order", mode::shared));
  b.lock(b.wants("order", mode::shared));
  b.lock(b.wants("order", mode::shared));
  c.find_busy(c.wants("order"));
}

TEST_F(shared_contract, a_writer_holds_alone) {
  if (without_shared()) return;
  a.lock(a.wants("order"));
  b.find_busy(b.wants("order", mode::shared));
}

TEST_F(shared_contract, the_last_reader_makes_room_for_the_writer) {
  if (without_shared()) return;
  const auto one = a.wants("order", mode::shared), two = b.wants("order", mode::shared);
  a.lock(one);
  b.lock(two);
  EXPECT_EQ(a.release(one), fate::holding);
  c.find_busy(c.wants("order"));
  EXPECT_EQ(b.release(two), fate::holding);
  c.lock(c.wants("order"));
}

TEST_F(shared_contract, a_reader_repeated_is_one_reader) {
  if (without_shared()) return;
  const auto w = a.wants("order", mode::shared);
  EXPECT_EQ(a.lock(w).part, a.lock(w).part);
  EXPECT_EQ(a.release(w), fate::holding);
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

TEST_F(shared_contract, each_reader_expires_for_itself) {
  if (without_shared()) return;
  auto mortal = a.wants("order", mode::shared);
  mortal.ttl = brief();
  const auto lasting = b.wants("order", mode::shared);
  const auto given = a.lock(mortal).ttl;
  b.lock(lasting);
  a.pump_until(a.now() + given + 5ms);
  EXPECT_EQ(a.keep(mortal, fate::holding, 20s), fate::gone);
  EXPECT_EQ(b.keep(lasting, fate::holding, 20s), fate::holding);
  EXPECT_FALSE(c.could_lock(c.wants("order")));
  b.release(lasting);
  c.lock_freed(c.wants("order"));
}

TEST_F(shared_contract, a_queued_writer_stops_later_readers) {
  if (without_shared() || !can().queue) return;
  const auto reader = a.wants("order", mode::shared);
  a.lock(reader);
  const auto writer = b.waits("order");
  b.enqueue(writer);
  c.find_busy(c.wants("order", mode::shared));
  const auto late = c.waits("order", mode::shared);
  EXPECT_EQ(c.enqueue(late).ahead, 1u);
  a.release(reader);
  b.lock(writer);
  b.release(writer);
  c.lock(late);
}

TEST_F(shared_contract, a_writer_that_gives_up_lets_the_readers_in) {
  if (without_shared() || !can().queue) return;
  a.lock(a.wants("order", mode::shared));
  const auto writer = b.waits("order");
  b.enqueue(writer);
  const auto late = c.waits("order", mode::shared);
  c.enqueue(late);
  EXPECT_EQ(b.release(writer), fate::waiting);
  if (can().push) c.await(event::kind::wake, late.who);
  c.lock(late);
}

TEST_F(shared_contract, readers_in_a_row_have_their_turn_together) {
  if (without_shared() || !can().queue) return;
  const auto writer = a.wants("order");
  a.lock(writer);
  const auto one = b.waits("order", mode::shared), two = c.waits("order", mode::shared), next = c.waits("order"),
             behind = b.waits("order", mode::shared);
  b.enqueue(one);
  c.enqueue(two);
  c.enqueue(next);
  b.enqueue(behind);
  a.release(writer);
  b.lock(one);
  c.lock(two);
  EXPECT_EQ(c.enqueue(next).ahead, 0u);
  EXPECT_EQ(b.enqueue(behind).ahead, 1u);
}

TEST_F(shared_contract, conflicting_grants_have_growing_parts) {
  if (without_shared() || !can().token) return;
  const auto first = a.wants("order"), last = a.wants("order");
  const auto one = b.wants("order", mode::shared), two = c.wants("order", mode::shared);
  const auto before = a.lock(first).part;
  a.release(first);
  const auto part_one = b.lock(one).part, part_two = c.lock(two).part;
  EXPECT_GT(part_one, before);
  EXPECT_GT(part_two, before);
  b.release(one);
  c.release(two);
  EXPECT_GT(a.lock(last).part, std::max(part_one, part_two));
}

TEST_F(convert_contract, a_downgrade_lets_the_following_readers_in) {
  if (without_convert()) return;
  auto w = a.wants("order");
  const auto before = a.lock(w).part;
  const auto one = b.waits("order", mode::shared), writer = c.waits("order"), behind = b.waits("order", mode::shared);
  b.enqueue(one);
  c.enqueue(writer);
  b.enqueue(behind);
  const auto o = a.convert(w, mode::shared);
  ASSERT_TRUE(granted_in(o)) << describe(o);
  EXPECT_GT(granted_in(o)->part, before);
  EXPECT_GT(granted_in(o)->ttl, 0ms);
  w.how = mode::shared;
  EXPECT_GT(b.lock(one).part, before);
  EXPECT_EQ(c.enqueue(writer).ahead, 0u);
  EXPECT_EQ(b.enqueue(behind).ahead, 1u);
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::holding);
}

// It was on ZooKeeper, where a conversion gives the node another name, and the keep found none under the old one.
TEST_F(convert_contract, a_hold_that_is_kept_while_it_is_converted_is_not_lost) {
  if (without_convert()) return;
  for (int i = 0; i < 10; ++i) {
    const auto w = a.wants("order/" + std::to_string(i));
    a.lock(w);
    const auto under_way = std::make_shared<int>(1);
    const auto kept = std::make_shared<std::vector<fate>>();
    a.raw().convert(w.target(), mode::shared, w.not_after,
                    engine::reply<answer>{[=](outcome<answer>&&) { --*under_way; }});
    // One keep for each step of the conversion.
    const auto step = [&] {
      if (*under_way == 0) return true;
      const auto t = w.target();
      ++*under_way;
      a.raw().keep({&t, 1}, fate::holding, 60s, engine::reply<engine::kept>{[=](outcome<engine::kept>&& o) {
                     --*under_way;
                     if (const auto* k = std::get_if<engine::kept>(&o.result)) kept->push_back(k->fates.front());
                   }});
      a.raw().run(a.now() + 1ms);
      return false;
    };
    for (int steps = 0; steps < 20 && !step(); ++steps) {}
    a.pump_until([&] { return *under_way == 0; }, "the conversion and all keeps");
    EXPECT_EQ(std::ranges::count(*kept, fate::gone), 0);
    EXPECT_FALSE(a.saw(event::kind::gone, w.who));
    EXPECT_EQ(a.keep(w, fate::holding, 60s), fate::holding);
  }
}

TEST_F(convert_contract, a_repeated_conversion_is_one) {
  if (without_convert()) return;
  auto w = a.wants("order");
  a.lock(w);
  const auto first = a.convert(w, mode::shared), second = a.convert(w, mode::shared);
  ASSERT_TRUE(granted_in(first)) << describe(first);
  ASSERT_TRUE(granted_in(second)) << describe(second);
  EXPECT_EQ(granted_in(first)->part, granted_in(second)->part);
}

TEST_F(convert_contract, the_only_reader_upgrades_at_once) {
  if (without_convert()) return;
  auto w = a.wants("order", mode::shared);
  const auto before = a.lock(w).part;
  const auto o = a.convert(w, mode::exclusive);
  ASSERT_TRUE(granted_in(o)) << describe(o);
  EXPECT_GT(granted_in(o)->part, before);
  b.find_busy(b.wants("order", mode::shared));
  w.how = mode::exclusive;
  EXPECT_EQ(a.release(w), fate::holding);
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

TEST_F(convert_contract, an_upgrade_goes_before_the_queue) {
  if (without_convert()) return;
  auto up = a.wants("order", mode::shared);
  const auto other = b.wants("order", mode::shared);
  a.lock(up);
  b.lock(other);
  const auto writer = c.waits("order");
  c.enqueue(writer);
  const auto o = a.convert(up, mode::exclusive);
  ASSERT_TRUE(queued_in(o)) << describe(o);
  EXPECT_EQ(queued_in(o)->ahead, 0u);
  EXPECT_GT(queued_in(o)->look_again, 0ms);
  EXPECT_EQ(a.keep(up, fate::holding, 20s), fate::holding);
  b.release(other);
  if (can().push) a.await(event::kind::wake, up.who);
  up.how = mode::exclusive;
  const auto part = a.lock(up).part;
  EXPECT_EQ(c.enqueue(writer).ahead, 0u);
  EXPECT_EQ(a.release(up), fate::holding);
  EXPECT_GT(c.lock(writer).part, part);
}

TEST_F(convert_contract, a_second_upgrade_is_busy_and_stays_shared) {
  if (without_convert()) return;
  const auto one = a.wants("order", mode::shared), two = b.wants("order", mode::shared);
  a.lock(one);
  b.lock(two);
  ASSERT_TRUE(queued_in(a.convert(one, mode::exclusive)));
  const auto o = b.convert(two, mode::exclusive);
  ASSERT_TRUE(busy_in(o)) << describe(o);
  EXPECT_EQ(b.keep(two, fate::holding, 20s), fate::holding);
  EXPECT_EQ(b.release(two), fate::holding);
  auto upgraded = one;
  upgraded.how = mode::exclusive;
  a.lock(upgraded);
}

TEST_F(convert_contract, an_upgrade_can_be_taken_back) {
  if (without_convert()) return;
  const auto one = a.wants("order", mode::shared), two = b.wants("order", mode::shared);
  const auto part = a.lock(one).part;
  b.lock(two);
  ASSERT_TRUE(queued_in(a.convert(one, mode::exclusive)));
  c.find_busy(c.wants("order", mode::shared));
  const auto o = a.convert(one, mode::shared);
  ASSERT_TRUE(granted_in(o)) << describe(o);
  EXPECT_EQ(granted_in(o)->part, part);
  EXPECT_TRUE(c.could_lock(c.wants("order", mode::shared)));
}

TEST_F(convert_contract, a_late_conversion_does_nothing) {
  if (without_convert()) return;
  auto w = a.wants("order");
  a.lock(w);
  w.not_after = -10s;
  const auto o = a.convert(w, mode::shared);
  ASSERT_TRUE(std::holds_alternative<engine::failure>(o.result)) << describe(o);
  EXPECT_EQ(std::get<engine::failure>(o.result).kind, why::not_sent);
  b.find_busy(b.wants("order", mode::shared));
}

TEST_F(convert_contract, permits_are_not_converted) {
  if (without_convert() || !can().permits) return;
  auto w = a.permits("pool", 1, 3);
  a.lock(w);
  EXPECT_TRUE(is_unsupported(a.convert(w, mode::shared)));
  EXPECT_TRUE(is_unsupported(a.convert(w, mode::permit)));
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::holding);
}

TEST_F(convert_contract, an_upgrade_whose_hold_is_released_lets_the_others_go_on) {
  if (without_convert()) return;
  const auto up = a.wants("order", mode::shared), other = b.wants("order", mode::shared);
  a.lock(up);
  b.lock(other);
  ASSERT_TRUE(queued_in(a.convert(up, mode::exclusive)));
  EXPECT_EQ(a.release(up), fate::holding);
  c.lock(c.wants("order", mode::shared));
  EXPECT_EQ(b.keep(other, fate::holding, 20s), fate::holding);
}

TEST_F(convert_contract, an_upgrade_dies_with_its_hold) {
  if (without_convert()) return;
  auto up = a.wants("order", mode::shared);
  up.ttl = steady();
  const auto given = outlives_its_client(up, a.lock(up));
  b.lock(b.wants("order", mode::shared));
  ASSERT_TRUE(queued_in(a.convert(up, mode::exclusive)));
  c.pump_until(c.now() + given + 5ms);
  c.lock_freed(c.wants("order", mode::shared));
}

TEST_F(convert_contract, what_is_gone_is_not_converted) {
  if (without_convert()) return;
  const auto o = a.convert(a.wants("order"), mode::shared);
  ASSERT_TRUE(std::holds_alternative<engine::failure>(o.result)) << describe(o);
  EXPECT_EQ(std::get<engine::failure>(o.result).code, make_error_code(errc::lost));
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

}  // namespace tyer::contract
