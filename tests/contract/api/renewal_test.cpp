#include "contract/api/fixture.hpp"

#include <set>

namespace contract {
namespace {

template <class Kind>
class renewal : public contract_of<Kind> {};
TYPED_TEST_SUITE(renewal, blocking_kinds);

constexpr auto ttl = 3s;  // a busy machine may keep the client from its renewal for a second

TYPED_TEST(renewal, a_hold_lives_as_long_as_its_object) {
  auto a = this->connect(), b = this->connect();
  auto h = this->make(a, {.ttl = ttl}).acquire();
  auto other = this->make(b);
  std::set<tyer::lease_clock::time_point> ends;
  const auto seen_for = [&](auto how_long) {
    const stopwatch watch;
    return eventually([&] {
             ends.insert(h.valid_until());
             return !h.valid() || took(other.try_acquire()) || (watch.elapsed() > how_long && ends.size() >= 4);
           }) &&
           h.valid();
  };
  EXPECT_TRUE(seen_for(ttl * 3 / 2));
  EXPECT_FALSE(h.lost().stop_requested());
  EXPECT_GE(ends.size(), 4U);  // renewed again and again
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
}

TYPED_TEST(renewal, validity_is_less_than_the_ttl_from_when_it_was_asked_for) {
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 10s});
  const auto before = tyer::lease_clock::now();
  auto h = lock.acquire();
  const auto after = tyer::lease_clock::now();
  EXPECT_GT(h.valid_until(), before + 9s);
  EXPECT_LT(h.valid_until(), after + 10s - 499ms);  // ttl / 20 is the margin
  EXPECT_GT(h.remaining(), 8s);
  EXPECT_LE(h.remaining(), 10s);
}

TYPED_TEST(renewal, a_waiter_keeps_its_place) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  constexpr auto waiter_ttl = 2400ms;  // a busy machine may keep the client from its renewal for a second
  constexpr auto unkept = waiter_ttl * 5 / 4;
  auto a = this->connect(), b = this->connect();
  auto h = this->make(a).acquire();
  auto lock = this->make(b, {.waiter_ttl = waiter_ttl});
  auto waiter = in_background([&] { return lock.acquire(); });
  ASSERT_TRUE(this->queue_has(1));
  const auto who = this->raw().waiting(this->name()).front().who;
  const stopwatch watch;
  EXPECT_TRUE(eventually([&] {
    const auto now = this->raw().waiting(this->name());
    return now.size() != 1 || now.front().who != who || watch.elapsed() > unkept;
  }));
  EXPECT_GT(watch.elapsed(), unkept) << "it has left the queue";
  h.release();
  EXPECT_TRUE(took(soon(waiter)));
}

TYPED_TEST(renewal, goes_on_for_a_hold_that_was_handed_off) {
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = ttl});
  auto first = lock.acquire();
  auto waiter = acquire_later(lock);
  first.release();
  auto h = soon(waiter.done).hold;
  const auto end = h.valid_until();
  EXPECT_TRUE(eventually([&] { return !h.valid() || h.valid_until() > end + ttl; }));
  EXPECT_TRUE(h.valid());
}

}  // namespace
}  // namespace contract
