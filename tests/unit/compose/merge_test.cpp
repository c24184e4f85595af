// What several nodes say, as one answer.
#include "engines/compose/redlock/merge.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace tyer::redlock {
namespace {

using namespace std::chrono_literals;
using engine::entry;
using engine::page;
using fates = std::vector<fate>;

engine::kept said(fates f, milliseconds ttl = 10s) { return {std::move(f), ttl}; }

constexpr time_point start{1000s};
constexpr auto h = fate::holding, g = fate::gone, u = fate::unknown;

id number(std::uint64_t n) {
  id i;
  std::memcpy(i.bytes.data(), &n, sizeof n);
  return i;
}

failure away() { return {why::unknown, make_error_code(errc::unavailable), "does not answer"}; }

template <class T>
survey<T> asked(bool* over = nullptr) {
  return survey<T>{5, start, start + 2s, 50ms, nullptr, [over](survey<T>&) {
                     if (over != nullptr) *over = true;
                   }};
}

TEST(survey_test, is_over_when_all_have_answered_or_failed) {
  bool over = false;
  auto s = asked<fate>(&over);
  for (std::size_t i = 0; i < 4; ++i) s.on_answer(i, away(), start);
  EXPECT_FALSE(over);
  s.on_answer(4, h, start);
  EXPECT_TRUE(over);
  EXPECT_FALSE(s.has_majority());
  EXPECT_NE(s.shortage({"a", "b", "c", "d", "e"}).words.find("b: does not answer"), std::string::npos);
}

TEST(survey_test, a_refusal_by_most_nodes_was_told_as_an_outage) {
  const failure no{why::refused, make_error_code(errc::refused), "NOPERM"};
  auto s = asked<fate>();
  for (std::size_t i = 0; i < 2; ++i) s.on_answer(i, no, start);
  s.on_answer(2, away(), start);
  s.on_answer(3, h, start);
  const std::vector<std::string> names{"a", "b", "c", "d", "e"};
  EXPECT_EQ(s.shortage(names).code, errc::unavailable) << "the others could decide";
  EXPECT_EQ(s.shortage(names).kind, why::unknown);
  s.on_answer(4, no, start);
  EXPECT_EQ(s.shortage(names).code, errc::refused);
  EXPECT_EQ(s.shortage(names).kind, why::refused);
  EXPECT_EQ(s.shortage(names).words, "NOPERM");
}

TEST(survey_test, the_others_have_one_node_time_out_when_a_majority_has_answered) {
  bool over = false;
  auto s = asked<fate>(&over);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(s.due(), start + 2s);
    s.on_answer(i, h, start + 1s);
  }
  EXPECT_EQ(s.due(), start + 1s + 50ms);
  s.on_time(start + 1s + 49ms);
  EXPECT_FALSE(over);
  s.on_time(start + 1s + 50ms);
  EXPECT_TRUE(over);
  s.on_answer(3, g, start + 2s);
  EXPECT_EQ(s.of(3), nullptr) << "too late";
}

TEST(tally_test, what_a_majority_holds_is_held) {
  auto s = asked<engine::kept>();
  s.on_answer(0, said(fates{h, h, g, h}), start);
  s.on_answer(1, said(fates{h, h, g, g}), start);
  s.on_answer(2, said(fates{h, g, g, g}), start);
  EXPECT_EQ(tally(s, 4), (fates{h, u, g, u}));
  s.on_answer(3, away(), start);
  EXPECT_EQ(tally(s, 4), (fates{h, u, g, u})) << "one that is away proves nothing";
  s.on_answer(4, said(fates{g, g, h, g}), start);
  EXPECT_EQ(tally(s, 4), (fates{h, u, g, g}));
}

TEST(tally_test, a_node_that_does_not_know_proves_nothing) {
  auto s = asked<engine::kept>();
  for (std::size_t i = 0; i < 5; ++i) s.on_answer(i, said(fates{i < 3 ? u : h}), start);
  EXPECT_EQ(tally(s, 1), fates{u});
}

TEST(tally_test, a_node_that_came_back_empty_does_not_end_a_hold) {
  auto s = asked<engine::kept>();
  for (std::size_t i = 0; i < 5; ++i) s.on_answer(i, said(fates{i == 2 ? g : h}), start);
  EXPECT_EQ(tally(s, 1), fates{h});
}

failure not_permitted() { return {why::refused, make_error_code(errc::refused), "NOPERM"}; }

// Of three nodes one refuses to be asked for one name, and so for all that are asked for with it, and one is away.
TEST(tally_test, of_others_that_were_refused_with_one_nothing_was_known_and_nobody_was_told_why) {
  survey<engine::kept> s{3, start, start + 2s, 50ms, nullptr, [](survey<engine::kept>&) {}};
  s.on_answer(0, said(fates{h, h}), start);
  s.on_answer(1, not_permitted(), start);
  s.on_answer(2, away(), start);
  EXPECT_EQ(tally(s, 2), (fates{u, u}));
  ASSERT_NE(refusal(s, {u, u}), nullptr) << "asked for alone two may know it";
  EXPECT_EQ(refusal(s, {u, u})->words, "NOPERM");
  EXPECT_EQ(refusal(s, {u}), nullptr) << "alone, the one that is away could know it";
  EXPECT_EQ(refusal(s, {h, u}), nullptr) << "what is known counts";
  EXPECT_EQ(refusal(s, {}), nullptr);
}

TEST(tally_test, of_one_that_most_nodes_refuse_that_is_the_reason) {
  survey<engine::kept> s{3, start, start + 2s, 50ms, nullptr, [](survey<engine::kept>&) {}};
  s.on_answer(0, said(fates{h}), start);
  s.on_answer(1, not_permitted(), start);
  EXPECT_EQ(refusal(s, {u}), nullptr);
  s.on_answer(2, not_permitted(), start);
  EXPECT_NE(refusal(s, {u}), nullptr);
}

TEST(tally_test, where_too_few_nodes_answer_no_refusal_is_the_reason) {
  auto s = asked<engine::kept>();
  s.on_answer(0, said(fates{h, h}), start);
  s.on_answer(1, not_permitted(), start);
  for (const std::size_t i : {2u, 3u, 4u}) s.on_answer(i, away(), start);
  EXPECT_EQ(refusal(s, {u, u}), nullptr);
}

TEST(tally_test, no_more_time_is_counted_than_by_the_node_that_keeps_it_for_the_shortest) {
  auto s = asked<engine::kept>();
  s.on_answer(0, said({h}, 10s), start);
  s.on_answer(1, said({h}, 4s), start);
  s.on_answer(2, away(), start);
  EXPECT_EQ(counted_by_all(s), 4s);
}

page shown(std::uint64_t who, std::uint64_t part, milliseconds left, fate what = h) {
  return {{entry{number(who), "order", what, engine::mode::exclusive, left, part, "somebody"}}, {}};
}

TEST(merge_test, a_hold_is_what_a_majority_has) {
  auto s = asked<page>();
  s.on_answer(0, shown(1, 9, 10s), start);
  s.on_answer(1, shown(1, 9, 8s), start);
  s.on_answer(2, shown(1, 11, 9s), start);
  s.on_answer(3, shown(2, 10, 9s), start);
  s.on_answer(4, shown(2, 10, 9s), start);
  const auto holds = holds_of_majority(s);
  ASSERT_EQ(holds.size(), 1u);
  EXPECT_EQ(holds[0].who, number(1));
  EXPECT_EQ(holds[0].part, 9u);
  EXPECT_EQ(holds[0].left, good_for(8s)) << "after that it is no majority any more";
}

TEST(merge_test, what_is_left_of_lost_attempts_is_no_hold) {
  auto s = asked<page>();
  s.on_answer(0, shown(1, 9, 10s), start);
  s.on_answer(1, shown(1, 9, 8s), start);
  s.on_answer(2, page{}, start);
  s.on_answer(3, shown(2, 9, 8s), start);
  s.on_answer(4, away(), start);
  EXPECT_TRUE(holds_of_majority(s).empty());
}

TEST(merge_test, what_the_silent_ones_could_make_a_hold_is_not_decided) {
  const page mine{{entry{.who = number(1), .name = "n", .left = 1s, .owner = {}}}, {}};
  auto s = asked<page>();
  for (std::size_t i = 0; i < 2; ++i) s.on_answer(i, page{mine}, start);
  EXPECT_TRUE(undecided(s));
  EXPECT_TRUE(holds_of_majority(s).empty());
  EXPECT_EQ(holds_that_may_be(s).size(), 1u);
  s.on_answer(2, away(), start);
  s.on_answer(3, page{}, start);
  EXPECT_TRUE(undecided(s)) << "the one that is away may have it, and the last one";
  s.on_answer(4, page{}, start);
  EXPECT_TRUE(undecided(s));
  auto other = asked<page>();
  for (std::size_t i = 0; i < 5; ++i) other.on_answer(i, i < 2 ? page{mine} : page{}, start);
  EXPECT_FALSE(undecided(other)) << "two of five, for certain";
  EXPECT_TRUE(holds_that_may_be(other).empty());
  auto held = asked<page>();
  for (std::size_t i = 0; i < 3; ++i) held.on_answer(i, page{mine}, start);
  EXPECT_FALSE(undecided(held));
}

TEST(merge_test, the_part_of_a_majority_is_waited_for) {
  auto s = asked<page>();
  s.on_answer(0, shown(1, 9, 10s), start);
  s.on_answer(1, shown(1, 11, 10s), start);
  s.on_answer(2, shown(1, 9, 10s), start);
  EXPECT_FALSE(undecided(s)) << "it is held";
  EXPECT_FALSE(settled(s)) << "but with which part";
  s.on_answer(3, shown(1, 9, 10s), start);
  EXPECT_TRUE(settled(s));
  EXPECT_EQ(holds_of_majority(s).at(0).part, 9u);
}

TEST(merge_test, a_hold_that_was_kept_is_not_shown_as_those_see_it_who_have_not_kept_it_yet) {
  auto s = asked<page>();
  s.on_answer(0, shown(1, 9, 120s), start);
  s.on_answer(1, shown(1, 9, 59s), start);
  s.on_answer(2, shown(1, 9, 59s), start);
  EXPECT_FALSE(settled(s)) << "a majority may have kept it";
  s.on_answer(3, shown(1, 9, 120s), start);
  EXPECT_FALSE(settled(s)) << "two have, and the last one may";
  s.on_answer(4, shown(1, 9, 120s), start);
  EXPECT_TRUE(settled(s));
  EXPECT_EQ(holds_of_majority(s).at(0).left, good_for(120s));
}

TEST(merge_test, nobody_is_waited_for_when_times_agree) {
  auto s = asked<page>();
  s.on_answer(0, shown(1, 9, 59'000ms), start);
  s.on_answer(1, shown(1, 9, 59'100ms), start);
  EXPECT_FALSE(settled(s));
  s.on_answer(2, shown(1, 9, 59'002ms), start);
  EXPECT_TRUE(settled(s));
}

TEST(merge_test, as_many_as_a_majority_has_counted) {
  auto s = asked<std::uint32_t>();
  s.on_answer(0, 1u, start);
  s.on_answer(1, 1u, start);
  EXPECT_EQ(counted_by_majority(s), std::nullopt);
  s.on_answer(2, 0u, start);
  EXPECT_EQ(counted_by_majority(s), std::nullopt) << "two have it, and the silent ones may";
  s.on_answer(3, 1u, start);
  EXPECT_EQ(counted_by_majority(s), 1u);
}

// It was: nobody, since a majority had answered, and its majority had nothing.
TEST(merge_test, a_holder_was_not_counted_if_nodes_without_it_were_quicker) {
  auto s = asked<std::uint32_t>();
  s.on_answer(4, 0u, start);
  s.on_answer(3, 0u, start);
  s.on_answer(2, 1u, start);
  EXPECT_EQ(counted_by_majority(s), std::nullopt);
  s.on_answer(1, away(), start);
  EXPECT_EQ(counted_by_majority(s), std::nullopt) << "the one that is away may have it";
  s.on_answer(0, 0u, start);
  EXPECT_EQ(counted_by_majority(s), 0u);
}

TEST(merge_test, nobody_is_waited_for_when_a_majority_has_counted_none) {
  auto s = asked<std::uint32_t>();
  for (std::size_t i = 0; i < 3; ++i) s.on_answer(i, 0u, start);
  EXPECT_EQ(counted_by_majority(s), 0u);
}

}  // namespace
}  // namespace tyer::redlock
