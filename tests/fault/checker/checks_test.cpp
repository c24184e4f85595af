// Each check is shown a bad history that it must catch, and the good one beside it that it must let pass.
#include "checker/pen.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fault {
namespace {

TEST(Story, RefusesHistoriesThatContradictThemselves) {
  EXPECT_THROW(pen{}.granted(10, 1, 7, 900).told(), std::runtime_error);
  EXPECT_THROW(pen{}.attempt(10, 1).attempt(10, 2).told(), std::runtime_error);
  EXPECT_THROW(pen{}.release(10, 1, 7, 900).told(), std::runtime_error);
  EXPECT_THROW(pen{}.done(op::cont, 1, 10).told(), std::runtime_error);
  EXPECT_THROW(tell({{event{.pid = 10, .what = op::attempt}}, {event{.pid = 10, .what = op::attempt}}}),
               std::runtime_error);
}

TEST(StaleAccepted, SmallerTokenAppliedAfterLarger) {
  const auto bad = pen{}.write(5, 50, verdict::accepted).write(4, 40, verdict::accepted).told();
  EXPECT_EQ(stale_accepted(bad).size(), 1u);
}

TEST(StaleAccepted, SameTokenOfAnotherHold) {
  const auto bad = pen{}.write(5, 50, verdict::accepted).write(5, 51, verdict::accepted).told();
  EXPECT_EQ(stale_accepted(bad).size(), 1u);
}

TEST(StaleAccepted, WhatWasShownCountsEvenIfRefused) {
  const auto bad = pen{}.write(9, 90, verdict::stale).write(5, 50, verdict::accepted).told();
  EXPECT_EQ(stale_accepted(bad).size(), 1u);
}

TEST(StaleAccepted, GoodOnesPass) {
  const auto good = pen{}
                        .write(5, 50, verdict::accepted)
                        .write(5, 50, verdict::accepted)
                        .write(4, 40, verdict::stale)
                        .write(6, 60, verdict::accepted)
                        .write(1, 10, verdict::accepted, 3)
                        .told();
  EXPECT_TRUE(stale_accepted(good).empty());
}

TEST(TokenOrder, LaterGrantWithSmallerToken) {
  EXPECT_EQ(token_order(pen{}.hold(10, 0, 1, 5, 100).hold(11, 6, 7, 9, 99).told()).size(), 1u);
}

TEST(TokenOrder, LaterGrantWithSameToken) {
  // Hold numbers are per file here, so one token can be granted in two.
  EXPECT_EQ(token_order(pen{}.hold(10, 0, 1, 5, 100).hold(11, 6, 7, 9, 100).told()).size(), 1u);
}

TEST(TokenOrder, OneTokenForTwoAtTheSameTime) {
  EXPECT_EQ(token_order(pen{}.hold(10, 0, 3, 5, 100).hold(11, 2, 7, 9, 100).told()).size(), 1u);
}

TEST(TokenOrder, ConcurrentAttemptsMayReturnInAnyOrder) {
  EXPECT_TRUE(token_order(pen{}.hold(10, 0, 3, 5, 100).hold(11, 2, 7, 9, 99).told()).empty());
  EXPECT_TRUE(token_order(pen{}.hold(10, 0, 1, 5, 100).hold(11, 6, 7, 9, 99, 4).told()).empty());
}

TEST(Overlaps, TwoWindowsAtOnce) {
  EXPECT_EQ(overlaps(pen{}.hold(10, 0, 1, 50, 100).hold(11, 2, 49, 90, 101).told(), usual).size(), 1u);
}

TEST(Overlaps, HolderThatDiedKeepsItsWindow) {
  const auto bad =
      pen{}.attempt(10, 0).granted(10, 1, 100, 951).hold(11, 2, 900, 910, 101).done(op::kill, 20, 10).told();
  EXPECT_EQ(overlaps(bad, usual).size(), 1u);
}

TEST(Overlaps, RenewalMovesTheEnd) {
  const auto bad = pen{}
                       .attempt(10, 0)
                       .granted(10, 1, 100, 951)
                       .look(op::observed, 10, 600, 100, 1500, seen_valid)
                       .hold(11, 2, 1200, 1210, 101)
                       .told();
  EXPECT_EQ(overlaps(bad, usual).size(), 1u);
}

TEST(Overlaps, OneAfterTheOther) {
  EXPECT_TRUE(overlaps(pen{}.hold(10, 0, 1, 50, 100).hold(11, 2, 50, 90, 101).told(), usual).empty());
  EXPECT_TRUE(overlaps(pen{}.hold(10, 0, 1, 50, 100).hold(11, 2, 30, 90, 101, 1).told(), usual).empty());
}

TEST(Overlaps, LossOfDataExcusesOldAgainstNew) {
  const auto good = pen{}
                        .attempt(10, 0)
                        .granted(10, 1, 100, 951)
                        .release(10, 1340, 100, 1344)
                        .hold(11, 2, 400, 1350, 101)
                        .done(op::data_loss, 390, 0, 395)
                        .told();
  EXPECT_TRUE(overlaps(good, usual).empty());
}

TEST(Overlaps, LossOfDataExcusesAnOldOneThatReturnedLate) {
  const auto good = pen{}
                        .hold(10, 396, 397, 800, 101)
                        .attempt(11, 380)
                        .granted(11, 398, 100, 1331)
                        .release(11, 500, 100, 1331)
                        .done(op::data_loss, 390, 0, 395)
                        .told();
  EXPECT_TRUE(overlaps(good, usual).empty());
}

TEST(Overlaps, LossOfDataExcusesAnOldLeaseThatWentToAnotherHand) {
  const auto good = pen{}
                        .hold(10, 396, 397, 800, 101)
                        .attempt(11, 398)
                        .granted(11, 399, 100, 951)
                        .release(11, 500, 100, 951)
                        .done(op::data_loss, 390, 0, 395)
                        .told();
  EXPECT_TRUE(overlaps(good, usual).empty());
}

TEST(Overlaps, LossOfOneProcessExcusesNobodyElse) {
  const auto with_loss_of = [](std::uint32_t pid) {
    return pen{}
        .attempt(10, 0)
        .granted(10, 1, 100, 951)
        .release(10, 940, 100, 951)
        .hold(11, 2, 400, 1350, 101)
        .done(op::data_loss, 390, pid, 395)
        .told();
  };
  EXPECT_TRUE(overlaps(with_loss_of(10), usual).empty());
  EXPECT_EQ(overlaps(with_loss_of(12), usual).size(), 1u);
}

TEST(Overlaps, WhatWasDoneToTheTwoIsTold) {
  const auto bad = pen{}
                       .attempt(10, 0)
                       .granted(10, 1, 100, 951)
                       .hold(11, 2, 900, 910, 101)
                       .done(op::stop, 20, 10)
                       .done(op::cont, 30, 10)
                       .done(op::kill, 40, 10)
                       .done(op::data_loss, 50, 11, 60)
                       .told();
  const auto found = overlaps(bad, usual);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].words.find("(stopped from 0.020000 to 0.030000, killed at 0.040000) overlaps"), std::string::npos);
  EXPECT_NE(found[0].words.find("(its data lost from 0.050000 to 0.060000)"), std::string::npos);
}

TEST(Overlaps, LossOfDataDoesNotExcuseTwoNewOnes) {
  const auto bad =
      pen{}.hold(10, 396, 397, 800, 100).hold(11, 398, 500, 600, 101).done(op::data_loss, 390, 0, 395).told();
  EXPECT_EQ(overlaps(bad, usual).size(), 1u);
}

TEST(Overlaps, LossOfDataDoesNotExcuseTwoOldOnes) {
  const auto bad = pen{}.hold(10, 0, 1, 300, 100).hold(11, 2, 200, 250, 101).done(op::data_loss, 390, 0, 395).told();
  EXPECT_EQ(overlaps(bad, usual).size(), 1u);
}

TEST(Overlaps, LossOfDataDoesNotExcuseRenewalOutOfNothing) {
  // The last deadline of the lost state is 951; the one of 1346 was sent after the loss, since that was over at 395.
  const auto with_other_until = [](std::int64_t end) {
    return pen{}
        .attempt(10, 0)
        .granted(10, 1, 100, 951)
        .look(op::observed, 10, 400, 100, 1346, seen_valid)
        .release(10, 1300, 100, 1346)
        .hold(11, 2, 400, end, 101)
        .done(op::data_loss, 390, 0, 395)
        .told();
  };
  EXPECT_TRUE(overlaps(with_other_until(951), usual).empty());
  EXPECT_EQ(overlaps(with_other_until(952), usual).size(), 1u);
}

pen held() { return pen{}.attempt(10, 0).granted(10, 1, 100, 950); }

TEST(LateLoss, CallbackAfterTheDeadline) {
  EXPECT_EQ(late_loss(held().look(op::lost, 10, 951, 100, 950, 0).told(), usual).size(), 1u);
  EXPECT_TRUE(late_loss(held().look(op::lost, 10, 950, 100, 950, 0).told(), usual).empty());
}

TEST(LateLoss, NoCallbackAtAll) {
  EXPECT_EQ(late_loss(held().look(op::observed, 10, 951, 100, 950, 0).told(), usual).size(), 1u);
  EXPECT_EQ(late_loss(held().look(op::release, 10, 951, 100, 950, 0).told(), usual).size(), 1u);
}

TEST(LateLoss, ValidAfterTheDeadline) {
  const auto bad = held().look(op::observed, 10, 951, 100, 950, seen_valid | seen_lost).told();
  EXPECT_EQ(late_loss(bad, usual).size(), 1u);
}

TEST(LateLoss, AfterAPauseItHasFiftyMilliseconds) {
  const auto with_loss_at = [](std::int64_t t) {
    return held().look(op::lost, 10, t, 100, 950, 0).done(op::stop, 500, 10).done(op::cont, 2000, 10).told();
  };
  EXPECT_TRUE(late_loss(with_loss_at(2050), usual).empty());
  EXPECT_EQ(late_loss(with_loss_at(2051), usual).size(), 1u);
}

TEST(LateLoss, PauseOfAnotherProcessOrAfterTheDeadlineIsNoExcuse) {
  const auto other =
      held().look(op::lost, 10, 1000, 100, 950, 0).done(op::stop, 500, 11).done(op::cont, 2000, 11).told();
  EXPECT_EQ(late_loss(other, usual).size(), 1u);
  const auto after =
      held().look(op::lost, 10, 2001, 100, 950, 0).done(op::stop, 951, 10).done(op::cont, 2000, 10).told();
  EXPECT_EQ(late_loss(after, usual).size(), 1u);
  const auto before =
      held().look(op::lost, 10, 951, 100, 950, 0).done(op::stop, 500, 10).done(op::cont, 899, 10).told();
  EXPECT_EQ(late_loss(before, usual).size(), 1u);
}

TEST(LateLoss, PausedAgainBeforeTheFiftyMillisecondsWereOver) {
  const auto good = held()
                        .look(op::lost, 10, 3040, 100, 950, 0)
                        .done(op::stop, 500, 10)
                        .done(op::cont, 2000, 10)
                        .done(op::stop, 2030, 10)
                        .done(op::cont, 3000, 10)
                        .told();
  EXPECT_TRUE(late_loss(good, usual).empty());
}

TEST(LateLoss, StarvedByTheMachineItHasAsLongAgain) {
  const auto with_loss_at = [](std::int64_t t) {
    return held().starved(10, 940, 960).look(op::lost, 10, t, 100, 950, 0).told();
  };
  EXPECT_TRUE(late_loss(with_loss_at(980), usual).empty());
  EXPECT_EQ(starved(with_loss_at(980), usual), 1u);
  EXPECT_EQ(late_loss(with_loss_at(981), usual).size(), 1u);
  EXPECT_EQ(starved(with_loss_at(981), usual), 0u);
  EXPECT_EQ(starved(with_loss_at(950), usual), 0u);  // in time: no excuse was needed
}

TEST(LateLoss, StarvedForLongItHasFiftyMillisecondsMore) {
  const auto with_loss_at = [](std::int64_t t) {
    return held().starved(10, 940, 1940).look(op::lost, 10, t, 100, 950, 0).told();
  };
  EXPECT_TRUE(late_loss(with_loss_at(1990), usual).empty());
  EXPECT_EQ(late_loss(with_loss_at(1991), usual).size(), 1u);
}

TEST(LateLoss, StarvingOfAnotherProcessOrAfterTheDeadlineOrLongBeforeIsNoExcuse) {
  const auto starving = [](std::uint32_t pid, std::int64_t from, std::int64_t to) {
    return late_loss(held().starved(pid, from, to).look(op::lost, 10, 970, 100, 950, 0).told(), usual).size();
  };
  EXPECT_EQ(starving(11, 940, 990), 1u);
  EXPECT_EQ(starving(10, 951, 990), 1u);
  EXPECT_EQ(starving(10, 900, 920), 1u);
  EXPECT_EQ(starving(10, 940, 990), 0u);
}

TEST(LateLoss, StarvedRightAfterAPause) {
  const auto good = held()
                        .starved(10, 2040, 2070)
                        .look(op::lost, 10, 2100, 100, 950, 0)
                        .done(op::stop, 500, 10)
                        .done(op::cont, 2000, 10)
                        .told();
  EXPECT_TRUE(late_loss(good, usual).empty());
  EXPECT_EQ(starved(good, usual), 1u);
}

TEST(LateLoss, StarvingDoesNotExcuseAHoldThatSaysItIsValid) {
  const auto bad = held().starved(10, 940, 990).look(op::observed, 10, 951, 100, 950, seen_valid).told();
  EXPECT_EQ(late_loss(bad, usual).size(), 1u);
}

TEST(LateLoss, RegisteredTooLateOrReleasedBeforeIsNoBreach) {
  EXPECT_TRUE(late_loss(held().look(op::lost, 10, 1500, 100, 950, 1).told(), usual).empty());
  EXPECT_TRUE(late_loss(held().release(10, 900, 100, 950).look(op::lost, 10, 960, 100, 950, 0).told(), usual).empty());
}

TEST(Stuck, StillWaitingAtTheEnd) {
  EXPECT_EQ(stuck(pen{}.attempt(10, 0).done(op::finish, 3000).told(), usual).size(), 1u);
  EXPECT_TRUE(stuck(pen{}.attempt(10, 0).done(op::kill, 100, 10).done(op::finish, 3000).told(), usual).empty());
}

TEST(Stuck, FreeLockWithAWaiterAndNoGrant) {
  const auto granted_at = [](std::int64_t t) {
    return pen{}.hold(10, 0, t, t + 5, 100).done(op::finish, 20000).told();
  };
  EXPECT_TRUE(stuck(granted_at(4500), usual).empty());
  EXPECT_EQ(stuck(granted_at(4501), usual).size(), 1u);
}

TEST(Stuck, WaitersThatGiveUpInTurnsAreOneStretch) {
  pen p;
  for (int i = 0; i < 20; ++i) {
    p.attempt(10, i * 1000, 0, 0).missed(10, i * 1000 + 900, miss::empty, 0);
    p.attempt(10, i * 1000 + 500, 0, 1).missed(10, i * 1000 + 1400, miss::empty, 1);
  }
  EXPECT_EQ(stuck(p.done(op::finish, 30000).told(), usual).size(), 1u);
}

TEST(Stuck, KnownHolderOutageAndPauseOfTheWaiterAreNotCounted) {
  const auto held_long = pen{}.hold(10, 0, 1, 6000, 100).hold(11, 2, 6100, 6110, 101).done(op::finish, 9000).told();
  // The holder's deadline was renewed all along: its release shows it.
  EXPECT_TRUE(stuck(held_long, usual).empty());
  const auto away = pen{}
                        .hold(10, 0, 6000, 6010, 100)
                        .done(op::away_begin, 1000)
                        .done(op::away_end, 3000)
                        .done(op::finish, 9000)
                        .told();
  EXPECT_TRUE(stuck(away, usual).empty());
  const auto paused = pen{}
                          .hold(10, 0, 6000, 6010, 100)
                          .done(op::stop, 1000, 10)
                          .done(op::cont, 3000, 10)
                          .done(op::finish, 9000)
                          .told();
  EXPECT_TRUE(stuck(paused, usual).empty());
}

TEST(Stuck, TheDeathOfAServerIsAnExcuseForAsLongAsItLastsAndForNothingElse) {
  const auto granted_at = [](std::int64_t t, std::int64_t died, std::int64_t well) {
    return pen{}
        .hold(10, 0, t, t + 5, 100)
        .done(op::away_begin, died)
        .done(op::away_end, well)
        .done(op::finish, 20000)
        .told();
  };
  EXPECT_TRUE(stuck(granted_at(6500, 1000, 3000), usual).empty());
  EXPECT_EQ(stuck(granted_at(6501, 1000, 3000), usual).size(), 1u);
  EXPECT_EQ(stuck(granted_at(4501, 5000, 9000), usual).size(), 1u);
  const auto for_ever =
      pen{}.attempt(10, 0).done(op::away_begin, 100).done(op::away_end, 2900).done(op::finish, 3000).told();
  EXPECT_EQ(stuck(for_ever, usual).size(), 1u);
}

TEST(Stuck, HolderThatWasPausedBeyondItsDeadlineIsNoExcuse) {
  const auto bad = pen{}
                       .attempt(10, 0)
                       .granted(10, 1, 100, 950)
                       .look(op::release, 10, 7000, 100, 950, seen_lost)
                       .hold(11, 2, 6900, 6910, 101)
                       .done(op::stop, 10, 10)
                       .done(op::cont, 6990, 10)
                       .done(op::finish, 9000)
                       .told();
  EXPECT_EQ(stuck(bad, usual).size(), 1u);
}

TEST(Stuck, PossibleHoldersWidenTheBoundFourTimesAtMost) {
  const auto with_ghosts = [](int ghosts, std::int64_t t) {
    pen p;
    p.hold(10, 0, t, t + 5, 100);
    for (int i = 0; i < ghosts; ++i) p.attempt(20 + i, 10).done(op::kill, 1000 * i + 500, 20 + i);
    return p.done(op::finish, 40000).told();
  };
  EXPECT_TRUE(stuck(with_ghosts(1, 6000), usual).empty());
  EXPECT_EQ(stuck(with_ghosts(1, 6001), usual).size(), 1u);
  EXPECT_TRUE(stuck(with_ghosts(9, 10500), usual).empty());
  EXPECT_EQ(stuck(with_ghosts(9, 10501), usual).size(), 1u);
}

TEST(Stuck, WhatTheDeadHaveLeftLingersAndMayBeginAnew) {
  limits l;
  l.lingers_ns = 3'000'000'000;  // B: 13.5 s
  const auto granted_at = [](std::int64_t t, std::int64_t anew) {
    return pen{}
        .attempt(10, 0)
        .granted(10, 1, 100, 951)
        .done(op::kill, 1000, 10)
        .done(op::leases_anew, anew)
        .hold(11, 2, t, t + 5, 101)
        .done(op::finish, 40000)
        .told();
  };
  EXPECT_TRUE(stuck(granted_at(18500, 6000), l).empty());
  EXPECT_EQ(stuck(granted_at(18503, 6000), l).size(), 1u);
  EXPECT_TRUE(stuck(granted_at(21500, 4000), l).empty());
  EXPECT_EQ(stuck(granted_at(21503, 4000), l).size(), 1u);
}

}  // namespace
}  // namespace fault
