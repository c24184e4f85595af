// What a read and the progress of a stream prove together, whatever is lost, late or of another attempt.
#include "engines/etcd/freshness.hpp"

#include <gtest/gtest.h>

#include <vector>

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
  EXPECT_TRUE(f.on_read(a, 50, start));
  EXPECT_FALSE(is_known());
  f.on_progress(stream, 50);
  EXPECT_EQ(f.known_at(stream), start);
}

TEST_F(etcd_freshness, a_stream_that_lags_proves_nothing_until_it_has_caught_up) {
  f.on_read(f.begin(start, stream, 1s), 50, start);
  f.on_progress(stream, 49);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, 51);
  EXPECT_EQ(f.known_at(stream), start);
}

TEST_F(etcd_freshness, another_stream_proves_nothing) {
  f.on_read(f.begin(start, stream, 1s), 50, start);
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
  EXPECT_TRUE(f.on_read(again, 50, start + 1s));
  EXPECT_NE(f.begin(start + 2s, stream, 1s), 0u) << "the stream has not said how far it is";
}

TEST_F(etcd_freshness, a_read_that_is_answered_after_the_next_has_left_is_not_taken_for_it) {
  const auto first = f.begin(start, stream, 1s), second = f.begin(start + 1s, stream, 1s);
  EXPECT_FALSE(f.on_read(first, 50, start + 1s));
  f.on_progress(stream, 50);
  EXPECT_FALSE(is_known());
  EXPECT_TRUE(f.on_read(second, 60, start + 1s));
  f.on_progress(stream, 59);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, 60);
  EXPECT_EQ(f.known_at(stream), start + 1s);
}

TEST_F(etcd_freshness, an_answer_that_is_repeated_changes_nothing) {
  const auto a = f.begin(start, stream, 1s);
  EXPECT_TRUE(f.on_read(a, 50, start));
  EXPECT_FALSE(f.on_read(a, 60, start));
  f.on_progress(stream, 50);
  f.on_progress(stream, 50);
  EXPECT_FALSE(f.on_read(a, 70, start));
  EXPECT_EQ(f.known_at(stream), start);
  EXPECT_NE(f.begin(start + 1ms, stream, 1s), 0u);
}

// --- a stream that does not answer ---

TEST_F(etcd_freshness, a_stream_that_does_not_answer_is_asked_again_with_longer_pauses) {
  EXPECT_EQ(f.ask_again_at(), engine::time_point::max());
  f.on_read(f.begin(start, stream, 3s), 50, start);
  EXPECT_FALSE(f.is_to_ask_again(start + 199ms, stream));
  std::vector<engine::time_point> asked;
  for (auto now = start; now < start + 10s; now += 50ms) {
    if (f.is_to_ask_again(now, stream)) asked.push_back(now);
  }
  EXPECT_EQ(asked, (std::vector<engine::time_point>{start + 200ms, start + 600ms, start + 1400ms}))
      << "then it is given up";
  f.on_progress(stream, 50);
  EXPECT_EQ(f.known_at(stream), start) << "late is better than never";
}

TEST_F(etcd_freshness, a_stream_that_has_answered_is_not_asked_again) {
  f.on_read(f.begin(start, stream, 3s), 50, start);
  f.on_progress(stream, 50);
  EXPECT_FALSE(f.is_to_ask_again(start + 1s, stream));
}

TEST_F(etcd_freshness, a_stream_that_took_the_place_of_the_one_that_was_asked_is_not_asked) {
  f.on_read(f.begin(start, stream, 3s), 50, start);
  EXPECT_FALSE(f.is_to_ask_again(start + 1s, stream + 1));
  EXPECT_EQ(f.ask_again_at(), engine::time_point::max());
}

}  // namespace
}  // namespace tyer::etcd
