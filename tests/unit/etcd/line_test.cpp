// Who is told to be next, and what a hand-over by that makes of the two.
#include "engines/etcd/locks/line.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

struct etcd_line : ::testing::Test {
  static id id_of(char c) { return id::from(std::string(16, c)); }
  void add(char who, std::int64_t created, mode how, bool holds, std::uint64_t seen = 0) {
    ledger::wish w;
    w.r.what = {.who = id_of(who), .name = "n", .how = how};
    w.r.ttl = 10s;
    w.r.waiter_ttl = 3s;
    w.r.seen = seen;
    auto record = ledger::place(w);
    if (holds) record.set_state(pb::Record::HOLDING);
    auto& kv = *read.add_kvs();
    kv.set_key(names.seat("n", id_of(who)));
    kv.set_value(write_value(record));
    kv.set_create_revision(created);
    kv.set_mod_revision(created);
    kv.set_lease(created * 10);
  }
  void hold(char who, std::int64_t created) { add(who, created, mode::exclusive, true); }
  void wait(char who, std::int64_t created, mode how = mode::exclusive) { add(who, created, how, false); }
  ledger all() const { return std::get<ledger>(ledger::from(names, read, 100)); }
  static std::string who_are(const pb::Line& line) {
    std::string text;
    for (const auto& p : line.next()) text += p.at()[0];
    return text;
  }
  static pb::Line told_to(const ledger& l, char who) {
    const auto at = std::ranges::find(l.seats(), id_of(who), &seat::who);
    pb::Line line;
    EXPECT_TRUE(line.ParseFromString(at->record.line()));
    return line;
  }
  const keys names{"p:"};
  pb::RangeResponse read;
  const own_hold own{id_of('h'), id_of('h'), 1, 1, 10};
};

TEST_F(etcd_line, is_whoever_is_behind_the_next_in_the_order_they_came) {
  hold('h', 1);
  wait('c', 4);
  wait('a', 2);
  wait('b', 3);
  const auto line = line_behind_next(all(), false);
  EXPECT_EQ(who_are(line), "bc");
  EXPECT_FALSE(line.goes_on());
  EXPECT_TRUE(line_behind_next(all(), true).goes_on());
}

TEST_F(etcd_line, ends_before_one_of_another_mode) {
  hold('h', 1);
  wait('a', 2);
  wait('b', 3);
  wait('c', 4, mode::shared);
  wait('d', 5);
  const auto line = line_behind_next(all(), false);
  EXPECT_EQ(who_are(line), "b");
  EXPECT_TRUE(line.goes_on()) << "there are others, whom it does not name";
}

TEST_F(etcd_line, is_passed_on_one_by_one) {
  hold('h', 1);
  wait('a', 2);
  wait('b', 3);
  wait('c', 4);
  auto l = all();
  auto line = line_behind_next(l, true);
  EXPECT_EQ(l.remove(id_of('h')), fate::holding);
  tell_line(l, line);
  auto told = told_to(l, 'a');
  EXPECT_EQ(who_are(told), "bc");

  auto next = hold_and_next(names, "n", {id_of('a'), id_of('a'), 2, 101, 20}, told, 101);
  ASSERT_TRUE(next);
  EXPECT_EQ(who_are(told), "c");
  EXPECT_EQ(next->remove(id_of('a')), fate::holding);
  tell_line(*next, told);
  const seat* const b = next->find(id_of('b'));
  ASSERT_NE(b, nullptr);
  EXPECT_EQ(b->record.state(), pb::Record::HANDED_OVER);
  EXPECT_EQ(std::tuple(b->created, b->modified, b->lease), std::tuple(3, 3, 30)) << "compared as it was read";
  EXPECT_EQ(who_are(told_to(*next, 'b')), "c");
  EXPECT_TRUE(told_to(*next, 'b').goes_on());
  next->wrote(102);
  EXPECT_EQ(next->find(id_of('b'))->part(), 102 * places_per_revision);
}

TEST_F(etcd_line, is_over_behind_the_last) {
  pb::Line nobody;
  EXPECT_FALSE(hold_and_next(names, "n", own, nobody, 100));
}

TEST_F(etcd_line, with_something_that_cannot_be_read_is_of_no_use) {
  pb::Line strange;
  strange.add_next()->set_value("T9");
  EXPECT_FALSE(hold_and_next(names, "n", own, strange, 100));
}

// The floor is read with the queue; whoever goes by the line alone would not know it.
TEST_F(etcd_line, is_not_told_where_tokens_go_on_from_a_floor) {
  hold('h', 1);
  add('a', 2, mode::exclusive, false, 1'000'000);  // it has seen such a token
  wait('b', 3);
  auto l = all();
  const auto line = line_behind_next(l, false);
  l.remove(id_of('h'));
  tell_line(l, line);
  EXPECT_TRUE(l.find(id_of('a'))->record.line().empty());
}

TEST_F(etcd_line, is_forgotten_at_the_server_with_the_claim) {
  hold('h', 1);
  wait('a', 2);
  wait('b', 3);
  auto l = all();
  const auto line = line_behind_next(l, false);
  l.remove(id_of('h'));
  tell_line(l, line);
  l.wrote(101);
  ledger::wish w;
  w.r.what = {.who = id_of('a'), .name = "n"};
  w.r.ttl = 10s;
  w.r.waiter_ttl = 3s;
  l.acquire(w);
  EXPECT_TRUE(l.find(id_of('a'))->record.line().empty());
}

}  // namespace
}  // namespace tyer::etcd
