// A hold that is lost must have had a cause, and only what has to do with it is one.
#include "checker/pen.hpp"

#include <gtest/gtest.h>

namespace fault {
namespace {

// Renewed last at 1000, or later, and lost when that ran out.
pen lost_at_its_deadline(std::int64_t renewed = 1000) {
  const auto end = renewed + 950;
  return pen{}
      .attempt(10, 0)
      .granted(10, 1, 100, 951)
      .look(op::observed, 10, renewed + 100, 100, end, seen_valid)
      .look(op::lost, 10, end, 100, end, 0)
      .release(10, end + 50, 100, end);
}
std::size_t count(const pen& p) { return needless_loss(p.told(), usual).size(); }

TEST(NeedlessLoss, OfAHoldThatNothingWasInTheWayOf) { EXPECT_EQ(count(lost_at_its_deadline()), 1u); }

TEST(NeedlessLoss, OfAHoldThatTheEngineTookFromItsOwner) {
  EXPECT_EQ(count(pen{}
                      .attempt(10, 0)
                      .granted(10, 1, 100, 951)
                      .look(op::lost, 10, 400, 100, 951, 0)
                      .release(10, 500, 100, 951)),
            1u);
}

TEST(NeedlessLoss, OfAHoldThatIsKeptAndGivenBackIsNone) { EXPECT_EQ(count(pen{}.hold(10, 0, 1, 900, 100)), 0u); }

TEST(NeedlessLoss, AfterTheReleaseIsNone) {
  EXPECT_EQ(count(pen{}.hold(10, 0, 1, 500, 100).look(op::lost, 10, 600, 100, 1400, 0)), 0u);
}

TEST(NeedlessLoss, OutageOfItsServerIsACause) {
  EXPECT_EQ(count(lost_at_its_deadline().away(1300, 1900)), 0u);
  EXPECT_EQ(count(lost_at_its_deadline().away(1300, 1900, 0b01)), 0u);
}

TEST(NeedlessLoss, OutageOfAnotherServerIsNoCause) {
  EXPECT_EQ(count(lost_at_its_deadline().away(1300, 1900, 0b10)), 1u);
}

TEST(NeedlessLoss, OutageThatIsOverForAWhileIsACauseAsLongAsClientsAreWary) {
  EXPECT_EQ(count(lost_at_its_deadline(5000).away(3300, 3900)), 0u);
}

TEST(NeedlessLoss, OutageLongBeforeTheLastRenewalIsNoCause) {
  EXPECT_EQ(count(lost_at_its_deadline(5000).away(1300, 1900)), 1u);
}

TEST(NeedlessLoss, LossOfItsDataIsACauseAndOfAnothersIsNot) {
  EXPECT_EQ(count(lost_at_its_deadline().lost(1300, 1310, 0, 0b01)), 0u);
  EXPECT_EQ(count(lost_at_its_deadline().lost(1300, 1310, 0, 0b10)), 1u);
}

TEST(NeedlessLoss, LossOfPlacesInTheQueueIsNoCause) {
  EXPECT_EQ(count(lost_at_its_deadline().lost(1300, 1310, lost_places, 0b01)), 1u);
}

TEST(NeedlessLoss, MissingAnswerIsACauseForThoseItConcerns) {
  EXPECT_EQ(count(lost_at_its_deadline().hindered(1300, 1800, 0, 10)), 0u);
  EXPECT_EQ(count(lost_at_its_deadline().hindered(1300, 1800, 0, 11)), 1u);
  EXPECT_EQ(count(lost_at_its_deadline().hindered(1300, 1800, 0b10)), 1u);
}

TEST(NeedlessLoss, OneServerOfAMajorityIsACauseOnlyWithASecondTrouble) {
  EXPECT_EQ(count(lost_at_its_deadline().hindered(1300, 2500, 0, 0, true)), 1u);  // lost in the first
  EXPECT_EQ(count(lost_at_its_deadline().hindered(300, 900, 0, 0, true)), 0u);    // lived through one before
  EXPECT_EQ(count(lost_at_its_deadline(5000).hindered(0, 900, 0, 0, true)), 0u);  // granted in one
}

TEST(NeedlessLoss, GrantSoonAfterATroubleHasPerhapsNotAllVotes) {
  const auto lost = [] { return pen{}.hold(11, 0, 1, 2, 99).attempt(10, 4000).granted(10, 4001, 100, 4951); };
  const auto in_the_next = [&] {
    return lost().look(op::lost, 10, 4951, 100, 4951, 0).release(10, 5000, 100, 4951).hindered(4200, 5000, 0, 0, true);
  };
  EXPECT_EQ(count(in_the_next()), 1u);
  EXPECT_EQ(count(in_the_next().hindered(3000, 3900, 0, 0, true)), 0u);
  EXPECT_EQ(count(in_the_next().hindered(500, 900, 0, 0, true)), 1u);
}

TEST(NeedlessLoss, StopOfTheProcessIsACauseAndOfAnotherIsNot) {
  EXPECT_EQ(count(lost_at_its_deadline().done(op::stop, 1300, 10).done(op::cont, 1500, 10)), 0u);
  EXPECT_EQ(count(lost_at_its_deadline().done(op::stop, 1300, 11).done(op::cont, 1500, 11)), 1u);
}

TEST(NeedlessLoss, BusyMachineIsACauseOnlyForMuchOfTheTime) {
  EXPECT_EQ(count(lost_at_its_deadline().starved(10, 1300, 1350)), 1u);
  EXPECT_EQ(count(lost_at_its_deadline().starved(10, 1300, 1700)), 0u);
}

TEST(Overlaps, LossOfPlacesInTheQueueIsNoExcuse) {
  const auto s = pen{}.hold(10, 0, 1, 900, 100).hold(11, 2, 400, 800, 101).lost(390, 395, lost_places).told();
  EXPECT_EQ(overlaps(s, usual).size(), 1u);
}

TEST(Overlaps, NamesAreKnownUpToSixtyThree) {
  const auto beside = [] {
    return pen{}.hold(10, 0, 1, 900, 100, std::uint16_t{40}).hold(11, 2, 400, 800, 101, std::uint16_t{40});
  };
  EXPECT_EQ(overlaps(beside().lost(390, 395, 0, 1ull << 41).told(), usual).size(), 1u);
  EXPECT_TRUE(overlaps(beside().lost(390, 395, 0, 1ull << 40).told(), usual).empty());
}

}  // namespace
}  // namespace fault
