// Inside one client a released lock goes to the next waiter without a round trip, but not for ever.
#include "contract/api/fixture.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace contract {
namespace {

template <class Kind>
class handoff : public contract_of<Kind> {
 protected:
  // Who had the lock, in order: "X" holds, ten "a" of one client wait, then "B" of another comes.
  std::string turns(std::uint32_t local_handoffs) {
    const tyer::lock_options options{.ttl = 60s, .local_handoffs = local_handoffs};
    auto x = this->connect(), a = this->connect(), b = this->connect();
    auto lock_x = this->make(x, options), lock_a = this->make(a, options), lock_b = this->make(b, options);
    auto h = lock_x.acquire();
    std::mutex order_mutex;
    std::string order = "X";
    std::uint64_t last = h.token();
    std::promise<void> all;
    const auto wait = [&](auto& lock, char who) {
      acquire_then(lock, [&, who](answer got) {
        const std::lock_guard guard{order_mutex};
        EXPECT_TRUE(got.hold) << got.why.words;
        EXPECT_GT(got.hold.token(), last);
        last = got.hold.token();
        order += who;
        if (order.size() == 12) all.set_value();
      });
    };
    for (int i = 0; i < 10; ++i) wait(lock_a, 'a');
    EXPECT_TRUE(this->queue_has(1));
    wait(lock_b, 'B');
    EXPECT_TRUE(this->queue_has(2));
    h.release();
    soon(all.get_future());
    const std::lock_guard last_one_is_out{order_mutex};
    return order;
  }

  // A hold that the engine granted when `next` was already waiting behind it.
  struct pair {
    tyer::hold first;
    started next;
  };
  template <class Lock>
  pair taken_with_one_behind(Lock& lock) {
    auto other = this->connect();
    auto others = this->make(other, {.ttl = 60s});
    auto h = others.acquire();
    auto first = acquire_later(lock);
    auto next = acquire_later(lock);
    EXPECT_TRUE(this->queue_has(1));
    h.release();
    return {soon(first.done).hold, std::move(next)};
  }
};
TYPED_TEST_SUITE(handoff, exclusive_kinds);

TYPED_TEST(handoff, another_client_waits_for_no_more_than_the_stated_number) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  EXPECT_EQ(this->turns(3), this->can().handoffs ? "XaaaaBaaaaaa" : "XaBaaaaaaaaa");
}

TYPED_TEST(handoff, switched_off_the_order_of_the_engine_is_kept) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  EXPECT_EQ(this->turns(0), "XaBaaaaaaaaa");
}

TYPED_TEST(handoff, the_token_grows_by_one) {
  if (!this->can().queue || !this->can().handoffs) GTEST_SKIP() << "nothing is handed on inside a client";
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto [h, next] = this->taken_with_one_behind(lock);
  const auto token = h.token();
  h.release();
  const auto got = soon(next.done);
  EXPECT_EQ(got.hold.token(), token + 1);
}

// The engine's hold goes on; what the user has is another one.
TYPED_TEST(handoff, the_id_is_another_one_and_the_engine_knows_both_by_its_first_part) {
  if (!this->can().queue || !this->can().handoffs) GTEST_SKIP() << "nothing is handed on inside a client";
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto [h, next] = this->taken_with_one_behind(lock);
  const auto id = h.id().text();
  h.release();
  const auto got = soon(next.done).hold;
  EXPECT_NE(got.id().text(), id);
  EXPECT_EQ(got.id().text().substr(0, 32), id.substr(0, 32));
  const auto held = this->raw().holding(this->name());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(tyer::core::to_hex(held.front().who), id.substr(0, 32));
}

// After a loss of data the engine may have granted the lock to others meanwhile, with larger tokens.
TYPED_TEST(handoff, who_came_after_the_last_confirmation_asks_the_engine) {
  if (!this->can().token) GTEST_SKIP() << no_token;
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto h = lock.acquire();
  const auto token = h.token();
  auto next = acquire_later(lock);
  h.release();
  const auto got = soon(next.done);
  EXPECT_GT(got.hold.token(), token + 1);
}

TYPED_TEST(handoff, the_old_hold_is_over_and_the_new_one_is_its_own) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto c = this->connect();
  auto lock = this->make(c, {.ttl = 60s});
  auto [h, next] = this->taken_with_one_behind(lock);
  const auto lost = h.lost();
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
  auto got = soon(next.done).hold;
  const auto held = this->raw().holding(this->name());
  ASSERT_EQ(held.size(), 1U);
  this->raw().evict(held.front());
  EXPECT_TRUE(wait_for_loss(got.lost()));
  EXPECT_FALSE(lost.stop_requested());
}

// Others outside this client may count on every holder being known to the engine.
TYPED_TEST(handoff, where_the_engine_does_not_allow_it_every_hold_is_its_own) {
  if (this->can().handoffs) GTEST_SKIP() << "this engine allows it";
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, {.ttl = 60s}), lock_b = this->make(b, {.ttl = 60s});
  auto before = lock_a.acquire();
  auto first = acquire_later(lock_b), next = acquire_later(lock_b);
  before.release();
  auto one = soon(first.done).hold;
  const auto held = this->raw().holding(this->name());
  one.release();
  auto two = soon(next.done).hold;
  const auto held_then = this->raw().holding(this->name());
  ASSERT_EQ(held.size(), 1U);
  ASSERT_EQ(held_then.size(), 1U);
  EXPECT_NE(held.front().who, held_then.front().who);
}

}  // namespace
}  // namespace contract
