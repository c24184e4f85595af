// What <tyer/recipes/store.hpp> asks of a store, whichever it is.
#pragma once

#include <tyer/recipes.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace contract {

using namespace std::chrono_literals;

// As a hold would show it: an id for each token.
inline tyer::fence_pass pass(std::uint64_t token, tyer::lock_mode mode = tyer::lock_mode::exclusive, char by = 'a') {
  return {token, tyer::hold_id::from(std::string(tyer::hold_id::length, by)), mode};
}
inline tyer::fence_pass shared(std::uint64_t token) { return pass(token, tyer::lock_mode::shared); }

inline std::string fresh_key() {
  static int n = 0;
  return "store-" + std::to_string(::getpid()) + "-" + std::to_string(++n) + "-{}}\n\xff";
}

template <class Made>
class store_contract : public ::testing::Test {
 protected:
  tyer::recipes::store& store() { return *made_.made; }
  const std::string key = fresh_key();

 private:
  Made made_;
};
TYPED_TEST_SUITE_P(store_contract);

TYPED_TEST_P(store_contract, finds_what_was_put_and_how_long_it_is_good) {
  auto& s = this->store();
  EXPECT_FALSE(s.find(this->key));
  ASSERT_TRUE(s.put(this->key, pass(5), {std::string{"va\0lue", 6}, 1min}));
  const auto there = s.find(this->key);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->value, (std::string{"va\0lue", 6}));
  EXPECT_LE(there->left, 1min);
  EXPECT_GT(there->left, 30s);
}

TYPED_TEST_P(store_contract, an_empty_value_is_a_value) {
  ASSERT_TRUE(this->store().put(this->key, pass(5), {"", 1min}));
  ASSERT_TRUE(this->store().find(this->key));
  EXPECT_EQ(this->store().find(this->key)->value, "");
}

TYPED_TEST_P(store_contract, a_value_ends_and_its_fence_does_not) {
  auto& s = this->store();
  ASSERT_TRUE(s.put(this->key, pass(5), {"v", 50ms}));
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (s.find(this->key) && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(5ms);
  EXPECT_FALSE(s.find(this->key));
  EXPECT_FALSE(s.put(this->key, pass(4), {"older", 1min}));
  EXPECT_FALSE(s.find(this->key));
}

TYPED_TEST_P(store_contract, a_value_may_live_for_ever) {
  auto& s = this->store();
  ASSERT_TRUE(s.put(this->key, pass(5), {"v", std::chrono::milliseconds::max()}));
  const auto there = s.find(this->key);
  ASSERT_TRUE(there);
  EXPECT_GT(there->left, std::chrono::hours{24 * 365 * 50});
}

TYPED_TEST_P(store_contract, what_does_not_live_is_not_stored_and_replaces_what_is_there) {
  auto& s = this->store();
  ASSERT_TRUE(s.put(this->key, pass(5), {"v", 1min}));
  ASSERT_TRUE(s.put(this->key, pass(5), {"none", 0ms}));
  EXPECT_FALSE(s.find(this->key));
  ASSERT_TRUE(s.put(this->key, pass(5), {"none", -1ms}));
  EXPECT_FALSE(s.find(this->key));
}

TYPED_TEST_P(store_contract, a_later_holder_that_has_entered_keeps_earlier_ones_out) {
  auto& s = this->store();
  EXPECT_TRUE(s.enter(this->key, pass(5)).let_in);
  const auto later = s.enter(this->key, pass(6));
  EXPECT_TRUE(later.let_in);
  EXPECT_FALSE(later.there);
  EXPECT_FALSE(s.put(this->key, pass(5), {"older", 1min}));
  EXPECT_FALSE(s.erase(this->key, pass(5)));
  EXPECT_FALSE(s.enter(this->key, pass(5)).let_in);
  ASSERT_TRUE(s.put(this->key, pass(6), {"newer", 1min}));
  const auto again = s.enter(this->key, pass(6));
  ASSERT_TRUE(again.let_in && again.there);
  EXPECT_EQ(again.there->value, "newer");
}

TYPED_TEST_P(store_contract, an_equal_token_of_another_holder_is_refused) {
  auto& s = this->store();
  ASSERT_TRUE(s.put(this->key, pass(5), {"v", 1min}));
  EXPECT_FALSE(s.put(this->key, pass(5, tyer::lock_mode::exclusive, 'b'), {"other", 1min}));
  EXPECT_EQ(s.find(this->key)->value, "v");
}

TYPED_TEST_P(store_contract, a_reader_fills_it_until_a_later_writer_comes) {
  auto& s = this->store();
  ASSERT_TRUE(s.put(this->key, shared(7), {"read", 1min}));
  ASSERT_TRUE(s.erase(this->key, pass(8)));
  EXPECT_FALSE(s.find(this->key));
  EXPECT_FALSE(s.put(this->key, shared(7), {"read", 1min}));
  EXPECT_TRUE(s.put(this->key, shared(9), {"read again", 1min}));
  EXPECT_FALSE(s.erase(this->key, pass(8)));  // a writer that was overtaken
  EXPECT_EQ(s.find(this->key)->value, "read again");
}

TYPED_TEST_P(store_contract, keys_are_apart) {
  auto& s = this->store();
  const auto other = fresh_key();
  ASSERT_TRUE(s.put(this->key, pass(5), {"v", 1min}));
  EXPECT_FALSE(s.find(other));
  EXPECT_TRUE(s.put(other, pass(1), {"w", 1min}));
}

REGISTER_TYPED_TEST_SUITE_P(store_contract, finds_what_was_put_and_how_long_it_is_good, an_empty_value_is_a_value,
                            a_value_ends_and_its_fence_does_not, a_value_may_live_for_ever,
                            what_does_not_live_is_not_stored_and_replaces_what_is_there,
                            a_later_holder_that_has_entered_keeps_earlier_ones_out,
                            an_equal_token_of_another_holder_is_refused, a_reader_fills_it_until_a_later_writer_comes,
                            keys_are_apart);

}  // namespace contract
