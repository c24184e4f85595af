// Whom to follow, of those that sentinels name: a test for each rule, and for each way that sentinels are known to behave.
#include "engines/redis/deployment/follower.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace {

using namespace std::chrono_literals;
using tyer::redis::follower;
using endpoint = tyer::core::endpoint;

const endpoint old_one{"10.0.0.1", 6379}, promoted{"10.0.0.2", 6379}, third{"10.0.0.3", 6379};
constexpr bool leads = true;
constexpr auto patience = follower::patience, long_away = follower::long_away;

// Three sentinels unless said; time goes by when a test says so.
struct client {
  explicit client(std::size_t sentinels = 3) : choice(sentinels) {}

  void says(std::size_t i, const endpoint& e, std::uint64_t epoch, bool leading = false) {
    choice.heard(i, {e, epoch, leading}, now);
  }
  void all_say(const endpoint& e, std::uint64_t epoch) {
    for (std::size_t i = 0; i < 3; ++i) says(i, e, epoch);
  }
  // Where we are after a decision.
  endpoint goes(bool is_master) {
    if (auto to = choice.decide(is_master, now)) {
      at = *to;
      ++moves;
    }
    return at;
  }
  endpoint stays_master() { return goes(true); }
  endpoint is_away() { return goes(false); }
  endpoint is_away_for(std::chrono::milliseconds t) {
    goes(false);
    now += t;
    return goes(false);
  }

  follower choice;
  follower::time_point now{1h};
  endpoint at;
  int moves = 0;
};

// At this server, with this epoch, and it calls itself master.
client settled_at(const endpoint& e, std::uint64_t epoch) {
  client c;
  c.all_say(e, epoch);
  c.goes(false);
  c.goes(true);
  c.moves = 0;
  return c;
}

// The beginning

TEST(follower, begins_with_nobody_when_nobody_has_said_anything) {
  client c;
  EXPECT_EQ(c.is_away_for(1h), endpoint{});
  c.choice.silent(0), c.choice.silent(1), c.choice.silent(2);
  EXPECT_EQ(c.is_away_for(1h), endpoint{});
  EXPECT_FALSE(c.choice.has_chosen());
  EXPECT_EQ(c.choice.due(), follower::time_point::max());
}

TEST(follower, the_first_to_answer_does_not_decide_alone_where_to_begin) {
  client c;
  c.says(0, old_one, 4);  // slept through a failover
  EXPECT_EQ(c.is_away(), endpoint{});
  EXPECT_EQ(c.choice.due(), c.now + patience);
  c.says(1, promoted, 5);
  EXPECT_EQ(c.is_away(), promoted);
}

TEST(follower, begins_with_one_when_the_others_cannot_say) {
  client c;
  c.choice.silent(0);
  c.says(1, promoted, 5);
  EXPECT_EQ(c.is_away(), endpoint{});
  c.choice.silent(2);
  EXPECT_EQ(c.is_away(), promoted);
}

TEST(follower, begins_with_one_when_the_others_take_too_long) {
  client c;
  c.says(1, promoted, 5);
  EXPECT_EQ(c.is_away_for(patience - 1ms), endpoint{});
  EXPECT_EQ(c.is_away_for(1ms), promoted);
}

TEST(follower, the_only_sentinel_of_a_uri_is_enough) {
  client c{1};
  c.says(0, promoted, 5);
  EXPECT_EQ(c.is_away(), promoted);
}

TEST(follower, begins_with_what_others_say_rather_than_with_who_leads_a_failover) {
  client c;
  c.says(0, promoted, 5, leads);
  c.says(1, old_one, 4);
  EXPECT_EQ(c.is_away(), old_one);
  c.says(1, promoted, 5);  // moments later
  EXPECT_EQ(c.stays_master(), promoted);
}

TEST(follower, begins_with_who_leads_a_failover_when_nobody_else_answers) {
  client c;
  c.says(0, promoted, 5, leads);
  c.choice.silent(1), c.choice.silent(2);
  EXPECT_EQ(c.is_away(), promoted);
}

TEST(follower, begins_with_what_more_sentinels_say_where_they_are_split) {
  client c;
  c.says(0, old_one, 5);
  c.says(1, promoted, 5), c.says(2, promoted, 5);
  EXPECT_EQ(c.is_away(), promoted);
}

// Our server calls itself master.

TEST(follower, who_leads_a_failover_does_not_lead_back_to_the_old_master) {
  auto c = settled_at(promoted, 5);
  // As SENTINEL MASTER has it for up to failover-timeout: the new epoch, the old address.
  c.says(0, old_one, 5, leads);
  EXPECT_EQ(c.stays_master(), promoted);
  c.choice.silent(1), c.choice.silent(2);
  EXPECT_EQ(c.stays_master(), promoted) << "nor when it is the only one that answers";
}

TEST(follower, a_master_is_not_left_at_the_same_epoch) {
  auto c = settled_at(promoted, 5);
  c.all_say(old_one, 5);
  EXPECT_EQ(c.stays_master(), promoted);
}

TEST(follower, a_master_is_not_left_for_a_smaller_epoch) {
  auto c = settled_at(promoted, 5);
  c.all_say(old_one, 4);
  c.now += 1h;
  EXPECT_EQ(c.stays_master(), promoted);
}

TEST(follower, a_larger_epoch_of_one_sentinel_is_enough) {
  auto c = settled_at(old_one, 4);
  c.says(2, promoted, 5);
  EXPECT_EQ(c.stays_master(), promoted);
}

TEST(follower, a_master_is_not_left_for_what_only_the_leader_of_a_failover_says) {
  auto c = settled_at(old_one, 4);
  c.says(0, promoted, 5, leads);
  c.now += 1h;
  EXPECT_EQ(c.stays_master(), old_one);
  c.says(1, promoted, 5);
  EXPECT_EQ(c.stays_master(), promoted);
}

TEST(follower, a_master_is_left_for_what_the_leader_of_a_failover_says_when_nobody_else_answers) {
  auto c = settled_at(old_one, 4);
  c.choice.silent(1), c.choice.silent(2);
  c.says(0, promoted, 5, leads);
  EXPECT_EQ(c.stays_master(), promoted);
}

// One has died, one is cut off from the others and not from us, and one leads a failover that takes three minutes.
TEST(follower, one_that_is_cut_off_does_not_keep_us_at_the_old_master_until_the_failover_is_over) {
  client c;
  c.all_say(old_one, 5);
  c.is_away();
  EXPECT_EQ(c.stays_master(), old_one);
  c.choice.silent(1);
  c.says(0, old_one, 5);
  c.says(2, promoted, 6, leads);
  EXPECT_EQ(c.stays_master(), old_one) << "the other may hear of it in a moment";
  EXPECT_EQ(c.choice.due(), c.now + long_away);
  c.now += long_away - 1ms;
  c.says(2, promoted, 6, leads);
  EXPECT_EQ(c.stays_master(), old_one);
  c.now += 1ms;
  EXPECT_EQ(c.stays_master(), promoted);
  EXPECT_EQ(c.moves, 2);
}

TEST(follower, a_majority_that_leads_no_failover_keeps_us_where_we_are) {
  client c;
  c.all_say(old_one, 5);
  c.is_away();
  c.stays_master();
  c.says(2, promoted, 6, leads);
  c.now += 2 * long_away;
  EXPECT_EQ(c.stays_master(), old_one);
}

TEST(follower, where_the_leader_of_a_failover_sent_us_in_vain_we_do_not_go_again) {
  client c;
  c.all_say(old_one, 5);
  c.is_away();
  c.stays_master();
  c.choice.silent(1);
  c.says(2, promoted, 6, leads);
  c.now += long_away;
  ASSERT_EQ(c.stays_master(), promoted);
  EXPECT_EQ(c.is_away(), promoted);
  c.now += long_away;
  ASSERT_EQ(c.is_away(), old_one) << "nobody is there";
  c.now += 2 * long_away;
  EXPECT_EQ(c.stays_master(), old_one);
  c.choice.silent(1);
  c.says(0, promoted, 6);
  EXPECT_EQ(c.stays_master(), promoted) << "now another says so too";
}

TEST(follower, clients_with_different_sentinels_first_end_at_one_server) {
  for (std::size_t leader = 0; leader < 3; ++leader) {
    auto c = settled_at(old_one, 4);
    for (std::size_t i = 0; i < 3; ++i) {
      c.says(i, promoted, 5, i == leader);
      c.stays_master();
    }
    EXPECT_EQ(c.at, promoted) << leader;
    EXPECT_EQ(c.moves, 1) << leader;
  }
}

TEST(follower, no_sentinel_at_all_leaves_us_where_we_are) {
  auto c = settled_at(promoted, 5);
  for (std::size_t i = 0; i < 3; ++i) c.choice.silent(i);
  EXPECT_EQ(c.stays_master(), promoted);
  EXPECT_EQ(c.is_away_for(1h), promoted);
}

TEST(follower, the_epoch_of_our_server_grows_when_a_majority_says_so) {
  auto c = settled_at(promoted, 5);
  c.says(0, promoted, 7), c.says(1, promoted, 7);
  c.stays_master();
  c.choice.silent(0), c.choice.silent(1);
  c.says(2, old_one, 6);  // has missed the last failover
  EXPECT_EQ(c.stays_master(), promoted);
}

TEST(follower, one_that_has_the_new_epoch_with_the_old_address_does_not_hold_us_back) {
  auto c = settled_at(old_one, 4);
  c.says(0, old_one, 5);  // could not resolve the new name
  EXPECT_EQ(c.stays_master(), old_one);
  c.says(1, promoted, 5), c.says(2, promoted, 5);
  EXPECT_EQ(c.stays_master(), promoted);
}

// Our server is away.

TEST(follower, one_that_slept_through_a_failover_does_not_lead_back_while_the_master_is_away) {
  auto c = settled_at(promoted, 5);
  c.says(0, old_one, 4);
  EXPECT_EQ(c.is_away_for(1h), promoted) << "the others have our epoch";
  c.choice.silent(1), c.choice.silent(2);
  EXPECT_EQ(c.is_away_for(1h), promoted) << "one of three is no majority";
}

TEST(follower, sentinels_that_were_set_up_anew_are_followed_when_our_server_is_away_for_long) {
  auto c = settled_at(promoted, 5);
  c.is_away();
  c.says(0, third, 0), c.says(1, third, 0);
  c.choice.silent(2);
  EXPECT_EQ(c.is_away_for(long_away - 1ms), promoted);
  EXPECT_EQ(c.choice.due(), c.now + 1ms);
  EXPECT_EQ(c.is_away_for(1ms), third);
}

TEST(follower, the_same_epoch_moves_us_from_a_server_that_is_away) {
  auto c = settled_at(old_one, 0);
  c.all_say(third, 0);  // SENTINEL REMOVE and MONITOR
  EXPECT_EQ(c.stays_master(), old_one);
  EXPECT_EQ(c.is_away(), third);
}

TEST(follower, split_sentinels_do_not_send_us_to_and_fro) {
  auto c = settled_at(promoted, 5);
  c.says(0, old_one, 5);
  c.choice.silent(2);
  EXPECT_EQ(c.is_away_for(long_away - 1ms), promoted) << "one to one: ours";
  EXPECT_EQ(c.is_away_for(1ms), old_one) << "away for long: the other";
  EXPECT_EQ(c.is_away_for(long_away - 1ms), old_one);
  EXPECT_EQ(c.stays_master(), old_one);
  EXPECT_EQ(c.moves, 1);
}

TEST(follower, who_leads_a_failover_is_believed_when_the_others_have_not_heard_in_time) {
  auto c = settled_at(old_one, 4);
  c.says(0, promoted, 5, leads);
  EXPECT_EQ(c.is_away_for(patience - 1ms), old_one);
  EXPECT_EQ(c.choice.due(), c.now + 1ms);
  EXPECT_EQ(c.is_away_for(1ms), promoted);
}

TEST(follower, a_dead_server_that_only_the_leader_of_a_failover_names_is_given_up) {
  auto c = settled_at(old_one, 4);
  c.says(0, promoted, 5, leads);
  ASSERT_EQ(c.is_away_for(patience), promoted);
  EXPECT_EQ(c.is_away_for(long_away - 1ms), promoted);
  EXPECT_EQ(c.is_away_for(1ms), old_one) << "which the others name";
  EXPECT_EQ(c.stays_master(), old_one) << "and there we stay";
  c.now += 1h;
  EXPECT_EQ(c.stays_master(), old_one);
}

TEST(follower, of_two_dead_servers_each_is_tried_again_and_again) {
  auto c = settled_at(old_one, 4);
  c.says(0, promoted, 5, leads);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(c.is_away_for(patience), promoted);
    EXPECT_EQ(c.is_away_for(long_away), old_one);
  }
  EXPECT_EQ(c.moves, 20) << "no faster than that";
}

TEST(follower, a_late_answer_from_before_the_failover_changes_nothing) {
  auto c = settled_at(promoted, 5);
  c.says(0, old_one, 4);  // asked before, answered by one that hung meanwhile
  EXPECT_EQ(c.stays_master(), promoted);
  EXPECT_EQ(c.is_away(), promoted);
  c.says(0, promoted, 5);
  EXPECT_EQ(c.is_away(), promoted);
  EXPECT_EQ(c.moves, 0);
}

TEST(follower, an_election_without_a_winner_moves_nobody) {
  auto c = settled_at(old_one, 4);
  for (std::size_t i = 0; i < 3; ++i) c.says(i, old_one, 4, leads);  // all try to become the leader
  EXPECT_EQ(c.stays_master(), old_one);
  EXPECT_EQ(c.is_away_for(1h), old_one);
}

TEST(follower, nothing_is_due_while_the_master_is_there_or_after_it_has_been_away_for_long) {
  auto c = settled_at(promoted, 5);
  EXPECT_EQ(c.choice.due(), follower::time_point::max());
  c.is_away();
  EXPECT_EQ(c.choice.due(), c.now + patience);
  c.is_away_for(patience);
  EXPECT_EQ(c.choice.due(), c.now - patience + long_away);
  c.is_away_for(long_away);
  EXPECT_EQ(c.choice.due(), follower::time_point::max()) << "or the loop would spin";
}

}  // namespace
