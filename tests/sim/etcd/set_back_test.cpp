// The data is set back to a copy, while all servers are away: nothing that is known from after it counts.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

struct etcd_set_back : etcd_scripted {
  const id holder = b.next_id(), who = a.next_id();

  // The copy has its place in the queue, and its turn came after it.
  void have_a_turn_after_the_copy() {
    ASSERT_NE(granted_in(b.acquire(holder)), nullptr);
    ASSERT_NE(queued_in(a.acquire(who, true)), nullptr);
    data.save();
    ASSERT_TRUE(std::holds_alternative<fate>(b.release(holder).result));
    ASSERT_TRUE(a.run_until([&] { return !a.woken.empty(); }, 1s));
  }
  void set_back() {
    const auto ups_a = a.ups(), ups_b = b.ups();
    fake.set_back();
    ASSERT_TRUE(a.run_until([&] { return a.ups() > ups_a && b.ups() > ups_b; }, 5s));
  }
};

// It was: the place was the last that the copy had, and so was taken for unchanged since the turn that it does not have.
// Two holders were written.
TEST_F(etcd_set_back, a_turn_that_came_after_the_copy_was_claimed) {
  have_a_turn_after_the_copy();
  auto r = a.wants(a.next_id());
  r.what.name = "another";  // so that it knows of larger revisions
  ASSERT_NE(granted_in(a.call<answer>([&](auto reply) { a.raw().acquire(r, std::move(reply)); })), nullptr);
  set_back();
  EXPECT_NE(queued_in(a.acquire(who, true)), nullptr) << "the copy has another holder";
}

// It was: the same where nothing but the place told that the data was set back.
TEST_F(etcd_set_back, a_turn_that_came_after_the_copy_was_claimed_when_its_place_had_been_kept) {
  have_a_turn_after_the_copy();
  set_back();
  const auto kept = a.keep(who, fate::waiting);
  ASSERT_TRUE(std::holds_alternative<seam::kept>(kept.result));
  EXPECT_EQ(std::get<seam::kept>(kept.result).fates.front(), fate::waiting);
  EXPECT_NE(queued_in(a.acquire(who, true)), nullptr) << "the copy has another holder";
}

}  // namespace
}  // namespace tyer::sim::etcd
