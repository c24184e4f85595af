// Who is served first: each history that breaks the order stands beside those that only look like it.
#include "checker/pen.hpp"

#include <gtest/gtest.h>

namespace fault {
namespace {

constexpr auto x = mode::exclusive;
constexpr auto s = mode::shared;
constexpr auto p = mode::permit;

// Ticket 1 has been in the queue since 11; each next word of the engine comes in time.
pen queued(mode how = x) { return pen{}.asked(1, 10, how).waits(1, 10, 11).waits(1, 200, 201).waits(1, 400, 401); }

TEST(Order, LaterTicketIsGrantedWhileAnEarlierOneStillWaits) {
  EXPECT_EQ(order(queued().asked(2, 20).waits(2, 20, 21).serves(2, 300, 301, 900).told()).size(), 1u);
}

TEST(Order, LaterTicketIsGrantedBeforeAnEarlierOneByItsToken) {
  const auto with_parts = [](std::uint64_t first, std::uint64_t second) {
    return queued().asked(2, 20).waits(2, 20, 21).serves(2, 410, 411, second).serves(1, 412, 413, first).told();
  };
  EXPECT_EQ(order(with_parts(901, 900)).size(), 1u);
  EXPECT_TRUE(order(with_parts(900, 901)).empty());  // it was served first, and only heard of it later
}

TEST(Order, ATryNeverOvertakes) { EXPECT_EQ(order(queued().asked(2, 20).serves(2, 20, 21, 900).told()).size(), 1u); }

TEST(Order, InTurn) {
  EXPECT_TRUE(
      order(queued().serves(1, 410, 411, 900).asked(2, 20).waits(2, 20, 21).serves(2, 412, 413, 901).told()).empty());
}

TEST(Order, WhoCameBeforeTheOtherWasKnownToWaitMayBeFirst) {
  // 2 came at 11 at the latest, when 1 might not have been in the queue.
  EXPECT_TRUE(order(queued().asked(2, 11).waits(2, 11, 12).serves(2, 300, 301, 900).told()).empty());
  EXPECT_TRUE(order(queued().asked(2, 5).waits(2, 300, 301).serves(2, 302, 303, 900).told()).empty());
}

TEST(Order, TheLastWordBeforeTheGrantProvesNothing) {
  EXPECT_TRUE(order(queued().asked(2, 20).serves(2, 402, 403, 900).told()).empty());
}

TEST(Order, APlaceThatMayHaveLapsedIsForfeited) {
  // Good until 10 + 500 at least; the next word was read at 511.
  const auto with_next = [](std::int64_t t) {
    return pen{}.asked(1, 10).waits(1, 10, 11).asked(2, 20).serves(2, 300, 301, 900).waits(1, t - 1, t).told();
  };
  EXPECT_EQ(order(with_next(510)).size(), 1u);
  EXPECT_TRUE(order(with_next(511)).empty());
}

TEST(Order, AfterALapseThePlaceCountsFromTheNextWord) {
  const auto with_second_at = [](std::int64_t t) {
    return pen{}
        .asked(1, 10)
        .waits(1, 10, 11)
        .waits(1, 600, 601)
        .asked(2, t)
        .waits(2, t, t + 1)
        .serves(2, 700, 701, 900)
        .waits(1, 800, 801)
        .told();
  };
  EXPECT_TRUE(order(with_second_at(601)).empty());
  EXPECT_EQ(order(with_second_at(602)).size(), 1u);
}

TEST(Order, LossOfDataForfeitsThePlace) {
  const auto lost_at = [](std::int64_t t) {
    return queued().asked(2, 20).serves(2, 300, 301, 900).done(op::data_loss, t, 0, t + 1).told();
  };
  EXPECT_TRUE(order(lost_at(250)).empty());
  EXPECT_TRUE(order(lost_at(390)).empty());
  EXPECT_EQ(order(lost_at(5)).size(), 1u);
  EXPECT_EQ(order(lost_at(402)).size(), 1u);
}

TEST(Order, WhoIsGoneOrGivesUpIsOvertaken) {
  EXPECT_TRUE(order(pen{}
                        .asked(1, 10)
                        .waits(1, 10, 11)
                        .given_up(1, 100)
                        .asked(2, 20)
                        .serves(2, 110, 111, 900)
                        .waits(1, 120, 121)  // an older request, executed late
                        .told())
                  .empty());
  EXPECT_TRUE(order(pen{}
                        .asked(1, 10)
                        .waits(1, 10, 11)
                        .gone(1, 100, 101)
                        .asked(2, 20)
                        .serves(2, 110, 111, 900)
                        .waits(1, 120, 121)
                        .told())
                  .empty());
}

TEST(Order, ReadersMayPassReadersButNobodyElse) {
  const auto passing = [](mode first, mode second) {
    return order(queued(first).asked(2, 20, second).serves(2, 300, 301, 900).told()).size();
  };
  EXPECT_EQ(passing(s, s), 0u);
  EXPECT_EQ(passing(x, s), 1u);  // a writer that waits stops readers that come later
  EXPECT_EQ(passing(s, x), 1u);
  EXPECT_EQ(passing(p, p), 1u);  // who wants many permits is not overtaken by those who want few
}

TEST(Order, PlacesAreCountedIfSomebodyCouldHavePassed) {
  EXPECT_EQ(places_seen(queued().told()), 1u);
  EXPECT_EQ(places_seen(pen{}.asked(1, 10).waits(1, 10, 11).serves(1, 12, 13, 900).told()), 1u);
  EXPECT_EQ(places_seen(pen{}.asked(1, 10).waits(1, 10, 11).asked(2, 10).serves(2, 10, 11, 900).told()), 0u);
}

// 1 was served long before 2 came, with a larger part.
pen a_smaller_part_afterwards() {
  return pen{}.asked(1, 10).waits(1, 10, 11).serves(1, 12, 13, 900).asked(2, 100).serves(2, 100, 101, 800);
}

TEST(Order, PartsAreNotComparedAcrossALossOfWhatTheyAreCountedWith) {
  EXPECT_EQ(order(a_smaller_part_afterwards().told()).size(), 1u);
  EXPECT_EQ(order(a_smaller_part_afterwards().lost(50, 51, 0).told()).size(), 1u);
  EXPECT_EQ(order(a_smaller_part_afterwards().lost(50, 51, lost_with_tokens, 0b10).told()).size(), 1u);
  EXPECT_TRUE(order(a_smaller_part_afterwards().lost(50, 51, lost_with_tokens, 0b01).told()).empty());
}

TEST(Order, AGrantDuringALossMayHaveBeenAfterIt) {
  EXPECT_TRUE(order(a_smaller_part_afterwards().lost(90, 110, lost_with_tokens).told()).empty());
  EXPECT_TRUE(order(a_smaller_part_afterwards().lost(110, 90, lost_with_tokens).told()).empty());
  EXPECT_EQ(order(a_smaller_part_afterwards().lost(102, 110, lost_with_tokens).told()).size(), 1u);
}

// Ticket 1 was handed 801 before ticket 2 came and was given 802, but its client had seen 900.
TEST(Order, AClaimThatIsRaisedAboveWhatWasSeenBeforeALossIsNoOvertaking) {
  const auto with_claim = [](std::uint64_t part) {
    return pen{}
        .asked(9, 1, p)
        .serves(9, 1, 2, 900)
        .lost(5, 6, lost_with_tokens)
        .asked(1, 10, p)
        .waits(1, 10, 11)
        .asked(2, 20, p)
        .serves(2, 20, 21, 802)
        .serves(1, 30, 31, part)
        .told();
  };
  EXPECT_TRUE(order(with_claim(901)).empty());
  EXPECT_EQ(order(with_claim(902)).size(), 1u) << "nobody had seen so much";
}

TEST(Order, WhoIsOvertakenAfterSuchALossStillIs) {
  EXPECT_EQ(order(queued().asked(2, 20).serves(2, 300, 301, 900).lost(5, 6, lost_with_tokens).told()).size(), 1u);
}

TEST(Order, LossOfAnotherNameEndsNoStay) {
  EXPECT_EQ(order(queued().asked(2, 20).serves(2, 300, 301, 900).lost(250, 251, lost_places, 0b10).told()).size(), 1u);
}

TEST(Order, NamesHaveNothingToDoWithEachOther) {
  auto told = queued().asked(2, 20).serves(2, 300, 301, 900).told();
  for (event& e : told.engine) e.name = static_cast<std::uint16_t>(e.hold);
  EXPECT_TRUE(order(told).empty());
}

}  // namespace
}  // namespace fault
