// What a read and the progress of a stream prove together, whatever is lost, late or of another attempt.
#include "engines/etcd/locks/freshness.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

struct etcd_freshness : ::testing::Test {
  static constexpr std::uint64_t stream = 7, member = 3;
  static freshness::source on(std::uint64_t s) { return {s, member, "3.5.8"}; }
  const engine::time_point start{1000s};
  freshness f;
  bool is_known() const { return f.known_at(stream) != engine::time_point::min(); }
};

TEST_F(etcd_freshness, is_of_when_the_read_left) {
  const auto a = f.begin(start, on(stream), 1s);
  ASSERT_NE(a, 0u);
  EXPECT_TRUE(f.on_read(a, 50, start));
  EXPECT_FALSE(is_known());
  f.on_progress(stream, member, 50);
  EXPECT_EQ(f.known_at(stream), start);
}

TEST_F(etcd_freshness, a_stream_that_lags_proves_nothing_until_it_has_caught_up) {
  f.on_read(f.begin(start, on(stream), 1s), 50, start);
  f.on_progress(stream, member, 49);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, member, 51);
  EXPECT_EQ(f.known_at(stream), start);
}

TEST_F(etcd_freshness, another_stream_proves_nothing) {
  f.on_read(f.begin(start, on(stream), 1s), 50, start);
  f.on_progress(stream + 1, member, 60);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, member, 60);
  EXPECT_EQ(f.known_at(stream + 1), engine::time_point::min());
}

TEST_F(etcd_freshness, one_attempt_at_a_time) {
  EXPECT_NE(f.begin(start, on(stream), 1s), 0u);
  EXPECT_EQ(f.begin(start + 1ms, on(stream), 1s), 0u);
  EXPECT_NE(f.begin(start + 1ms, on(stream + 1), 1s), 0u) << "the stream it was for is gone";
  EXPECT_EQ(f.begin(start, on(0), 1s), 0u) << "there is no stream";
}

TEST_F(etcd_freshness, a_read_or_an_answer_that_is_lost_is_not_waited_for_longer_than_its_patience) {
  EXPECT_NE(f.begin(start, on(stream), 1s), 0u);
  const auto again = f.begin(start + 1s, on(stream), 1s);
  ASSERT_NE(again, 0u);
  EXPECT_TRUE(f.on_read(again, 50, start + 1s));
  EXPECT_NE(f.begin(start + 2s, on(stream), 1s), 0u) << "the stream has not said how far it is";
}

TEST_F(etcd_freshness, an_attempt_of_a_long_ttl_kept_those_of_short_ones_waiting) {
  EXPECT_NE(f.begin(start, on(stream), 30s), 0u);
  const auto shorter = f.begin(start + 1s, on(stream), 1s);
  ASSERT_NE(shorter, 0u);
  EXPECT_EQ(f.begin(start + 1500ms, on(stream), 1s), 0u) << "it is under way";
  EXPECT_EQ(f.begin(start + 1500ms, on(stream), 30s), 0u);
  EXPECT_TRUE(f.on_read(shorter, 50, start + 1500ms));
  f.on_progress(stream, member, 50);
  EXPECT_EQ(f.known_at(stream), start + 1s);
}

TEST_F(etcd_freshness, an_attempt_whose_read_failed_is_not_waited_for) {
  const auto first = f.begin(start, on(stream), 30s);
  f.give_up(first);
  const auto second = f.begin(start + 1ms, on(stream), 30s);
  ASSERT_NE(second, 0u);
  f.give_up(first);  // late
  EXPECT_EQ(f.begin(start + 2ms, on(stream), 30s), 0u);
}

TEST_F(etcd_freshness, a_read_that_is_answered_after_the_next_has_left_is_not_taken_for_it) {
  const auto first = f.begin(start, on(stream), 1s), second = f.begin(start + 1s, on(stream), 1s);
  EXPECT_FALSE(f.on_read(first, 50, start + 1s));
  f.on_progress(stream, member, 50);
  EXPECT_FALSE(is_known());
  EXPECT_TRUE(f.on_read(second, 60, start + 1s));
  f.on_progress(stream, member, 59);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, member, 60);
  EXPECT_EQ(f.known_at(stream), start + 1s);
}

TEST_F(etcd_freshness, an_answer_that_is_repeated_changes_nothing) {
  const auto a = f.begin(start, on(stream), 1s);
  EXPECT_TRUE(f.on_read(a, 50, start));
  EXPECT_FALSE(f.on_read(a, 60, start));
  f.on_progress(stream, member, 50);
  f.on_progress(stream, member, 50);
  EXPECT_FALSE(f.on_read(a, 70, start));
  EXPECT_EQ(f.known_at(stream), start);
  EXPECT_NE(f.begin(start + 1ms, on(stream), 1s), 0u);
}

// --- servers that say how far they are before they have told all ---

TEST(etcd_order_of_progress, is_kept_from_3_4_25_3_5_8_and_3_6_on) {
  for (const char* v :
       {"3.4.25", "3.4.44", "3.5.8", "3.5.16", "3.5.33", "3.6.0", "3.6.14", "3.7.1", "3.10.0", "4.0.0"}) {
    EXPECT_TRUE(tells_in_order(v)) << v;
  }
  for (const char* v : {"2.3.8", "3.1.20", "3.3.27", "3.4.0", "3.4.24", "3.5.0", "3.5.7", "3.6.0-alpha.0", "3.5.8-rc.0",
                        "", "not decided", "fake"}) {
    EXPECT_FALSE(tells_in_order(v)) << v;
  }
}

TEST_F(etcd_freshness, a_server_that_does_not_keep_the_order_is_not_asked) {
  EXPECT_EQ(f.begin(start, {stream, member, "3.5.7"}, 1s), 0u);
  EXPECT_EQ(f.begin(start, {stream, member, ""}, 1s), 0u) << "its version is not known";
  EXPECT_EQ(f.begin(start, {stream, 0, "3.5.8"}, 1s), 0u) << "nor who it is";
  EXPECT_NE(f.begin(start, {stream, member, "3.5.8"}, 1s), 0u);
}

TEST_F(etcd_freshness, a_member_of_which_the_version_is_not_known_proves_nothing) {
  f.on_read(f.begin(start, on(stream), 1s), 50, start);
  f.on_progress(stream, member + 1, 50);
  EXPECT_FALSE(is_known());
  f.on_progress(stream, member, 50);
  EXPECT_TRUE(is_known());
}

// --- a stream that does not answer ---

TEST_F(etcd_freshness, a_stream_that_does_not_answer_is_asked_again_with_longer_pauses) {
  EXPECT_EQ(f.ask_again_at(), engine::time_point::max());
  f.on_read(f.begin(start, on(stream), 3s), 50, start);
  EXPECT_FALSE(f.is_to_ask_again(start + 199ms, stream));
  std::vector<engine::time_point> asked;
  for (auto now = start; now < start + 10s; now += 50ms) {
    if (f.is_to_ask_again(now, stream)) asked.push_back(now);
  }
  EXPECT_EQ(asked, (std::vector<engine::time_point>{start + 200ms, start + 600ms, start + 1400ms}))
      << "then it is given up";
  f.on_progress(stream, member, 50);
  EXPECT_EQ(f.known_at(stream), start) << "late is better than never";
}

TEST_F(etcd_freshness, a_stream_that_has_answered_is_not_asked_again) {
  f.on_read(f.begin(start, on(stream), 3s), 50, start);
  f.on_progress(stream, member, 50);
  EXPECT_FALSE(f.is_to_ask_again(start + 1s, stream));
}

TEST_F(etcd_freshness, a_stream_that_took_the_place_of_the_one_that_was_asked_is_not_asked) {
  f.on_read(f.begin(start, on(stream), 3s), 50, start);
  EXPECT_FALSE(f.is_to_ask_again(start + 1s, stream + 1));
  EXPECT_EQ(f.ask_again_at(), engine::time_point::max());
}

}  // namespace
}  // namespace tyer::etcd
