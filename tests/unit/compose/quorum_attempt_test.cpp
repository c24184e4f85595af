// One attempt on virtual time: who has to say what, and when, for it to be won.
#include "engines/compose/redlock/quorum_attempt.hpp"

#include <tyer/error.hpp>

#include <gtest/gtest.h>

namespace tyer::redlock {
namespace {

using namespace std::chrono_literals;
using state = quorum_attempt::state;
using nodes = std::vector<std::size_t>;

class quorum_attempt_test : public ::testing::Test {
 protected:
  static quorum_attempt of(std::size_t count, std::uint64_t told = 0) {
    return quorum_attempt{
        {.nodes = count, .sent = start, .ttl = 10s, .give_up_at = start + 2s, .straggle = 50ms, .told = told}};
  }
  static failure away(why kind = why::not_sent) {
    return {kind, make_error_code(errc::unavailable), "connection refused"};
  }
  failure reason() const { return std::get<failure>(it.verdict(names)); }

  static constexpr time_point start{1000s};
  const std::vector<std::string> names{"a:1", "b:2", "c:3", "d:4", "e:5"};
  time_point now = start;
  quorum_attempt it = of(5);
};

TEST_F(quorum_attempt_test, a_majority_with_one_part_is_enough) {
  it.on_granted(4, 7, now);
  it.on_granted(0, 7, now);
  EXPECT_EQ(it.where(), state::locking);
  it.on_granted(2, 7, now);
  EXPECT_EQ(it.where(), state::won);
  EXPECT_EQ(it.part(), 7u);
  EXPECT_TRUE(it.take_lifts().empty());
}

TEST_F(quorum_attempt_test, the_largest_part_is_written_to_a_majority_before_it_is_won) {
  it.on_granted(0, 5, now);
  it.on_granted(1, 9, now);
  it.on_granted(2, 7, now);
  EXPECT_EQ(it.where(), state::lifting);
  EXPECT_EQ(it.part(), 9u);
  EXPECT_EQ(it.take_lifts(), (nodes{0, 2}));
  it.on_lifted(0, 9, true, now);
  EXPECT_EQ(it.where(), state::lifting);
  it.on_lifted(2, 9, true, now);
  EXPECT_EQ(it.where(), state::won);
}

TEST_F(quorum_attempt_test, a_node_that_grants_late_can_be_lifted_too) {
  for (const std::size_t i : {0u, 1u, 2u}) it.on_granted(i, 5 + i, now);
  EXPECT_EQ(it.take_lifts(), (nodes{0, 1}));
  it.on_granted(3, 4, now);
  EXPECT_EQ(it.take_lifts(), nodes{3});
  it.on_lifted(3, 7, true, now);
  it.on_lifted(0, 7, false, now);
  EXPECT_EQ(it.where(), state::lifting);
  it.on_lifted(1, 7, true, now);
  EXPECT_EQ(it.where(), state::won);
}

TEST_F(quorum_attempt_test, a_node_above_the_token_does_not_count_for_it) {
  for (const std::size_t i : {0u, 1u, 2u}) it.on_granted(i, 5 + i, now);
  it.on_granted(3, 8, now);  // its counter was not in the token
  EXPECT_EQ(it.take_lifts(), (nodes{0, 1}));
  it.on_lifted(0, 7, true, now);
  EXPECT_EQ(it.where(), state::lifting);
}

TEST_F(quorum_attempt_test, when_too_few_can_have_the_token_the_largest_of_all_is_taken) {
  for (const std::size_t i : {0u, 1u, 2u}) it.on_granted(i, 5 + i, now);
  it.take_lifts();
  it.on_granted(3, 8, now);
  it.on_failure(4, away(), now);
  it.on_lifted(0, 7, false, now);
  EXPECT_EQ(it.where(), state::lifting);
  EXPECT_EQ(it.part(), 8u);
  EXPECT_EQ(it.take_lifts(), (nodes{1, 2}));
  it.on_lifted(1, 7, true, now);  // to the token before: says nothing
  EXPECT_EQ(it.where(), state::lifting);
  it.on_lifted(1, 8, true, now);
  it.on_lifted(2, 8, true, now);
  EXPECT_EQ(it.where(), state::won);
}

TEST_F(quorum_attempt_test, a_write_back_that_is_refused_loses_it) {
  quorum_attempt three = of(3);
  three.on_granted(0, 5, now);
  three.on_granted(1, 6, now);
  three.take_lifts();
  three.on_busy(2, 100ms, now);
  three.on_lifted(0, 6, false, now);
  EXPECT_EQ(three.where(), state::lost);
  EXPECT_TRUE(three.granted_by(1)) << "must be given back";
}

TEST_F(quorum_attempt_test, a_refusing_majority_loses_it_at_once) {
  it.on_granted(0, 5, now);
  it.on_granted(1, 5, now);
  it.on_busy(2, 300ms, now);
  it.on_busy(3, 200ms, now);
  EXPECT_EQ(it.where(), state::locking);
  it.on_busy(4, 400ms, now);
  EXPECT_EQ(it.where(), state::lost);
  EXPECT_EQ(std::get<milliseconds>(it.verdict(names)), 200ms);
}

TEST_F(quorum_attempt_test, a_slow_minority_is_not_waited_for_when_a_majority_grants) {
  for (const std::size_t i : {0u, 1u, 2u}) it.on_granted(i, 5, now);
  EXPECT_EQ(it.where(), state::won);
}

TEST_F(quorum_attempt_test, once_a_majority_has_answered_the_others_have_one_node_time_out) {
  it.on_granted(0, 5, now);
  EXPECT_EQ(it.due(), start + 2s) << "as long as no majority has answered, all may only be slow";
  it.on_granted(1, 5, now);
  now += 700ms;
  it.on_busy(2, 300ms, now);
  EXPECT_EQ(it.due(), now + 50ms);
  it.on_time(now + 49ms);
  EXPECT_EQ(it.where(), state::locking);
  it.on_time(now + 50ms);
  EXPECT_EQ(it.where(), state::lost);
  EXPECT_EQ(std::get<milliseconds>(it.verdict(names)), 300ms);
}

TEST_F(quorum_attempt_test, whoever_is_away_does_not_make_a_taken_lock_unavailable) {
  it.on_failure(4, away(), now);
  it.on_failure(3, away(), now);
  it.on_busy(0, 300ms, now);
  it.on_busy(1, 300ms, now);
  EXPECT_EQ(it.where(), state::locking) << "hopeless, but why?";
  it.on_busy(2, 300ms, now);
  EXPECT_EQ(it.where(), state::lost);
  EXPECT_TRUE(std::holds_alternative<milliseconds>(it.verdict(names)));
}

TEST_F(quorum_attempt_test, two_that_are_away_cost_nothing_and_three_are_named) {
  it.on_failure(1, away(), now);
  it.on_failure(3, away(), now);
  EXPECT_EQ(it.where(), state::locking);
  it.on_failure(4, away(), now);
  EXPECT_EQ(it.where(), state::lost);
  EXPECT_EQ(reason().code, make_error_code(errc::unavailable));
  EXPECT_EQ(reason().kind, why::unknown) << "the others may have granted it";
  for (const char* name : {"3 of 5", "b:2", "d:4", "e:5"}) EXPECT_NE(reason().words.find(name), std::string::npos);
}

TEST_F(quorum_attempt_test, whether_anything_was_done_is_known_only_if_all_have_said_so) {
  for (const std::size_t i : {0u, 1u}) it.on_busy(i, 1s, now);
  for (const std::size_t i : {2u, 3u, 4u}) it.on_failure(i, away(), now);
  EXPECT_EQ(it.where(), state::lost);
  EXPECT_EQ(reason().kind, why::not_sent);
  it = of(5);
  for (const std::size_t i : {0u, 1u}) it.on_failure(i, away(), now);
  it.on_failure(2, away(why::unknown), now);
  EXPECT_EQ(reason().kind, why::unknown);
}

TEST_F(quorum_attempt_test, what_a_majority_refuses_in_words_is_refused) {
  for (std::size_t i = 0; i < 3; ++i)
    it.on_failure(i, {why::name_conflict, make_error_code(errc::name_conflict), "x"}, now);
  EXPECT_EQ(it.where(), state::lost);
  EXPECT_EQ(reason().kind, why::name_conflict);
}

TEST_F(quorum_attempt_test, is_given_up_at_its_limit) {
  it.on_granted(0, 5, now);
  it.on_time(start + 2s);
  EXPECT_EQ(it.where(), state::lost);
  quorum_attempt lifting = of(3);
  lifting.on_granted(0, 5, now);
  lifting.on_granted(1, 6, now);
  EXPECT_EQ(lifting.due(), start + 2s);
  lifting.on_time(start + 2s);
  EXPECT_EQ(lifting.where(), state::lost);
}

TEST_F(quorum_attempt_test, a_majority_that_comes_when_the_time_is_over_is_none) {
  quorum_attempt brief{{.nodes = 3, .sent = start, .ttl = 100ms, .give_up_at = start + 2s, .straggle = 50ms}};
  brief.on_granted(0, 5, now);
  brief.on_granted(1, 5, start + good_for(100ms));
  EXPECT_EQ(brief.where(), state::lost);
}

TEST_F(quorum_attempt_test, the_same_id_again_has_the_part_that_it_was_told) {
  quorum_attempt again = of(5, 7);
  again.on_granted(3, 9, now);  // was not needed for the token, and had more
  again.on_granted(0, 7, now);
  again.on_granted(1, 7, now);
  EXPECT_EQ(again.where(), state::lifting);
  EXPECT_TRUE(again.take_lifts().empty());
  again.on_granted(2, 7, now);
  EXPECT_EQ(again.where(), state::won);
  EXPECT_EQ(again.part(), 7u);
}

TEST_F(quorum_attempt_test, the_same_id_after_it_was_lost_has_a_new_part) {
  quorum_attempt again = of(3, 7);
  again.on_granted(0, 9, now);
  again.on_granted(1, 10, now);
  EXPECT_EQ(again.where(), state::lifting);
  EXPECT_EQ(again.part(), 10u);
  EXPECT_EQ(again.take_lifts(), nodes{0});
  again.on_lifted(0, 10, true, now);
  EXPECT_EQ(again.where(), state::won);
}

}  // namespace
}  // namespace tyer::redlock
