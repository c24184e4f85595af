#include "contract/api/fixture.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

namespace contract {
namespace {

template <class Kind>
class exclusion : public contract_of<Kind> {};
TYPED_TEST_SUITE(exclusion, blocking_kinds);

TYPED_TEST(exclusion, two_clients_of_eight_threads_never_meet) {
  constexpr int threads_each = 8, turns = 25;
  auto a = this->connect(), b = this->connect();
  auto lock_a = this->make(a), lock_b = this->make(b);

  // Atomic only so that the sanitizer looks elsewhere: the sum is right only if nobody comes between load and store.
  std::atomic<int> sum{0}, inside{0};
  const bool with_tokens = this->can().token;
  tyer::fence_gate gate;
  std::mutex tokens_mutex;
  std::set<std::uint64_t> tokens;
  const auto work = [&](auto& lock) {
    for (int i = 0; i < turns; ++i) {
      auto h = lock.acquire();
      EXPECT_TRUE(h.valid());
      EXPECT_TRUE(!with_tokens || gate.enter(h.fence()));
      EXPECT_EQ(inside.fetch_add(1), 0);
      sum.store(sum.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      EXPECT_EQ(inside.fetch_sub(1), 1);
      if (with_tokens) {
        const std::lock_guard guard{tokens_mutex};
        tokens.insert(h.token());
      }
      if (i % 2 == 0) {
        EXPECT_EQ(h.release(), tyer::release_outcome::released);
      }
    }
  };
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads_each; ++i) {
      all.emplace_back([&] { work(lock_a); });
      all.emplace_back([&] { work(lock_b); });
    }
  }
  EXPECT_EQ(sum.load(), 2 * threads_each * turns);
  if (!with_tokens) return;
  EXPECT_EQ(tokens.size(), static_cast<std::size_t>(2 * threads_each * turns));
  EXPECT_EQ(gate.seen(), *tokens.rbegin());
}

TYPED_TEST(exclusion, names_that_begin_alike_are_different_locks) {
  auto c = this->connect();
  std::vector<hold_of<typename TypeParam::type>> all;
  for (const char* tail : {"", "/", "/b", ":b", "{b}", "%2f", "\n", "*"}) {
    auto lock = this->make_as(c, this->name() + tail);
    all.push_back(lock.try_acquire());
    EXPECT_TRUE(all.back()) << "'" << tail << "'";
  }
}

TYPED_TEST(exclusion, a_name_is_any_bytes_up_to_1024) {
  auto a = this->connect(), b = this->connect();
  std::string bytes = this->name();
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  bytes.resize(1024, '\xff');
  auto lock_a = this->make_as(a, bytes), lock_b = this->make_as(b, bytes);
  EXPECT_EQ(lock_a.name(), bytes);
  auto h = lock_a.acquire();
  EXPECT_EQ(h.name(), bytes);
  EXPECT_FALSE(took(lock_b.try_acquire()));
  bytes.back() = '\xfe';
  EXPECT_TRUE(took(this->make_as(b, bytes).try_acquire()));
}

TYPED_TEST(exclusion, clients_with_another_prefix_have_other_locks) {
  auto a = this->connect(), b = this->connect({.prefix = "elsewhere:"});
  auto lock_a = this->make(a), lock_b = this->make(b);
  auto h = lock_a.acquire();
  EXPECT_TRUE(took(lock_b.try_acquire()));
}

TYPED_TEST(exclusion, objects_of_the_same_name_are_one_lock_even_with_other_options) {
  auto c = this->connect();
  auto one = this->make(c, {.ttl = 10s}), two = this->make(c, {.ttl = 5s, .local_handoffs = 0});
  auto h = one.acquire();
  EXPECT_FALSE(took(two.try_acquire()));
  EXPECT_FALSE(took(two.try_acquire_for(500ms)));
  h.release();
  EXPECT_TRUE(took(two.try_acquire_for(patience)));
}

}  // namespace
}  // namespace contract
