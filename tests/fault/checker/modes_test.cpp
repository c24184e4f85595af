// The checks of holds that are not all exclusive: each is shown a bad history, and the good one beside it.
#include "checker/pen.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace fault {
namespace {

constexpr auto x = mode::exclusive;
constexpr auto s = mode::shared;
constexpr auto p = mode::permit;

TEST(ReadersBesideWriter, ReaderInsideTheWindowOfAWriter) {
  const auto bad = pen{}.hold(10, 0, 1, 50, 100, x).hold(11, 2, 40, 90, 101, s).told();
  EXPECT_EQ(readers_beside_writer(bad, usual).size(), 1u);
  EXPECT_TRUE(overlaps(bad, usual).empty());
}

TEST(ReadersBesideWriter, WriterInsideTheWindowsOfTwoReaders) {
  const auto bad = pen{}.hold(10, 0, 1, 30, 100, s).hold(11, 0, 2, 30, 101, s).hold(12, 2, 29, 60, 102, x).told();
  EXPECT_EQ(readers_beside_writer(bad, usual).size(), 2u);
}

TEST(ReadersBesideWriter, ReadersBesideReaders) {
  const auto good = pen{}
                        .hold(10, 0, 1, 30, 100, s)
                        .hold(11, 0, 2, 40, 101, s)
                        .hold(12, 2, 40, 60, 102, x)
                        .hold(13, 3, 60, 61, 103, s)
                        .told();
  EXPECT_TRUE(readers_beside_writer(good, usual).empty());
  EXPECT_TRUE(overlaps(good, usual).empty());
}

TEST(ReadersBesideWriter, LossOfDataExcusesOldAgainstNew) {
  pen told = pen{}.hold(10, 0, 1, 800, 100, s).hold(11, 396, 400, 700, 101, x);
  EXPECT_EQ(readers_beside_writer(told.told(), usual).size(), 1u);
  EXPECT_TRUE(readers_beside_writer(told.done(op::data_loss, 390, 0, 395).told(), usual).empty());
}

// A failover at 1000, after which the old master goes on until 3000. The reader from before it is on the new master, where its
// hold was known. On the old one its lease ended, and a writer came.
TEST(ReadersBesideWriter, AReaderThatWentOverToTheNewMasterBesideAWriterOfTheOldOne) {
  pen told = pen{}.hold(10, 500, 510, 4500, 100, s).hold(11, 2890, 2900, 3800, 101, x);
  EXPECT_EQ(readers_beside_writer(told.told(), usual).size(), 1u);
  EXPECT_TRUE(readers_beside_writer(told.done(op::data_loss, 1000, 0, 3000).told(), usual).empty());
}

TEST(ReadersBesideWriter, TwoOfBeforeTheFailoverAreNotExcused) {
  pen told = pen{}.hold(10, 0, 1, 2500, 100, s).hold(11, 2, 900, 2400, 101, x);
  EXPECT_EQ(readers_beside_writer(told.done(op::data_loss, 1000, 0, 1010).told(), usual).size(), 1u);
}

// A reader that becomes a writer at 20 and was told so at 30, and gives it back at 60.
pen upgraded() {
  return pen{}
      .hold(10, 0, 1, 90, 100, s)
      .convert(10, 20, 100, x)
      .converted(10, 30, 105, 951, x)
      .release(10, 60, 105, 951);
}
// A writer that asks at 20 to be a reader, and was told so at 30.
pen downgraded() {
  return pen{}
      .hold(10, 0, 1, 90, 100, x)
      .convert(10, 20, 100, s)
      .converted(10, 30, 105, 951, s)
      .release(10, 60, 105, 951);
}

TEST(Conversions, AnUpgradedHoldIsAWriterFromItsReturn) {
  const auto with_reader = [](std::int64_t from, std::int64_t until) {
    return upgraded().hold(11, 0, from, until, 101, s).told();
  };
  EXPECT_TRUE(readers_beside_writer(with_reader(5, 30), usual).empty());
  EXPECT_EQ(readers_beside_writer(with_reader(5, 31), usual).size(), 1u);
  EXPECT_EQ(readers_beside_writer(with_reader(59, 70), usual).size(), 1u);
  EXPECT_TRUE(readers_beside_writer(with_reader(60, 70), usual).empty());
}

TEST(Conversions, ADowngradedHoldIsAReaderSinceItAsked) {
  EXPECT_TRUE(readers_beside_writer(downgraded().hold(11, 0, 21, 40, 106, s).told(), usual).empty());
  EXPECT_EQ(readers_beside_writer(downgraded().hold(11, 0, 19, 40, 101, s).told(), usual).size(), 1u);
  EXPECT_EQ(readers_beside_writer(downgraded().hold(11, 0, 25, 28, 106, x).told(), usual).size(), 1u);
}

TEST(Conversions, OneThatFailedChangesNothing) {
  const auto bad = pen{}
                       .hold(10, 0, 1, 90, 100, s)
                       .convert(10, 20, 100, x)
                       .missed(10, 30, miss::empty)
                       .hold(11, 0, 40, 50, 101, x)
                       .told();
  EXPECT_EQ(readers_beside_writer(bad, usual).size(), 1u);
  EXPECT_TRUE(overlaps(bad, usual).empty());
}

TEST(Conversions, OfAHoldThatWasNeverGrantedGiveNoVerdict) {
  EXPECT_THROW(pen{}.convert(10, 20, 100, s).told(), std::runtime_error);
}

TEST(Conversions, NeedALargerToken) {
  EXPECT_TRUE(token_order(upgraded().told()).empty());
  EXPECT_TRUE(token_order(downgraded().told()).empty());
  const auto same = pen{}.hold(10, 0, 1, 90, 100, x).convert(10, 20, 100, s).converted(10, 30, 99, 951, s).told();
  EXPECT_EQ(token_order(same).size(), 1u);
}

TEST(PermitsOver, OneSlotForTwo) {
  const auto bad = pen{}.hold(10, 0, 1, 50, 100, p, 0b011).hold(11, 2, 40, 90, 101, p, 0b010).told();
  EXPECT_EQ(permits_over(bad, usual).size(), 1u);
}

TEST(PermitsOver, MoreThanThereAre) {
  // Slots that are not the ones it was to have: their number tells.
  const auto bad = pen{}
                       .hold(10, 0, 1, 50, 100, p, 0b011)
                       .hold(11, 0, 2, 50, 101, p, 0b100)
                       .hold(12, 0, 3, 50, 102, p, 0b1000)
                       .told();
  EXPECT_EQ(permits_over(bad, usual).size(), 2u);  // a slot that there is not, and four of three
}

TEST(PermitsOver, FewerSlotsThanAskedFor) {
  auto told = pen{}.hold(10, 0, 1, 50, 100, p, 0b011).told();
  EXPECT_TRUE(permits_over(told, usual).empty());
  told.grants[0].slots = 0b001;
  EXPECT_EQ(permits_over(told, usual).size(), 1u);
}

TEST(PermitsOver, AllTakenIsFine) {
  const auto good = pen{}
                        .hold(10, 0, 1, 50, 100, p, 0b011)
                        .hold(11, 0, 2, 60, 101, p, 0b100)
                        .hold(12, 0, 50, 70, 102, p, 0b001)
                        .told();
  EXPECT_TRUE(permits_over(good, usual).empty());
  EXPECT_TRUE(overlaps(good, usual).empty());
}

TEST(PermitsOver, LossOfDataExcusesOldAgainstNew) {
  pen told = pen{}.hold(10, 0, 1, 800, 100, p, 0b011).hold(11, 396, 400, 700, 101, p, 0b011);
  EXPECT_EQ(permits_over(told.told(), usual).size(), 2u);
  EXPECT_TRUE(permits_over(told.done(op::data_loss, 390, 0, 395).told(), usual).empty());
}

TEST(TokenOrderOfModes, OnlyBetweenThoseThatConflict) {
  EXPECT_TRUE(token_order(pen{}.hold(10, 0, 1, 9, 100, s).hold(11, 2, 3, 9, 99, s).told()).empty());
  EXPECT_EQ(token_order(pen{}.hold(10, 0, 1, 2, 100, s).hold(11, 3, 4, 9, 99, x).told()).size(), 1u);
  EXPECT_EQ(token_order(pen{}.hold(10, 0, 1, 2, 100, x).hold(11, 3, 4, 9, 99, s).told()).size(), 1u);
  EXPECT_TRUE(token_order(pen{}.hold(10, 0, 1, 2, 100, p, 1).hold(11, 3, 4, 9, 99, p, 2).told()).empty());
  EXPECT_EQ(token_order(pen{}.hold(10, 0, 1, 2, 100, p, 1).hold(11, 3, 4, 9, 99, p, 3).told()).size(), 1u);
}

TEST(TokenOrderOfModes, ATokenDoesNotChangeByItself) {
  const auto seen_again = [](std::uint64_t token) {
    auto told = pen{}.hold(10, 0, 1, 9, 100).told();
    told.grants[0].looks.push_back({.at = 2, .deadline = 900, .valid = true, .token = token});
    return told;
  };
  EXPECT_TRUE(token_order(seen_again(100)).empty());
  EXPECT_EQ(token_order(seen_again(101)).size(), 1u);
}

TEST(StaleAcceptedOfModes, AReaderAfterAWriterAndAWriterAfterAReader) {
  const auto ok = verdict::accepted;
  EXPECT_EQ(stale_accepted(pen{}.use(5, 50, ok, x).use(4, 40, ok, s).told()).size(), 1u);
  EXPECT_EQ(stale_accepted(pen{}.use(5, 50, ok, s).use(4, 40, ok, x).told()).size(), 1u);
  EXPECT_EQ(stale_accepted(pen{}.use(5, 50, ok, x).use(5, 50, ok, s).told()).size(), 1u);
  EXPECT_TRUE(stale_accepted(pen{}.use(5, 50, ok, s).use(4, 40, ok, s).use(6, 60, ok, x).told()).empty());
}

// A failover lets a writer be overtaken by readers. Refused, it has written nothing that a reader with a smaller token could
// have missed.
TEST(StaleAcceptedOfModes, AWriterThatWasRefusedMakesNoReaderStale) {
  const auto ok = verdict::accepted, no = verdict::stale;
  EXPECT_TRUE(stale_accepted(pen{}.use(6, 60, ok, s).use(5, 50, no, x).use(4, 40, ok, s).told()).empty());
  EXPECT_EQ(stale_accepted(pen{}.use(5, 50, no, x).use(4, 40, ok, s).told()).size(), 1u)
      << "it should have been let in";
}

TEST(StaleAcceptedOfModes, EverySlotIsAThingOfItsOwn) {
  const auto ok = verdict::accepted;
  EXPECT_TRUE(stale_accepted(pen{}.use(5, 50, ok, p, 1).use(4, 40, ok, p, 2).told()).empty());
  EXPECT_EQ(stale_accepted(pen{}.use(5, 50, ok, p, 1).use(4, 40, ok, p, 3).told()).size(), 1u);
  EXPECT_TRUE(stale_accepted(pen{}.use(5, 50, ok, p, 1).use(4, 40, verdict::stale, p, 3).told()).empty());
}

TEST(StuckOfModes, ReadersAreInTheWayOfWritersOnly) {
  // Somebody reads all the time.
  const auto base = [] { return pen{}.hold(10, 0, 1, 9000, 100, s).done(op::finish, 9000); };
  EXPECT_TRUE(stuck(base().hold(11, 2, 8000, 8010, 101, x).told(), usual).empty());
  EXPECT_EQ(stuck(base().hold(11, 2, 8000, 8010, 101, s).told(), usual).size(), 1u);
}

TEST(StuckOfModes, PermitsAreInTheWayWhenTooFewAreLeft) {
  const auto base = [](std::uint16_t slots) {
    return pen{}.hold(10, 0, 1, 9000, 100, p, slots).done(op::finish, 9000);
  };
  EXPECT_EQ(stuck(base(0b001).hold(11, 2, 8000, 8010, 101, p, 0b010).told(), usual).size(), 1u);
  EXPECT_TRUE(stuck(base(0b111).hold(11, 2, 8000, 8010, 101, p, 0b001).told(), usual).empty());
  EXPECT_TRUE(stuck(base(0b011).hold(11, 2, 8000, 8010, 101, p, 0b110).told(), usual).empty());
}

TEST(StuckOfModes, NamesOfAMultiMutexAreJudgedTogether) {
  const auto waited = [](std::int64_t until) {
    auto told = pen{}.attempt(10, 0, 1).granted(10, until, 100, until + 900, 1).done(op::finish, 30000).told();
    told.attempts[0].flags = told.grants[0].flags = is_one_of_many;
    return told;
  };
  EXPECT_TRUE(stuck(waited(13500), usual).empty());
  EXPECT_EQ(stuck(waited(13501), usual).size(), 1u);
}

}  // namespace
}  // namespace fault
