// All that happens to one id, on virtual time: the test is the nodes.
#include "engines/compose/redlock/quorum_lock.hpp"

#include <tyer/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tyer::redlock {
namespace {

using namespace std::chrono_literals;
using engine::answer;
using engine::busy;
using engine::granted;
using kind = quorum_lock::node_request::kind;

class quorum_lock_test : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < 5; ++i) come(i);
  }
  // Takes the requests of this kind that go to these nodes, in order; the others stay where they are.
  quorum_lock::node_request taken(kind what, std::size_t node) {
    collect();
    const auto at = std::ranges::find_if(sent_, [&](const auto& o) { return o.what == what && o.node == node; });
    if (at == sent_.end()) {
      ADD_FAILURE() << "node " << node << " was not asked";
      return {node, what, 0};
    }
    const auto o = *at;
    sent_.erase(at);
    return o;
  }
  std::size_t count(kind what) {
    collect();
    return static_cast<std::size_t>(std::ranges::count(sent_, what, &quorum_lock::node_request::what));
  }
  void collect() {
    for (const auto& o : it.take_requests()) sent_.push_back(o);
  }

  void acquire() { it.acquire(10s, 2s, now); }
  void grant(std::size_t node, std::uint64_t part = 7) {
    it.on_acquired(taken(kind::acquire, node), answer{granted{part, 10s}}, now);
  }
  void refuse(std::size_t node) { it.on_acquired(taken(kind::acquire, node), answer{busy{3s}}, now); }
  void fail(std::size_t node, why w) { it.on_acquired(taken(kind::acquire, node), wrong(w), now); }
  void lift(std::size_t node, fate f = fate::holding) { it.on_lifted(taken(kind::lift, node), f, now); }
  void let_go(std::size_t node, fate was = fate::holding) { it.on_released(taken(kind::release, node), now, was, now); }
  void fail_release(std::size_t node, why w) { it.on_released(taken(kind::release, node), now, wrong(w), now); }
  static failure wrong(why w) { return {w, make_error_code(errc::unavailable), "away"}; }
  void pass(duration d) {
    now += d;
    it.on_time(now);
  }
  void win() {
    acquire();
    for (std::size_t i = 0; i < 5; ++i) grant(i);
    ASSERT_TRUE(std::holds_alternative<quorum_lock::won>(it.take_acquired().value()));
  }
  std::optional<quorum_lock::lost> lost() {
    const auto a = it.take_acquired();
    return a ? std::optional{std::get<quorum_lock::lost>(*a)} : std::nullopt;
  }
  std::optional<fate> released() {
    const auto r = it.take_released();
    return r ? std::optional{std::get<fate>(r->was)} : std::nullopt;
  }

  void come(std::size_t node) {
    there.on_up(node, {"id", "version"}, now);
    it.on_up(node, now);
  }
  void leave(std::size_t node) { there.on_down(node, wrong(why::not_sent), now); }

  const std::vector<std::string> names{"a:1", "b:2", "c:3", "d:4", "e:5"};
  nodes_up there{names, 50ms};
  const quorum_lock::setting setting{names, 2s, 50ms, &there};
  time_point now{1000s};
  quorum_lock it{setting};

 private:
  std::vector<quorum_lock::node_request> sent_;
};

TEST_F(quorum_lock_test, asks_all_at_once_and_counts_from_before_the_first) {
  const auto asked = now;
  acquire();
  EXPECT_EQ(count(kind::acquire), 5u);
  now += 3ms;
  for (std::size_t i = 0; i < 3; ++i) grant(i);
  const auto won = std::get<quorum_lock::won>(it.take_acquired().value());
  EXPECT_EQ(won.sent, asked);
  EXPECT_EQ(won.ttl, 10s - 100ms - 2ms) << "minus drift";
  EXPECT_EQ(won.part, 7u);
}

// It was: a request that found no memory on its way had no answer, and its id was waited for, and known, for ever.
TEST_F(quorum_lock_test, an_acquire_that_has_no_answer_at_all_is_over_some_time) {
  acquire();
  for (std::size_t i = 0; i < 4; ++i) grant(i);
  ASSERT_TRUE(it.take_acquired());
  it.release(now);
  for (std::size_t i = 0; i < 4; ++i) let_go(i);
  for (int i = 0; i < 60 && !it.over(now); ++i) {
    ASSERT_NE(it.due(), time_point::max());
    pass(std::max<duration>(it.due() - now, 0ms));
    while (count(kind::release) > 0) let_go(4, fate::gone);
    released();
  }
  EXPECT_TRUE(it.over(now));
}

TEST_F(quorum_lock_test, a_release_that_has_no_answer_at_all_is_sent_again) {
  win();
  it.release(now);
  for (std::size_t i = 0; i < 4; ++i) let_go(i);
  taken(kind::release, 4);
  EXPECT_NE(it.due(), time_point::max());
  for (int i = 0; i < 20 && count(kind::release) == 0; ++i) pass(std::max<duration>(it.due() - now, 0ms));
  EXPECT_EQ(count(kind::release), 1u);
}

TEST_F(quorum_lock_test, writes_the_token_back_before_it_tells_it) {
  acquire();
  for (std::size_t i = 0; i < 3; ++i) grant(i, 7 + i);
  EXPECT_FALSE(it.take_acquired());
  EXPECT_EQ(taken(kind::lift, 0).part, 9u);
  lift(1);
  EXPECT_FALSE(it.take_acquired());
  grant(3, 1);
  lift(3);
  EXPECT_EQ(std::get<quorum_lock::won>(it.take_acquired().value()).part, 9u);
}

TEST_F(quorum_lock_test, a_write_back_that_is_refused_gives_everything_back) {
  acquire();
  for (std::size_t i = 0; i < 3; ++i) grant(i, 7 + i);
  refuse(3);
  refuse(4);
  lift(0);
  lift(1, fate::gone);
  EXPECT_FALSE(it.take_acquired()) << "first what was granted is given back";
  for (const std::size_t i : {0u, 1u, 2u}) let_go(i, i == 1 ? fate::gone : fate::holding);
  EXPECT_TRUE(lost());
}

TEST_F(quorum_lock_test, a_node_whose_write_back_has_no_answer_may_still_have_it) {
  acquire();
  for (std::size_t i = 0; i < 3; ++i) grant(i, 7 + i);
  refuse(3);
  refuse(4);
  lift(0);
  it.on_lifted(taken(kind::lift, 1), wrong(why::unknown), now);
  EXPECT_EQ(count(kind::release), 3u);
}

TEST_F(quorum_lock_test, a_lost_attempt_is_told_when_what_it_had_is_given_back) {
  acquire();
  grant(0);
  for (const std::size_t i : {1u, 2u, 3u}) refuse(i);
  EXPECT_FALSE(it.take_acquired());
  EXPECT_EQ(count(kind::release), 2u) << "on the node that granted it, and on the one that has not answered";
  let_go(0);
  EXPECT_EQ(std::get<milliseconds>(lost().value().why), 3s);
}

TEST_F(quorum_lock_test, a_node_that_does_not_let_go_in_time_is_not_waited_for) {
  acquire();
  grant(0);
  for (const std::size_t i : {1u, 2u, 3u, 4u}) {
    if (i < 4) refuse(i);
  }
  pass(49ms);
  EXPECT_FALSE(lost());
  pass(1ms);
  EXPECT_TRUE(lost());
}

TEST_F(quorum_lock_test, a_grant_that_comes_late_is_given_back) {
  acquire();
  for (const std::size_t i : {0u, 1u, 2u}) refuse(i);
  EXPECT_TRUE(lost());
  let_go(3, fate::gone);  // overtook the request, over another connection
  EXPECT_EQ(count(kind::release), 1u);
  grant(3);
  EXPECT_EQ(count(kind::release), 2u) << "once more, now that there is something";
  let_go(3);
  refuse(4);
  let_go(4, fate::gone);
  pass(5s);
  EXPECT_TRUE(it.over(now));
}

TEST_F(quorum_lock_test, a_request_that_may_be_carried_out_late_is_undone_until_it_cannot_be) {
  const auto asked = now;
  acquire();
  for (const std::size_t i : {0u, 1u, 2u}) refuse(i);
  fail(3, why::unknown);
  fail(4, why::not_sent);
  EXPECT_TRUE(lost());
  let_go(3, fate::gone);
  let_go(4, fate::gone);
  EXPECT_EQ(count(kind::release), 0u);
  EXPECT_EQ(it.due(), asked + 4s);
  pass(4s);
  let_go(3);  // it was
  EXPECT_EQ(count(kind::release), 0u);
}

TEST_F(quorum_lock_test, a_minority_whose_grant_is_unknown_is_undone_after_the_release) {
  acquire();
  for (const std::size_t i : {0u, 1u, 2u}) grant(i);
  fail(3, why::unknown);
  fail(4, why::not_sent);
  EXPECT_TRUE(it.take_acquired());
  now += 1s;
  it.release(now);
  for (std::size_t i = 0; i < 4; ++i) let_go(i, i < 3 ? fate::holding : fate::gone);
  EXPECT_EQ(count(kind::release), 0u) << "node 4 was sent nothing, so it has nothing";
  EXPECT_EQ(released(), fate::holding);
  EXPECT_FALSE(it.over(now));
  pass(3s);
  let_go(3);
  EXPECT_TRUE(it.over(now));
}

TEST_F(quorum_lock_test, its_own_partial_win_does_not_stand_in_the_way_of_the_next_try) {
  acquire();
  grant(0);
  grant(1);
  for (const std::size_t i : {2u, 3u, 4u}) refuse(i);
  pass(50ms);
  EXPECT_TRUE(lost());
  acquire();
  EXPECT_EQ(count(kind::acquire), 5u) << "with the same id: what it has left there is its own";
  for (const std::size_t i : {0u, 1u}) let_go(i);
  for (const std::size_t i : {0u, 1u, 2u}) grant(i, 8);
  EXPECT_TRUE(std::holds_alternative<quorum_lock::won>(it.take_acquired().value()));
  EXPECT_EQ(count(kind::release), 0u) << "the giving back of the first try is over";
}

TEST_F(quorum_lock_test, a_release_that_may_come_late_takes_nothing_from_the_next_try) {
  acquire();
  grant(0);
  for (const std::size_t i : {1u, 2u, 3u, 4u}) refuse(i);
  fail_release(0, why::unknown);
  pass(50ms);
  EXPECT_TRUE(lost());
  acquire();
  EXPECT_EQ(count(kind::acquire), 4u) << "node 0 is not asked";
  for (const std::size_t i : {1u, 2u}) grant(i);
  refuse(3);
  refuse(4);
  for (const std::size_t i : {1u, 2u}) let_go(i);
  EXPECT_TRUE(lost());
  pass(4s);
  acquire();
  EXPECT_EQ(count(kind::acquire), 5u);
}

TEST_F(quorum_lock_test, losses_are_counted_until_it_is_won) {
  for (std::uint32_t i = 1; i < 4; ++i) {
    acquire();
    for (std::size_t n = 0; n < 5; ++n) {
      if (n < 3) refuse(n);
    }
    EXPECT_TRUE(lost());
    EXPECT_EQ(it.losses(), i);
    for (const std::size_t n : {3u, 4u}) {
      refuse(n);
      let_go(n, fate::gone);
    }
    EXPECT_FALSE(it.over(now));
    pass(100ms);
  }
  win();
  EXPECT_EQ(it.losses(), 0u);
}

TEST_F(quorum_lock_test, a_release_is_told_when_a_majority_has_let_go_and_goes_on_with_the_rest) {
  win();
  it.release(now);
  EXPECT_EQ(count(kind::release), 5u);
  let_go(0);
  let_go(1);
  EXPECT_FALSE(released());
  let_go(2);
  EXPECT_EQ(released(), fate::holding);
  fail_release(3, why::not_sent);
  let_go(4);
  EXPECT_FALSE(it.over(now));
  it.on_up(3, now);
  let_go(3);
  EXPECT_TRUE(it.over(now));
}

TEST_F(quorum_lock_test, a_node_that_is_away_is_asked_nothing) {
  leave(1);
  leave(4);
  acquire();
  EXPECT_EQ(count(kind::acquire), 3u);
  for (const std::size_t i : {0u, 2u, 3u}) grant(i);
  EXPECT_TRUE(it.take_acquired());
  it.release(now);
  EXPECT_EQ(count(kind::release), 3u) << "the others have nothing to give back";
  for (const std::size_t i : {0u, 2u, 3u}) let_go(i);
  EXPECT_EQ(released(), fate::holding);
  EXPECT_TRUE(it.over(now));
}

TEST_F(quorum_lock_test, with_a_majority_away_nobody_is_asked) {
  for (const std::size_t i : {0u, 2u, 4u}) leave(i);
  acquire();
  EXPECT_EQ(count(kind::acquire), 0u);
  EXPECT_EQ(std::get<failure>(lost().value().why).code, make_error_code(errc::unavailable));
}

TEST_F(quorum_lock_test, what_a_node_had_when_it_left_waits_until_it_is_back_or_has_expired) {
  win();
  leave(3);
  leave(4);
  it.release(now);
  EXPECT_EQ(count(kind::release), 3u);
  for (const std::size_t i : {0u, 1u, 2u}) let_go(i);
  EXPECT_EQ(released(), fate::holding);
  EXPECT_EQ(it.due(), now + 10s) << "it does not try again and again meanwhile";
  now += 1s;
  come(3);
  let_go(3);
  EXPECT_FALSE(it.over(now));
  pass(9s);
  EXPECT_TRUE(it.over(now));
}

TEST_F(quorum_lock_test, a_release_of_what_a_majority_does_not_have_is_gone) {
  it.release(now);
  for (const std::size_t i : {0u, 1u, 2u}) let_go(i, fate::gone);
  EXPECT_FALSE(released()) << "the others may be about to say that they had it";
  let_go(3);
  let_go(4);
  EXPECT_EQ(released(), fate::gone);
}

TEST_F(quorum_lock_test, a_release_does_not_wait_for_a_slow_node_when_a_majority_has_answered) {
  win();
  it.release(now);
  let_go(0);
  let_go(1);
  let_go(2, fate::gone);  // restarted without data
  EXPECT_FALSE(released());
  pass(50ms);
  EXPECT_EQ(released(), fate::holding);
}

TEST_F(quorum_lock_test, a_release_without_a_majority_fails_and_names_the_nodes) {
  win();
  it.release(now);
  for (const std::size_t i : {0u, 3u, 4u}) fail_release(i, why::not_sent);
  let_go(1);
  let_go(2);
  const auto f = std::get<failure>(it.take_released().value().was);
  EXPECT_EQ(f.kind, why::unknown);
  for (const char* name : {"a:1", "d:4", "e:5"}) EXPECT_NE(f.words.find(name), std::string::npos);
}

TEST_F(quorum_lock_test, what_a_majority_has_forgotten_is_taken_from_the_others_too) {
  win();
  it.on_gone(now);
  EXPECT_EQ(count(kind::release), 5u);
  for (std::size_t i = 0; i < 5; ++i) let_go(i, i < 3 ? fate::gone : fate::holding);
  EXPECT_TRUE(it.over(now));
}

TEST_F(quorum_lock_test, a_hold_is_remembered_for_as_long_as_it_is_kept) {
  win();
  EXPECT_FALSE(it.over(now + 9s));
  EXPECT_TRUE(it.over(now + 10s));
  it.on_kept(now + 20s);
  EXPECT_FALSE(it.over(now + 19s));
  EXPECT_EQ(it.due(), now + 20s);
}

TEST_F(quorum_lock_test, released_while_it_is_being_acquired_nothing_is_left) {
  acquire();
  grant(0);
  it.release(now);
  EXPECT_EQ(count(kind::release), 5u);
  for (std::size_t i = 1; i < 5; ++i) grant(i);
  for (std::size_t i = 0; i < 5; ++i) let_go(i);
  EXPECT_TRUE(std::holds_alternative<failure>(lost().value().why));
  EXPECT_EQ(released(), fate::holding);
  EXPECT_EQ(count(kind::release), 0u);
}

TEST_F(quorum_lock_test, a_vote_that_was_lost_is_won_back_with_a_part_that_is_not_below_the_token) {
  win();
  collect();
  it.win_back(2, now);
  it.win_back(2, now);
  ASSERT_EQ(count(kind::acquire), 1U) << "once";
  const auto asked = taken(kind::acquire, 2);
  EXPECT_EQ(asked.part, 7U);
  it.on_acquired(asked, answer{granted{9, 10s}}, now);
  it.release(now);
  EXPECT_EQ(count(kind::release), 5U);
}

TEST_F(quorum_lock_test, a_vote_that_somebody_else_has_stays_where_it_is) {
  win();
  it.win_back(2, now);
  refuse(2);
  it.win_back(2, now);
  EXPECT_EQ(count(kind::acquire), 1U) << "and it is asked for again";
}

TEST_F(quorum_lock_test, a_vote_that_is_won_back_late_is_given_back) {
  win();
  it.win_back(2, now);
  it.release(now);
  for (std::size_t i = 0; i < 5; ++i) {
    if (i != 2) let_go(i);
  }
  grant(2, 9);
  pass(5s);
  EXPECT_GE(count(kind::release), 1U) << "whichever of the two came first at the node";
}

TEST_F(quorum_lock_test, nothing_is_won_back_for_a_hold_that_is_over) {
  win();
  it.release(now);
  it.win_back(2, now);
  EXPECT_EQ(count(kind::acquire), 0U);
}

}  // namespace
}  // namespace tyer::redlock
