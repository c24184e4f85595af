// What every fence must do, wherever it is kept. A store has fresh(), enter(pass), and readers: whether it knows them.
// Where only tokens matter (fence_contract) it has enter_by_token(token, mode), and in_memory: the same at fence_marks.
#pragma once

#include <tyer/fence.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace fence_contract {

constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t doubles_end = std::uint64_t{1} << 53;  // from here on a double has no odd numbers

template <class Store>
class fence_contract : public ::testing::Test {
 protected:
  bool show(std::uint64_t token) { return store.enter_by_token(token, tyer::lock_mode::exclusive); }

  Store store;
};
TYPED_TEST_SUITE_P(fence_contract);

TYPED_TEST_P(fence_contract, a_larger_token_passes_and_a_smaller_one_is_refused) {
  this->store.fresh();
  EXPECT_TRUE(this->show(256));
  EXPECT_TRUE(this->show(512));
  EXPECT_FALSE(this->show(511));
  EXPECT_FALSE(this->show(1));
  EXPECT_TRUE(this->show(513));
}

TYPED_TEST_P(fence_contract, an_equal_token_passes_again) {
  this->store.fresh();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(this->show(512));
}

TYPED_TEST_P(fence_contract, one_more_digit_is_larger) {
  this->store.fresh();
  EXPECT_TRUE(this->show(999));
  EXPECT_TRUE(this->show(1000));
  EXPECT_FALSE(this->show(999));
}

TYPED_TEST_P(fence_contract, the_largest_tokens_are_told_apart) {
  this->store.fresh();
  EXPECT_TRUE(this->show(largest - 1));
  EXPECT_TRUE(this->show(largest));
  EXPECT_TRUE(this->show(largest));
  EXPECT_FALSE(this->show(largest - 1));
  EXPECT_FALSE(this->show(1));
}

TYPED_TEST_P(fence_contract, tokens_that_doubles_cannot_tell_apart) {
  for (const auto base : {doubles_end, std::uint64_t{1} << 60, largest - 4}) {
    this->store.fresh();
    EXPECT_TRUE(this->show(base + 1));
    EXPECT_FALSE(this->show(base)) << base;
    EXPECT_TRUE(this->show(base + 1));
    EXPECT_TRUE(this->show(base + 2));
    EXPECT_FALSE(this->show(base + 1)) << base;
  }
}

// All sequences of three offers, beside the gate in memory, whose own sequences are tested against the promise itself.
TYPED_TEST_P(fence_contract, every_sequence_is_as_in_memory) {
  constexpr bool shared_too = TypeParam::readers;
  constexpr int offers = shared_too ? 6 : 3;
  for (int code = 0; code < offers * offers * offers; ++code) {
    this->store.fresh();
    tyer::fence_marks memory;
    for (int i = 0, rest = code; i < 3; ++i, rest /= offers) {
      const auto token = doubles_end + static_cast<std::uint64_t>(rest % 3);
      const bool shared = rest % offers >= 3;
      const auto mode = shared ? tyer::lock_mode::shared : tyer::lock_mode::exclusive;
      ASSERT_EQ(this->store.enter_by_token(token, mode), TypeParam::in_memory(memory, token, mode))
          << "sequence " << code << " step " << i;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(fence_contract, a_larger_token_passes_and_a_smaller_one_is_refused,
                            an_equal_token_passes_again, one_more_digit_is_larger, the_largest_tokens_are_told_apart,
                            tokens_that_doubles_cannot_tell_apart, every_sequence_is_as_in_memory);

// Where two holds may have the same token.
template <class Store>
class fence_with_ids : public ::testing::Test {
 protected:
  const tyer::hold_id a = tyer::hold_id::from("0123456789abcdef0123456789abcdef00");
  const tyer::hold_id b = tyer::hold_id::from("0123456789abcdef0123456789abcdef01");

  // Who: the one hold, the other, or a reader.
  bool show(auto& fence, std::uint64_t token, int who) {
    return fence.enter({token, who == 0 ? a : b, who == 2 ? tyer::lock_mode::shared : tyer::lock_mode::exclusive});
  }

  Store store;
};
TYPED_TEST_SUITE_P(fence_with_ids);

TYPED_TEST_P(fence_with_ids, an_equal_token_passes_again_with_the_same_id) {
  this->store.fresh();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(this->store.enter({largest, this->a}));
}

TYPED_TEST_P(fence_with_ids, an_equal_token_of_another_id_is_refused_and_leaves_no_trace) {
  this->store.fresh();
  EXPECT_TRUE(this->store.enter({512, this->a}));
  EXPECT_FALSE(this->store.enter({512, this->b}));
  EXPECT_TRUE(this->store.enter({512, this->a}));
}

TYPED_TEST_P(fence_with_ids, a_larger_token_passes_whatever_its_id_and_a_smaller_one_never) {
  this->store.fresh();
  EXPECT_TRUE(this->store.enter({doubles_end + 1, this->a}));
  EXPECT_TRUE(this->store.enter({doubles_end + 2, this->b}));
  EXPECT_FALSE(this->store.enter({doubles_end + 1, this->a}));
  EXPECT_FALSE(this->store.enter({doubles_end + 1, this->b}));
  EXPECT_TRUE(this->store.enter({doubles_end + 3, this->b})) << "a conversion: a new token of the same hold";
}

// All sequences of three offers, beside the gate in memory: two tokens, shown by one hold, by another and by readers.
TYPED_TEST_P(fence_with_ids, every_sequence_is_as_in_memory) {
  constexpr int offers = TypeParam::readers ? 6 : 4;
  for (int code = 0; code < offers * offers * offers; ++code) {
    this->store.fresh();
    tyer::fence_marks memory;
    for (int i = 0, rest = code; i < 3; ++i, rest /= offers) {
      const auto token = doubles_end + static_cast<std::uint64_t>(rest % 2);
      ASSERT_EQ(this->show(this->store, token, rest % offers / 2), this->show(memory, token, rest % offers / 2))
          << "sequence " << code << " step " << i;
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(fence_with_ids, an_equal_token_passes_again_with_the_same_id,
                            an_equal_token_of_another_id_is_refused_and_leaves_no_trace,
                            a_larger_token_passes_whatever_its_id_and_a_smaller_one_never,
                            every_sequence_is_as_in_memory);

}  // namespace fence_contract
