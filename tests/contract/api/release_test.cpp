#include "contract/api/fixture.hpp"

#include <memory>
#include <type_traits>

namespace contract {
namespace {

static_assert(!std::is_copy_constructible_v<tyer::hold> && !std::is_copy_assignable_v<tyer::hold>);
static_assert(std::is_nothrow_move_constructible_v<tyer::hold> && std::is_nothrow_move_assignable_v<tyer::hold>);
static_assert(std::is_nothrow_destructible_v<tyer::hold>);
static_assert(!std::is_copy_constructible_v<tyer::multi_hold> && !std::is_copy_assignable_v<tyer::multi_hold>);
static_assert(std::is_nothrow_move_constructible_v<tyer::multi_hold> &&
              std::is_nothrow_move_assignable_v<tyer::multi_hold>);

template <class Kind>
class release : public contract_of<Kind> {
 protected:
  static inline const tyer::lock_options long_lived{.ttl = 60s, .waiter_ttl = 30s};
};
TYPED_TEST_SUITE(release, blocking_kinds);

TYPED_TEST(release, tells_the_outcome_and_empties_the_hold) {
  auto c = this->connect();
  auto h = this->make(c).acquire();
  tyer::failure why{errc::lost};
  EXPECT_EQ(h.release(why), tyer::release_outcome::released);
  EXPECT_FALSE(why);
  EXPECT_FALSE(h);
  EXPECT_TRUE(this->raw().entries(this->name()).empty());
}

TYPED_TEST(release, twice_is_an_error_of_the_caller) {
  auto c = this->connect();
  auto h = this->make(c).acquire();
  h.release();
  EXPECT_EQ(code_of([&] { h.release(); }), errc::not_held);
  tyer::failure why;
  EXPECT_EQ(h.release(why), tyer::release_outcome::already_gone);
  EXPECT_EQ(why.code, errc::not_held);
}

TYPED_TEST(release, an_empty_hold_answers_everything) {
  auto c = this->connect();
  auto lock = this->make(c);
  auto h = lock.acquire();
  auto moved = std::move(h);
  decltype(h) never;
  for (auto* empty : {&h, &never}) {
    EXPECT_FALSE(*empty);
    EXPECT_FALSE(empty->valid());
    EXPECT_EQ(empty->remaining(), 0s);
    EXPECT_LT(empty->valid_until(), tyer::lease_clock::now());
    EXPECT_FALSE(empty->lost().stop_possible());
    EXPECT_EQ(empty->name(), "");
    EXPECT_EQ(code_of([&] { static_cast<void>(empty->token()); }), errc::not_held);
    EXPECT_EQ(code_of([&] { empty->release(); }), errc::not_held);
  }
  EXPECT_TRUE(moved.valid());
  EXPECT_FALSE(took(lock.try_acquire()));
}

TYPED_TEST(release, the_destructor_hands_it_over_and_a_later_acquire_comes_behind_it) {
  if (!this->can().token) GTEST_SKIP() << no_token;
  auto c = this->connect();
  auto lock = this->make(c, this->long_lived);
  std::uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    auto h = lock.try_acquire();  // one attempt is enough: the release before it is before it at the engine too
    ASSERT_TRUE(h) << i;
    EXPECT_GT(h.token(), last);
    last = h.token();
  }
}

TYPED_TEST(release, by_another_object_of_the_client_is_in_order_too) {
  auto c = this->connect();
  for (int i = 0; i < 20; ++i) {
    {
      auto h = this->make(c, {.ttl = 60s}).acquire();
    }
    EXPECT_TRUE(took(this->make(c, {.ttl = 50s}).try_acquire()));  // another ttl is another lane
  }
}

TYPED_TEST(release, assigning_lets_the_old_hold_go) {
  auto a = this->connect(), b = this->connect();
  auto h = this->make(a, this->long_lived).acquire();
  h = this->make_as(a, this->name() + "/other").acquire();
  EXPECT_TRUE(took(this->make(b).try_acquire_for(patience)));
  auto& same = h;
  h = std::move(same);
  EXPECT_TRUE(h.valid());
}

TYPED_TEST(release, a_hold_belongs_to_whoever_has_it) {
  auto c = this->connect();
  auto lock = this->make(c, this->long_lived);
  auto h = lock.acquire();
  auto outcome = in_background([mine = std::move(h)]() mutable {
    EXPECT_TRUE(mine.valid());
    return mine.release();
  });
  EXPECT_EQ(soon(outcome), tyer::release_outcome::released);
  EXPECT_TRUE(took(lock.try_acquire()));
}

TYPED_TEST(release, a_hold_outlives_the_lock_object) {
  auto a = this->connect(), b = this->connect();
  hold_of<typename TypeParam::type> h;
  { h = this->make(a, this->long_lived).acquire(); }
  EXPECT_TRUE(h.valid());
  EXPECT_FALSE(took(this->make(b).try_acquire()));
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
}

TYPED_TEST(release, wakes_a_waiter_of_another_client_at_once) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a, this->long_lived), lock_b = this->make(b, this->long_lived);
  for (const bool waits_for_answer : {true, false}) {
    auto h = lock_a.acquire();
    auto waiter = in_background([&] { return lock_b.acquire(); });
    ASSERT_TRUE(this->queue_has(1));
    const stopwatch watch;
    if (waits_for_answer) {
      h.release();
    } else {
      h = {};
    }
    EXPECT_TRUE(soon(waiter).valid());
    EXPECT_LT(watch.elapsed(), slack);
  }
}

}  // namespace
}  // namespace contract
