#include "engines/zookeeper/line.hpp"

#include "core/token.hpp"
#include "engines/zookeeper/names.hpp"

#include <gtest/gtest.h>

namespace tyer::zookeeper {

namespace {

std::string hex(char c) { return std::string(32, c); }
std::string node(const std::string& word, char who, const std::string& rest) {
  return word + '-' + hex(who) + '-' + rest;
}
id by(char c) { return read_contender(node("x", c, "0000000001"))->who; }

}  // namespace

TEST(zookeeper_line, names_come_back_as_they_were) {
  const auto c = read_contender(node("p2.4", 'a', "0000000012"));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->take, 2u);
  EXPECT_EQ(c->capacity, 4u);
  EXPECT_EQ(c->number, 12);
  EXPECT_EQ(new_node(mode::permit, c->who, 2, 4), node("p2.4", 'a', ""));
  EXPECT_EQ(moved_node(mode::permit, *c), node("p2.4", 'a', "0000000012h"));
  EXPECT_EQ(read_contender(moved_node(mode::permit, *c))->number, 12);
  const auto reader = *read_contender(node("s", 'b', "0000000007h"));
  const auto u = read_contender(upgrading_node(reader, nullptr) + "0000000030");
  ASSERT_TRUE(u);
  EXPECT_TRUE(u->upgrading);
  EXPECT_EQ(u->number, 7);
  EXPECT_EQ(u->mark, 30);
  EXPECT_EQ(u->first, 30);
  EXPECT_EQ(upgrading_node(*u, nullptr), u->node);
  EXPECT_EQ(upgrading_node(*u, &*c), node("u", 'b', "0000000007.0000000012.0000000030"));
  EXPECT_EQ(read_contender(upgrading_node(*u, &*c))->first, 12);
}

TEST(zookeeper_line, a_place_and_its_hold_are_one) {
  const auto place = node("w", 'a', "0000000003"), hold = node("x", 'a', "0000000003h");
  const auto waits = read_contender(place);
  ASSERT_TRUE(waits);
  EXPECT_EQ(new_place(waits->who), node("w", 'a', ""));
  EXPECT_EQ(moved_node(mode::exclusive, *waits), hold);
  EXPECT_TRUE(waits->is_place());
  EXPECT_EQ(waits->watched(), place);
  const line l{{node("x", 'b', "0000000005"), hold, place, node("s", 'c', "0000000004")}};
  ASSERT_EQ(l.all().size(), 3u);
  const contender* holder = l.find(by('a'));
  EXPECT_TRUE(l.holds(*holder) && holder->has_both());
  EXPECT_EQ(holder->node, hold);
  EXPECT_EQ(holder->watched(), place);
  EXPECT_EQ(line{std::vector<std::string>{hold}}.find(by('a'))->watched(), hold);
  EXPECT_EQ((line{{place, node("x", 'b', "0000000003h")}}.all().size()), 2u) << "of another";
}

TEST(zookeeper_line, a_number_past_the_end_of_32_bits_is_before_all) {
  const auto c = read_contender(node("x", 'a', "-2147483648"));
  ASSERT_TRUE(c);
  EXPECT_EQ(moved_node(mode::exclusive, *c), node("x", 'a', "-2147483648h"));
}

// Whoever may write there made every client take gigabytes for slots that no semaphore has.
TEST(zookeeper_line, more_permits_than_there_may_be_are_a_stranger) {
  EXPECT_TRUE(read_contender(node("p1.65536", 'a', "1")));
  EXPECT_FALSE(read_contender(node("p1.65537", 'a', "1")));
  record_of_name r;
  r.slots[1] = {capacity_max - 1};
  EXPECT_TRUE(read_record_of_name(write(r)));
  r.slots[2] = {capacity_max};
  EXPECT_FALSE(read_record_of_name(write(r)));
}

// Behind the last one servers give it again and again: who came later could stand before who held the name.
TEST(zookeeper_line, a_name_whose_numbers_are_all_but_used_up_gives_none) {
  EXPECT_EQ(numbers_given(0, 0), 0u);
  EXPECT_EQ(numbers_given(2 * 7 - 3, 3), 7u);
  const std::uint32_t most = 0x7fffffff, nodes = 3;
  EXPECT_EQ(numbers_given(static_cast<std::int32_t>(2 * most - nodes), nodes), most)
      << "what is shown has no sign left";
  EXPECT_GE(numbers_given(static_cast<std::int32_t>(2 * most - nodes), nodes), numbers_max);
  EXPECT_LT(numbers_given(static_cast<std::int32_t>(2 * (numbers_max - 1)), 0), numbers_max);
}

TEST(zookeeper_line, strangers_are_nobody) {
  for (const auto& text : {std::string{"lock-0000000001"}, std::string{}, node("y", 'a', "1"), node("p5.4", 'a', "1"),
                           node("x", 'g', "1"), node("x", 'a', ""), node("u", 'a', "12"), node("u", 'a', "12.13"),
                           node("u", 'a', "12.x.13"), node("w", 'a', "12h")}) {
    EXPECT_FALSE(read_contender(text)) << text;
  }
}

TEST(zookeeper_line, the_first_exclusive_holds_alone) {
  const line l{{node("x", 'b', "0000000002"), node("x", 'a', "0000000001"), node("s", 'c', "0000000003")}};
  EXPECT_EQ(l.holders(), 1u);
  EXPECT_TRUE(l.holds(*l.find(by('a'))));
  EXPECT_EQ(l.ahead(*l.find(by('c'))), 1u);
  EXPECT_EQ(l.in_the_way_of(*l.find(by('b')))->who, by('a'));
  EXPECT_EQ(l.in_the_way_of(*l.find(by('c')))->who, by('b'));
}

TEST(zookeeper_line, readers_hold_together_up_to_the_first_writer) {
  const line l{{node("s", 'a', "1"), node("s", 'b', "2"), node("x", 'c', "3"), node("s", 'd', "4")}};
  EXPECT_EQ(l.holders(), 2u);
  EXPECT_FALSE(l.fits(mode::shared, 1, 1));
  EXPECT_EQ(l.in_the_way_of(*l.find(by('d')))->who, by('c'));
}

TEST(zookeeper_line, an_upgrade_holds_off_only_those_who_came_after_its_mark) {
  const line l{{node("u", 'a', "1..5"), node("s", 'b', "2"), node("s", 'c', "6")}};
  EXPECT_EQ(l.holders(), 2u);
  EXPECT_EQ(l.upgrade()->who, by('a'));
  EXPECT_EQ(l.in_the_way_of(*l.find(by('c')))->who, by('a'));
}

// It had a smaller number than the mark, so that it counted as one that held the name before.
TEST(zookeeper_line, a_reader_that_waits_does_not_go_before_an_upgrade_when_the_writer_between_them_leaves) {
  const line before{{node("s", 'a', "1"), node("s", 'b', "2"), node("x", 'c', "3"), node("s", 'd', "4")}};
  const auto* first = before.unmarked_behind(*before.find(by('a')));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->who, by('c'));
  const auto u = upgrading_node(*before.find(by('a')), first) + "0000000005";
  line l{{u, node("s", 'b', "2"), node("x", 'c', "3"), node("s", 'd', "4")}};
  EXPECT_EQ(l.unmarked_behind(*l.find(by('a'))), nullptr);
  l.remove(by('c'));
  EXPECT_EQ(l.holders(), 2u);
  EXPECT_EQ(l.in_the_way_of(*l.find(by('d')))->who, by('a'));
  EXPECT_FALSE(l.has_turn(*l.find(by('a'))));
  l.remove(by('b'));
  EXPECT_TRUE(l.has_turn(*l.find(by('a'))));
  EXPECT_FALSE(l.has_turn(*l.find(by('d'))));
}

// Taken back, it had its old part again, which is smaller than those of readers that came and went meanwhile.
TEST(zookeeper_line, an_upgrade_that_has_its_turn_is_exclusive_before_its_owner_knows) {
  line l{{node("u", 'a', "1..5"), node("s", 'b', "2")}};
  EXPECT_FALSE(l.is_exclusive(*l.find(by('a'))));
  l.remove(by('b'));
  EXPECT_TRUE(l.is_exclusive(*l.find(by('a'))));
  const line writers{{node("x", 'a', "1"), node("x", 'b', "2")}};
  EXPECT_TRUE(writers.is_exclusive(*writers.find(by('a'))));
  EXPECT_FALSE(writers.is_exclusive(*writers.find(by('b'))));
}

TEST(zookeeper_line, whoever_came_to_wait_between_the_look_and_the_mark_is_noted_afterwards) {
  const line l{{node("u", 'a', "1..5"), node("s", 'b', "2"), node("x", 'c', "3"), node("s", 'd', "4")}};
  const auto* late = l.unmarked_behind(*l.find(by('a')));
  ASSERT_TRUE(late);
  EXPECT_EQ(late->who, by('c'));
  const line after_the_mark{{node("u", 'a', "1..5"), node("s", 'b', "2"), node("x", 'c', "6")}};
  EXPECT_EQ(after_the_mark.unmarked_behind(*after_the_mark.find(by('a'))), nullptr);
}

TEST(zookeeper_line, permits_hold_as_far_as_they_fit_and_few_do_not_overtake_many) {
  line l{{node("p2.4", 'a', "1"), node("p3.4", 'b', "2"), node("p1.4", 'c', "3")}};
  EXPECT_EQ(l.holders(), 1u);
  EXPECT_FALSE(l.fits(mode::permit, 1, 4));
  record_of_name r;
  EXPECT_TRUE(r.assign(l));
  EXPECT_FALSE(r.assign(l));
  l.remove(by('a'));
  EXPECT_EQ(l.holders(), 2u);
  r.assign(l);
  EXPECT_EQ(r.slots[2], (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_EQ(r.slots[3], std::vector<std::uint32_t>{3});
  EXPECT_FALSE(r.slots.contains(1));
}

TEST(zookeeper_line, records_come_back_as_they_were_and_nothing_else_is_one) {
  const record r{std::chrono::seconds{3}, std::chrono::seconds{9}, 77, 2, "please", "me"};
  EXPECT_EQ(read_record(write(r))->asked, "please");
  EXPECT_EQ(read_record(write(r))->part, 77u);
  for (const char* text : {"", "hello", "10.0.0.1"}) EXPECT_FALSE(read_record(text));
  record_of_name n{true, 5, 3, {1, 3}, {{1, {0, 2}}, {9, {1}}}};
  EXPECT_EQ(read_record_of_name(write(n))->floor_up_to, 3);
  EXPECT_EQ(read_record_of_name(write(n))->slots, n.slots);
  EXPECT_EQ(read_record_of_name(write(n))->company, n.company);
  EXPECT_EQ(read_record_of_name(write(n))->floor_at(44), 44);
  EXPECT_FALSE(read_record_of_name("hello"));
}

// A reader that claimed late had a new part, and the writer behind it the one of its creation, which was smaller.
TEST(zookeeper_line, whoever_was_created_before_the_floor_has_a_larger_part_than_the_floor_or_one_of_its_company) {
  const line l{{node("x", 'a', "1h"), node("s", 'b', "2"), node("s", 'c', "3"), node("x", 'd', "4")}};
  record_of_name r;
  const auto late = *l.find(by('b')), later = *l.find(by('c')), writer = *l.find(by('d'));
  EXPECT_EQ(r.part_of(late, part_at(20), 0), part_at(20)) << "nothing was ever converted";
  r.raise(l.with(by('a'), mode::shared));  // a downgrade, written at 50
  EXPECT_EQ(r.place_of(*l.find(by('a'))), 0u);
  EXPECT_EQ(r.part_of(late, part_at(20), 50), part_at(50, 1));
  EXPECT_EQ(r.part_of(later, part_at(30), 50), part_at(50, 2)) << "whoever of the two asks first";
  EXPECT_EQ(r.part_of(writer, part_at(40), 50), std::nullopt);
  r.keep_floor(50);  // slots were written at 60
  EXPECT_EQ(r.part_of(later, part_at(30), 60), part_at(50, 2));
  line rest = l;
  for (const char gone : {'a', 'b', 'c'}) rest.remove(by(gone));
  r.raise(rest);  // the writer has its turn, written at 70
  EXPECT_EQ(r.part_of(writer, part_at(40), 70), part_at(70));
  const auto next = *read_contender(node("x", 'e', "5"));
  EXPECT_EQ(r.part_of(next, part_at(65), 70), std::nullopt) << "created before the writer had its part";
  EXPECT_EQ(r.part_of(next, part_at(75), 70), part_at(75));
}

// Both had the zxid of the downgrade.
TEST(zookeeper_line, a_downgrade_and_the_readers_that_it_lets_in_have_parts_of_their_own_in_the_order_of_the_line) {
  std::vector<std::string> nodes{node("x", 'a', "1h")};
  for (int i = 2; i < 40; ++i) nodes.push_back(node("s", "0123456789abcdef"[i % 16], std::to_string(i)));
  const line l{nodes};
  record_of_name r;
  r.raise(l.with(by('a'), mode::shared));
  std::uint64_t last = 0;
  for (std::size_t i = 1; i < places_per_write; ++i) {
    const auto part = r.part_of(l.all()[i], part_at(20), 50);
    ASSERT_TRUE(part);
    EXPECT_GT(*part, std::max(last, part_at(50)));
    last = *part;
  }
  EXPECT_EQ(r.part_of(l.all().back(), part_at(20), 50), last) << "they do not conflict";
  EXPECT_GT(part_at(51), last);
}

TEST(zookeeper_line, parts_last_for_131072_elections) {
  constexpr auto last = (std::int64_t{131'072} << 32) - 1;  // the epoch, and a count of 32 bits
  EXPECT_LE(part_at(last, places_per_write - 1), core::part_max);
}

TEST(zookeeper_line, a_part_is_a_place_of_the_write_that_created_the_node_or_another_one) {
  record r;
  EXPECT_EQ(r.part_if(50), part_at(50));
  r.part = 3;
  EXPECT_EQ(r.part_if(50), part_at(50, 3));
  r.part = part_at(40, 1);
  EXPECT_EQ(r.part_if(50), part_at(40, 1));
}

TEST(zookeeper_line, what_becomes_of_a_conversion_is_told_before_it_is_done) {
  const line l{{node("x", 'a', "1h"), node("s", 'b', "2"), node("x", 'c', "3")}};
  EXPECT_EQ(l.with(by('a'), mode::shared).holders(), 2u);
  const line u{{node("u", 'a', "1..5"), node("s", 'b', "6")}};
  EXPECT_EQ(u.holders(), 1u);
  EXPECT_EQ(u.with(by('a'), mode::shared).holders(), 2u);
  EXPECT_EQ(u.with(by('a'), mode::exclusive).holders(), 1u);
}

// The first had looked just before the watch stood; the second, in another session, before something had changed.
TEST(zookeeper_line, whoever_looked_before_the_watch_of_another_stood_looks_again) {
  shared_watch w;
  EXPECT_FALSE(w.seen(7)) << "it is asked for";
  EXPECT_FALSE(w.seen(6));
  EXPECT_TRUE(w.stands(7));
  EXPECT_FALSE(w.seen(7));
  EXPECT_FALSE(w.seen(8)) << "the event is on its way";
  EXPECT_TRUE(w.seen(6));
  shared_watch alone;
  alone.seen(7);
  EXPECT_FALSE(alone.stands(7));
  shared_watch late;
  late.seen(2147483647);
  EXPECT_TRUE(late.stands(-2147483647 - 1)) << "versions have 32 bits";
}

TEST(zookeeper_line, any_bytes_are_a_name) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  for (const auto& name : {all, std::string{".."}, std::string{"a/b"}, std::string{"%41"}, std::string{}}) {
    EXPECT_EQ(unescape(escape(name)), name);
    EXPECT_EQ(escape(name).find('/'), std::string::npos);
  }
  EXPECT_FALSE(unescape("%41"));  // never written so
  EXPECT_FALSE(unescape("%4"));
}

}  // namespace tyer::zookeeper
