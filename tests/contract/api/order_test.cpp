#include "contract/api/fixture.hpp"

#include <mutex>
#include <numeric>
#include <vector>

namespace contract {
namespace {

template <class Kind>
class order : public contract_of<Kind> {};
TYPED_TEST_SUITE(order, blocking_kinds);

TYPED_TEST(order, clients_are_served_first_come_first_served) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  constexpr int clients = 5;
  const tyer::lock_options options{.ttl = 10s, .local_handoffs = 0};
  auto first = this->connect();
  auto held = this->make(first, options).acquire();

  std::vector<tyer::client> others;
  for (int i = 0; i < clients; ++i) others.push_back(this->connect());
  std::mutex served_mutex;
  std::vector<int> served;
  std::vector<std::uint64_t> tokens{held.token()};
  std::vector<std::future<void>> waiters;
  for (int i = 0; i < clients; ++i) {
    waiters.push_back(in_background([&, i] {
      auto h = this->make(others[static_cast<std::size_t>(i)], options).acquire();
      const std::lock_guard guard{served_mutex};
      served.push_back(i);
      tokens.push_back(h.token());
    }));
    ASSERT_TRUE(this->queue_has(static_cast<std::size_t>(i) + 1));  // only now the next one comes
  }
  held.release();
  for (auto& w : waiters) soon(w);

  std::vector<int> expected(clients);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(served, expected);
  EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
}

TYPED_TEST(order, a_try_never_overtakes_the_queue) {
  if (!this->can().queue) GTEST_SKIP() << no_queue;
  auto a = this->connect(), b = this->connect(), c = this->connect();
  auto lock_a = this->make(a, {.local_handoffs = 0}), lock_b = this->make(b), lock_c = this->make(c);
  auto held = lock_a.acquire();
  auto waiter = in_background([&] { return lock_b.acquire(); });
  ASSERT_TRUE(this->queue_has(1));
  EXPECT_FALSE(took(lock_c.try_acquire()));
  held.release();
  EXPECT_FALSE(took(lock_a.try_acquire()));  // it is the waiter's, claimed or not
  EXPECT_TRUE(took(soon(waiter)));
}

TYPED_TEST(order, tokens_grow_from_grant_to_grant) {
  if (!this->can().token) GTEST_SKIP() << no_token;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);
  std::uint64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    auto h = (i % 2 == 0 ? lock_a : lock_b).acquire();
    EXPECT_GT(h.token(), last);
    EXPECT_LE(h.token(), static_cast<std::uint64_t>(INT64_MAX));  // fits a BIGINT column
    last = h.token();
    h.release();
  }
}

template <class Kind>
class local_order : public contract_of<Kind> {};
TYPED_TEST_SUITE(local_order, exclusive_kinds);

TYPED_TEST(local_order, waiters_of_one_client_are_served_first_come_first_served) {
  constexpr int waiters = 50;
  auto c = this->connect();
  for (const std::uint32_t handoffs : {0U, 16U}) {
    auto lock = this->make(c, {.ttl = 10s, .local_handoffs = handoffs});
    auto held = lock.acquire();
    std::vector<int> served;  // written by one holder at a time
    std::promise<void> all;
    for (int i = 0; i < waiters; ++i) {
      acquire_then(lock, [&, i](answer a) {
        EXPECT_FALSE(a.why) << a.why.words;
        served.push_back(i);
        if (served.size() == waiters) all.set_value();
      });
    }
    held.release();
    soon(all.get_future());
    std::vector<int> expected(waiters);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(served, expected);
  }
}

}  // namespace
}  // namespace contract
