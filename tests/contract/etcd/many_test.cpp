// A room with more in it than is read at once: everybody is told the same as in a small one.
#include "contract/engine/harness.hpp"

namespace tyer::contract {

struct etcd_many : engine_contract {
  static constexpr std::uint32_t many = 70;

  std::vector<want> queue(std::uint32_t n, mode how = mode::exclusive) {
    std::vector<want> all;
    for (std::uint32_t i = 0; i < n; ++i) {
      auto& of = whose(i);
      all.push_back(of.waits("order", how));
      EXPECT_EQ(of.enqueue(all.back()).ahead, i);
    }
    return all;
  }
  client& whose(std::uint32_t i) { return i % 2 == 0 ? b : c; }
};

TEST_F(etcd_many, have_their_turns_in_the_order_they_came) {
  auto holder = a.wants("order");
  a.lock(holder);
  const auto all = queue(many);
  EXPECT_EQ(a.release(holder), fate::holding);
  for (std::uint32_t i = 0; i < many; ++i) {
    whose(i).await(event::kind::wake, all[i].who);
    whose(i).lock(all[i]);
    EXPECT_EQ(whose(i).release(all[i]), fate::holding);
  }
  EXPECT_TRUE(a.could_lock(a.wants("order")));
}

TEST_F(etcd_many, one_that_leaves_from_their_middle_is_passed_over) {
  auto holder = a.wants("order");
  a.lock(holder);
  const auto all = queue(many);
  for (std::uint32_t i = 0; i + 1 < many; ++i) EXPECT_EQ(whose(i).release(all[i]), fate::waiting);
  EXPECT_EQ(a.release(holder), fate::holding);
  whose(many - 1).await(event::kind::wake, all.back().who);
  whose(many - 1).lock(all.back());
}

TEST_F(etcd_many, a_reader_comes_in_beside_them_when_nobody_waits) {
  for (std::uint32_t i = 0; i < many; ++i) whose(i).lock(whose(i).wants("order", mode::shared));
  a.lock(a.waits("order", mode::shared));
  a.enqueue(a.waits("order"));
  EXPECT_EQ(a.enqueue(a.waits("order", mode::shared)).ahead, 1U);
  a.find_busy(a.wants("order", mode::shared));
}

TEST_F(etcd_many, readers_behind_a_writer_have_their_turn_together) {
  auto holder = a.wants("order");
  a.lock(holder);
  const auto all = queue(many, mode::shared);
  a.release(holder);
  for (std::uint32_t i = 0; i < many; ++i) whose(i).wait_turn(all[i]);
  a.find_busy(a.wants("order"));
}

TEST_F(etcd_many, another_number_of_permits_is_refused_behind_them) {
  a.lock(a.permits("order", 2, 2));
  for (std::uint32_t i = 0; i < many; ++i) {
    auto w = whose(i).permits("order", 1, 2);
    w.enqueue = true;
    whose(i).enqueue(w);
  }
  auto w = a.permits("order", 1, 3);
  w.enqueue = true;
  EXPECT_EQ(a.find_failure(w).kind, why::refused);
}

}  // namespace tyer::contract
