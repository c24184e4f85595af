// What a failover excuses, what it does not, and that both are counted.
#include "checker/pen.hpp"

#include <gtest/gtest.h>

namespace fault {
namespace {

// A hold from before 395 beside one from after 390: one of each side.
pen two_sides() { return pen{}.attempt(10, 0).granted(10, 1, 100, 951).hold(11, 2, 400, 900, 101); }

TEST(DoubleGrants, AcrossAFailoverAreCountedAndNoOverlap) {
  const auto s = two_sides().lost(390, 395, lost_by_failover).told();
  EXPECT_TRUE(overlaps(s, usual).empty());
  EXPECT_EQ(double_grants(s, usual).size(), 1u);
}

TEST(DoubleGrants, WithoutAFailoverAreOverlaps) {
  const auto s = two_sides().told();
  EXPECT_EQ(overlaps(s, usual).size(), 1u);
  EXPECT_TRUE(double_grants(s, usual).empty());
}

TEST(DoubleGrants, OfALossThatIsNoFailoverAreJustExcused) {
  const auto s = two_sides().lost(390, 395, 0).lost(390, 395, lost_by_failover).told();
  EXPECT_TRUE(overlaps(s, usual).empty());
  EXPECT_TRUE(double_grants(s, usual).empty());
}

TEST(DoubleGrants, FailoverOfOtherNamesIsNoExcuse) {
  EXPECT_EQ(overlaps(two_sides().lost(390, 395, lost_by_failover, 0b10).told(), usual).size(), 1u);
  EXPECT_TRUE(overlaps(two_sides().lost(390, 395, lost_by_failover, 0b11).told(), usual).empty());
}

TEST(DoubleGrants, TwoOfTheNewMasterAreOverlaps) {
  const auto s =
      pen{}.hold(10, 396, 397, 800, 100).hold(11, 398, 500, 600, 101).lost(390, 395, lost_by_failover).told();
  EXPECT_EQ(overlaps(s, usual).size(), 1u);
  EXPECT_TRUE(double_grants(s, usual).empty());
}

TEST(DoubleGrants, RenewedByTheNewMasterOutOfNothingIsAnOverlap) {
  const auto s = pen{}
                     .attempt(10, 0)
                     .granted(10, 1, 100, 951)
                     .look(op::observed, 10, 700, 100, 1600, seen_valid)
                     .release(10, 1500, 100, 1600)
                     .hold(11, 2, 1400, 1450, 101)
                     .lost(390, 395, lost_by_failover)
                     .told();
  EXPECT_EQ(overlaps(s, usual).size(), 1u);
}

TEST(TokensLost, WithTheSameOneSideBySide) {
  // The one that comes first in the file is the one of the new state.
  const auto twice = [] {
    return pen{}.attempt(10, 0).granted(10, 500, 2560, 1450).attempt(11, 1).granted_as(11, 300, 2560, 77, 1250);
  };
  EXPECT_EQ(token_order(twice().told()).size(), 1u);
  const auto excused = twice().lost(390, 395, lost_with_tokens).told();
  EXPECT_TRUE(token_order(excused).empty());
  EXPECT_EQ(tokens_lost(excused).size(), 1u);
}

TEST(TokensLost, WithTheSameOneSideBySideAndTheAnswerOfTheFirstLast) {
  const auto twice = [](int second) {
    return pen{}
        .attempt(10, 380)
        .granted(10, 500, 2560, 1450)
        .attempt(11, second)
        .granted_as(11, second + 10, 2560, 77, 1250);
  };
  EXPECT_EQ(token_order(twice(400).told()).size(), 1u);
  const auto excused = twice(400).lost(390, 395, lost_with_tokens).told();
  EXPECT_TRUE(token_order(excused).empty());
  EXPECT_EQ(tokens_lost(excused).size(), 1u);
  EXPECT_EQ(token_order(twice(400).lost(370, 375, lost_with_tokens).told()).size(), 1u);  // both from after the loss
}

TEST(TokensLost, OnlyWhereTheCountersWereLostToo) {
  const auto backwards = [] { return pen{}.hold(10, 0, 1, 5, 5120).hold(11, 600, 700, 900, 2560); };
  EXPECT_EQ(token_order(backwards().told()).size(), 1u);
  EXPECT_EQ(token_order(backwards().lost(390, 395, lost_by_failover).told()).size(), 1u);
  const auto excused = backwards().lost(390, 395, lost_with_tokens).told();
  EXPECT_TRUE(token_order(excused).empty());
  EXPECT_EQ(tokens_lost(excused).size(), 1u);
  EXPECT_EQ(backwards_max(excused), 10u);
}

TEST(TokensLost, NotBetweenTwoFromAfterTheLoss) {
  const auto s =
      pen{}.hold(10, 400, 401, 405, 5120).hold(11, 600, 700, 900, 2560).lost(390, 395, lost_with_tokens).told();
  EXPECT_EQ(token_order(s).size(), 1u);
}

TEST(TokensCrossed, ALeaseGoesOnFromHandToHandBesideAnotherOfAFailover) {
  // 2560 is granted first; 5120 by the other side, for a moment; then the lease of 2560 goes to the next in its process.
  const auto with = [](std::int64_t next_invoked, std::uint32_t pid) {
    return pen{}
        .attempt(10, 0)
        .granted(10, 1, 2560, 951)
        .release(10, 600, 2560, 1500)
        .attempt(pid, next_invoked, 0, 1)
        .granted(pid, 601, 2561, 1500, 0, 1)
        .hold(11, 2, 400, 420, 5120);
  };
  const auto good = with(500, 10).lost(390, 450, lost_by_failover).told();
  EXPECT_TRUE(token_order(good).empty());
  EXPECT_EQ(tokens_crossed(good).size(), 1u);
  EXPECT_EQ(token_order(with(500, 10).lost(-9000, -2000, lost_by_failover).told()).size(), 1u);  // long ago
  EXPECT_EQ(token_order(with(500, 10).told()).size(), 1u);                                       // no failover
  EXPECT_EQ(token_order(with(500, 12).lost(390, 450, lost_by_failover).told()).size(), 1u);      // another process
  EXPECT_EQ(token_order(with(500, 10).lost(390, 450, lost_by_failover, 2).told()).size(), 1u);   // another name
}

TEST(TokensCrossed, TheTicketOfOneWhoGaveUpGoesToTheNextWhoHadComeAlready) {
  // 2560 is made for the first, whose answer is lost; 5120 by the other side, for a moment; then the next asks in its place.
  const auto with = [](std::int64_t gave_up, std::uint32_t pid) {
    return pen{}
        .attempt(pid, 0)
        .missed(pid, gave_up, miss::failed)
        .attempt(10, 500, 0, 1)
        .granted(10, 601, 2560, 1500, 0, 1)
        .hold(11, 2, 400, 420, 5120)
        .lost(390, 450, lost_by_failover);
  };
  EXPECT_TRUE(token_order(with(550, 10).told()).empty());
  EXPECT_EQ(tokens_crossed(with(550, 10).told()).size(), 1u);
  EXPECT_EQ(token_order(with(450, 10).told()).size(), 1u);  // before the next had come
  EXPECT_EQ(token_order(with(550, 12).told()).size(), 1u);  // another process
}

TEST(Stuck, OutageOfOtherNamesIsNoExcuse) {
  const auto with_outage_of = [](std::uint16_t names) {
    return stuck(pen{}.hold(10, 0, 6000, 6010, 100).away(1000, 3000, names).done(op::finish, 9000).told(), usual)
        .size();
  };
  EXPECT_EQ(with_outage_of(0), 0u);
  EXPECT_EQ(with_outage_of(0b1), 0u);
  EXPECT_EQ(with_outage_of(0b10), 1u);
}

TEST(FailoverToGrant, IsTheFirstGrantOfTheEngineToSomebodyWhoAskedLater) {
  const auto s = pen{}
                     .hold(10, 0, 1010, 1015, 256)        // asked before
                     .hold(11, 1020, 1030, 1040, 513)     // handed off inside a process
                     .hold(12, 1021, 1031, 1041, 256, 1)  // of another name
                     .hold(13, 1050, 2500, 2510, 768)
                     .hold(14, 2600, 2700, 2710, 1024)
                     .failed_over(1000, 0b1)
                     .told();
  EXPECT_EQ(failover_to_grant(s), std::vector<std::int64_t>{1'500'000'000});
}

}  // namespace
}  // namespace fault
