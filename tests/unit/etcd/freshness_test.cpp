// What a read and the progress of a stream prove together, whatever is lost, late or of another attempt.
#include "engines/etcd/freshness.hpp"

#include <gtest/gtest.h>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

struct etcd_freshness : ::testing::Test {
  static constexpr std::uint64_t stream = 7;
  const engine::time_point start{1000s};
  freshness f;
  bool is_known() const { return f.known_at(stream) != engine::time_point::min(); }
};

TEST_F(etcd_freshness, is_of_when_the_read_left) {
  const auto a = f.begin(start, stream, 1s);
  ASSERT_NE(a, 0u);
  EXPECT_TRUE(f.on_read(a, 50));
  EXPECT_FALSE(is_known());
  f.on_progress(stream, 50);
  EXPECT_EQ(f.known_at(stream), start);
}

TEST_F(etcd_freshness, a_stream_that_lags_proves_nothing_until_it_has_caught_up) {
  f.on_read(f.begin(start, stream, 1s), 50);
  f.on_progress(stream, 49);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, 51);
  EXPECT_EQ(f.known_at(stream), start);
}

TEST_F(etcd_freshness, another_stream_proves_nothing) {
  f.on_read(f.begin(start, stream, 1s), 50);
  f.on_progress(stream + 1, 60);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, 60);
  EXPECT_EQ(f.known_at(stream + 1), engine::time_point::min());
}

TEST_F(etcd_freshness, one_attempt_at_a_time) {
  EXPECT_NE(f.begin(start, stream, 1s), 0u);
  EXPECT_EQ(f.begin(start + 1ms, stream, 1s), 0u);
  EXPECT_NE(f.begin(start + 1ms, stream + 1, 1s), 0u) << "the stream it was for is gone";
  EXPECT_EQ(f.begin(start, 0, 1s), 0u) << "there is no stream";
}

TEST_F(etcd_freshness, a_read_or_an_answer_that_is_lost_is_not_waited_for_longer_than_its_patience) {
  EXPECT_NE(f.begin(start, stream, 1s), 0u);
  const auto again = f.begin(start + 1s, stream, 1s);
  ASSERT_NE(again, 0u);
  EXPECT_TRUE(f.on_read(again, 50));
  EXPECT_NE(f.begin(start + 2s, stream, 1s), 0u) << "the stream has not said how far it is";
}

TEST_F(etcd_freshness, a_read_that_is_answered_after_the_next_has_left_is_not_taken_for_it) {
  const auto first = f.begin(start, stream, 1s), second = f.begin(start + 1s, stream, 1s);
  EXPECT_FALSE(f.on_read(first, 50));
  f.on_progress(stream, 50);
  EXPECT_FALSE(is_known());
  EXPECT_TRUE(f.on_read(second, 60));
  f.on_progress(stream, 59);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, 60);
  EXPECT_EQ(f.known_at(stream), start + 1s);
}

TEST_F(etcd_freshness, an_answer_that_is_repeated_changes_nothing) {
  const auto a = f.begin(start, stream, 1s);
  EXPECT_TRUE(f.on_read(a, 50));
  EXPECT_FALSE(f.on_read(a, 60));
  f.on_progress(stream, 50);
  f.on_progress(stream, 50);
  EXPECT_FALSE(f.on_read(a, 70));
  EXPECT_EQ(f.known_at(stream), start);
  EXPECT_NE(f.begin(start + 1ms, stream, 1s), 0u);
}

}  // namespace
}  // namespace tyer::etcd
