// What is decided on the keys of a name, without a server: the revisions are made up.
#include "engines/etcd/ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

const keys names{"p:"};
const id first = id::from("0123456789abcdef"), second = id::from("fedcba9876543210");

ledger::wish wish_of(const id& who) {
  ledger::wish w;
  w.r.what = {.who = who, .name = "n"};
  w.r.ttl = 10s;
  w.r.waiter_ttl = 3s;
  w.r.enqueue = true;
  w.hold_lease = 7;
  w.hold_lease_ttl = 10s;
  w.place_lease_ttl = 3s;
  w.waiters_max = 10;
  return w;
}

// One that took its place in the queue at revision 100, read at another.
ledger with_waiter(const id& who, std::int64_t revision) {
  pb::RangeResponse read;
  auto& kv = *read.add_kvs();
  kv.set_key(names.seat("n", who));
  kv.set_value(write_value(ledger::place(wish_of(who))));
  kv.set_create_revision(100);
  kv.set_mod_revision(100);
  return std::get<ledger>(ledger::from(names, read, revision));
}

TEST(etcd_ledger, who_finds_its_turn_and_claims_it_at_once_has_the_token_of_that_write_not_of_its_place) {
  auto l = with_waiter(first, 200);  // whoever held it is gone
  const auto answered = l.acquire(wish_of(first));
  ASSERT_TRUE(std::holds_alternative<engine::granted>(std::get<answer>(answered)));
  l.wrote(201);
  EXPECT_EQ(l.find(first)->part(), 201 * places_per_revision);
}

TEST(etcd_ledger, who_is_asked_in_the_write_that_grants_has_the_token_of_that_write) {
  auto l = with_waiter(first, 200);
  EXPECT_EQ(l.ask("please").size(), 1u);
  l.wrote(201);
  EXPECT_EQ(l.find(first)->part(), 201 * places_per_revision);
}

TEST(etcd_ledger, who_claims_later_keeps_the_token_of_the_write_that_granted) {
  auto l = with_waiter(first, 200);
  l.turn();
  l.wrote(201);
  l.acquire(wish_of(first));
  l.wrote(300);
  EXPECT_EQ(l.find(first)->part(), 201 * places_per_revision);
}

// --- to the decider and back ---

TEST(etcd_ledger, two_that_are_granted_by_one_write_have_tokens_of_their_own_though_they_asked_one_after_the_other) {
  ledger l;
  auto one = wish_of(first), other = wish_of(second);
  one.r.what.how = other.r.what.how = mode::shared;
  l.acquire(one);
  l.acquire(other);
  l.wrote(201);
  EXPECT_EQ(l.find(first)->part(), 201 * places_per_revision);
  EXPECT_EQ(l.find(second)->part(), 201 * places_per_revision + 1);
}

TEST(etcd_ledger, what_a_later_version_has_written_beside_outlives_a_turn_and_a_claim) {
  pb::Record later = ledger::place(wish_of(first));
  later.set_asked("please");
  later.set_asked_count(3);
  auto value = write_value(later);
  value += std::string{"\xa0\x06\x07", 3};  // field 100, a number: 7
  pb::RangeResponse read;
  auto& kv = *read.add_kvs();
  kv.set_key(names.seat("n", first));
  kv.set_value(value);
  kv.set_create_revision(100);
  kv.set_mod_revision(100);
  auto l = std::get<ledger>(ledger::from(names, read, 200));
  l.acquire(wish_of(first));
  const auto& now = l.find(first)->record;
  EXPECT_EQ(now.state(), pb::Record::HOLDING);
  EXPECT_EQ(now.asked(), "please");
  EXPECT_EQ(now.asked_count(), 3u);
  EXPECT_NE(write_value(now).find(std::string{"\xa0\x06\x07", 3}), std::string::npos);
}

// A ttl that none writes, as from a broken key, and a state of a later version: a hold.
TEST(etcd_ledger, numbers_that_nobody_writes_do_no_harm) {
  pb::Record strange = ledger::place(wish_of(first));
  strange.set_state(static_cast<pb::Record::State>(9));
  strange.set_ttl_ms(~std::uint64_t{0});
  strange.set_waiter_ttl_ms(~std::uint64_t{0});
  pb::RangeResponse read;
  auto& kv = *read.add_kvs();
  kv.set_key(names.seat("n", first));
  kv.set_value(write_value(strange));
  kv.set_create_revision(100);
  kv.set_mod_revision(100);
  auto l = std::get<ledger>(ledger::from(names, read, 200));
  const auto answered = l.acquire(wish_of(second));
  const auto* const q = std::get_if<engine::queued>(&std::get<answer>(answered));
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(q->look_again, kit::limits{}.ttl);
}

TEST(etcd_ledger, a_waiter_for_permits_looks_again_when_the_longest_hold_would_be_over) {
  ledger l;
  const id third = id::from("fedcba9876543211");
  for (const auto& [who, ttl] : {std::pair{first, 2s}, {second, 9s}}) {
    auto w = wish_of(who);
    w.r.what.how = mode::permit;
    w.r.capacity = 2;
    w.r.ttl = ttl;
    l.acquire(w);
    l.wrote(l.revision() + 1);
  }
  auto w = wish_of(third);
  w.r.what.how = mode::permit;
  w.r.capacity = 2;
  const auto answered = l.acquire(w);
  const auto* const q = std::get_if<engine::queued>(&std::get<answer>(answered));
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(q->look_again, 9s) << "when the shorter was renewed, nobody knows";
}

// --- a new reader beside others ---

ledger::wish reader(const id& who) {
  auto w = wish_of(who);
  w.r.what.how = mode::shared;
  w.at = who;
  return w;
}

ledger with_holder(const ledger::wish& w) {
  ledger l;
  l.acquire(w);
  l.wrote(100);
  return l;
}

TEST(etcd_ledger, a_new_reader_has_company_in_one_that_holds) {
  auto l = with_holder(reader(first));
  l.acquire(reader(second));
  ASSERT_NE(l.company_of_new_reader(), nullptr);
  EXPECT_EQ(l.company_of_new_reader()->who, first);
}

TEST(etcd_ledger, a_new_reader_has_no_company_where_nobody_is_or_nothing_is_new) {
  auto alone = with_holder(reader(first));
  EXPECT_EQ(alone.company_of_new_reader(), nullptr);
  ledger empty;
  EXPECT_EQ(empty.company_of_new_reader(), nullptr);
  empty.acquire(reader(first));
  EXPECT_EQ(empty.company_of_new_reader(), nullptr);
}

TEST(etcd_ledger, one_that_may_become_exclusive_or_has_not_claimed_is_no_company) {
  for (const bool upgrades : {true, false}) {
    auto l = with_holder(reader(first));
    l.acquire(reader(second));
    auto& record = l.find(first)->record;
    upgrades ? record.set_upgrading(true) : record.set_state(pb::Record::HANDED_OVER);
    EXPECT_EQ(l.company_of_new_reader(), nullptr) << upgrades;
  }
}

TEST(etcd_ledger, a_new_reader_has_no_company_if_anything_else_is_to_be_written) {
  auto l = with_holder(reader(first));
  l.acquire(reader(second));
  l.find(first)->removed = true;
  EXPECT_EQ(l.company_of_new_reader(), nullptr);
}

TEST(etcd_ledger, only_a_reader_that_holds_at_once_has_company) {
  auto l = with_holder(reader(first));
  l.acquire(wish_of(second));  // waits
  EXPECT_EQ(l.company_of_new_reader(), nullptr);
}

// --- one that leaves beside others ---

const id third = id::from("0011223344556677");

// One behind the other, each written before the next came.
ledger with_all(const std::vector<ledger::wish>& wishes) {
  ledger l;
  std::int64_t revision = 100;
  for (auto w : wishes) {
    w.at = w.r.what.who;
    l.acquire(w);
    l.wrote(++revision);
  }
  return l;
}

TEST(etcd_ledger, a_reader_leaves_beside_another_whoever_waits) {
  auto l = with_all({reader(first), reader(second), wish_of(third)});
  l.remove(first);
  ASSERT_NE(l.company_of_one_that_leaves(), nullptr);
  EXPECT_EQ(l.company_of_one_that_leaves()->who, second);
}

TEST(etcd_ledger, the_last_reader_leaves_nobody_behind_that_would_hand_over) {
  auto l = with_all({reader(first), wish_of(second)});
  l.remove(first);
  EXPECT_EQ(l.company_of_one_that_leaves(), nullptr);
  auto alone = with_all({reader(first)});
  alone.remove(first);
  EXPECT_EQ(alone.company_of_one_that_leaves(), nullptr);
}

TEST(etcd_ledger, one_that_waited_to_be_upgraded_kept_others_waiting_and_needs_more_than_company) {
  auto l = with_all({reader(first), reader(second)});
  l.convert(first, mode::exclusive);
  l.wrote(200);
  l.remove(first);
  EXPECT_EQ(l.company_of_one_that_leaves(), nullptr);
}

TEST(etcd_ledger, one_that_is_to_be_upgraded_is_no_company_for_one_that_leaves) {
  auto l = with_all({reader(first), reader(second)});
  l.convert(second, mode::exclusive);
  l.wrote(200);
  l.find(first)->removed = true;
  EXPECT_EQ(l.company_of_one_that_leaves(), nullptr);
}

TEST(etcd_ledger, a_place_leaves_behind_the_one_before_it) {
  auto l = with_all({reader(first), wish_of(second), wish_of(third)});
  l.remove(third);
  ASSERT_NE(l.company_of_one_that_leaves(), nullptr);
  EXPECT_EQ(l.company_of_one_that_leaves()->who, second);
  auto of_head = with_all({reader(first), wish_of(second), wish_of(third)});
  of_head.remove(second);
  EXPECT_EQ(of_head.company_of_one_that_leaves(), nullptr);
}

TEST(etcd_ledger, one_that_leaves_has_no_company_if_anything_else_is_to_be_written) {
  auto l = with_all({wish_of(first), reader(second), reader(third)});
  l.remove(first);  // the others have their turn
  EXPECT_EQ(l.company_of_one_that_leaves(), nullptr);
  auto two = with_all({reader(first), reader(second), reader(third)});
  two.find(first)->removed = two.find(second)->removed = true;
  EXPECT_EQ(two.company_of_one_that_leaves(), nullptr);
}

TEST(etcd_ledger, permits_are_no_company) {
  std::vector<ledger::wish> wishes{wish_of(first), wish_of(second)};
  for (auto& w : wishes) w.r.what.how = mode::permit, w.r.capacity = 2;
  auto l = with_all(wishes);
  l.remove(first);
  EXPECT_EQ(l.company_of_one_that_leaves(), nullptr);
}

// --- what is right whatever happens meanwhile ---

ledger::wish permit(const id& who, std::uint32_t capacity) {
  auto w = wish_of(who);
  w.r.what.how = mode::permit;
  w.r.capacity = capacity;
  return w;
}

void ends(ledger& l, const id& who) {  // without a word
  l.find(who)->removed = true;
  l.wrote(200);
}

TEST(etcd_ledger, a_claim_alone_is_right_whoever_comes) {
  auto l = with_all({wish_of(first), wish_of(second), wish_of(third)});
  EXPECT_FALSE(l.only_claims()) << "nothing is marked";
  l.remove(first);
  EXPECT_FALSE(l.only_claims());
  l.wrote(200);
  l.acquire(wish_of(second));
  EXPECT_TRUE(l.only_claims());
}

TEST(etcd_ledger, a_claim_in_the_write_that_grants_is_more_than_a_claim) {
  auto l = with_all({wish_of(first), wish_of(second)});
  ends(l, first);
  l.acquire(wish_of(second));
  EXPECT_FALSE(l.only_claims());
  EXPECT_FALSE(l.only_turns_of_permits());
  ledger fresh;
  fresh.acquire(wish_of(first));
  EXPECT_FALSE(fresh.only_claims());
}

TEST(etcd_ledger, permits_have_their_turn_whoever_comes) {
  auto l = with_all({permit(first, 2), permit(second, 2), permit(third, 2)});
  l.find(first)->removed = true;
  l.wrote(200);
  l.turn();
  ASSERT_FALSE(l.find(third)->waits());
  EXPECT_TRUE(l.only_turns_of_permits());
  EXPECT_FALSE(l.only_claims());
}

TEST(etcd_ledger, a_new_permit_or_one_that_goes_is_not_right_whoever_comes) {
  auto comes = with_all({permit(first, 2)});
  comes.acquire(permit(second, 2));
  EXPECT_FALSE(comes.only_turns_of_permits());
  auto goes = with_all({permit(first, 1), permit(second, 1)});
  goes.remove(first);
  EXPECT_FALSE(goes.only_turns_of_permits());
}

TEST(etcd_ledger, the_turn_of_readers_is_not_right_whoever_comes) {
  auto l = with_all({wish_of(first), reader(second)});
  ends(l, first);
  l.turn();
  EXPECT_FALSE(l.only_turns_of_permits()) << "a reader before it may become exclusive";
}

// --- who is asked ---

TEST(etcd_ledger, no_more_are_asked_than_one_write_may_contain_and_each_once) {
  std::vector<ledger::wish> wishes(100, reader(first));
  ledger l;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    wishes[i].r.what.who = id::from(std::string(13, '0') + std::to_string(100 + i));
    wishes[i].at = wishes[i].r.what.who;
    l.acquire(wishes[i]);
    l.wrote(static_cast<std::int64_t>(100 + i));
  }
  std::set<id> asked;
  for (std::int64_t n = 0; n < 4; ++n) {
    const auto now = l.ask("please", asked);
    EXPECT_LE(now.size(), asked_per_write);
    EXPECT_EQ(now.empty(), n == 3);
    EXPECT_EQ(std::ranges::count(l.seats(), true, &seat::dirty), static_cast<std::ptrdiff_t>(now.size()));
    asked.insert(now.begin(), now.end());
    l.wrote(300 + n);
  }
  EXPECT_EQ(asked.size(), wishes.size());
  for (const seat& s : l.seats()) EXPECT_EQ(s.record.asked_count(), 1u);
}

// --- the floor ---

std::variant<ledger, failure> with_floor(const std::string& value) {
  pb::RangeResponse read;
  auto& kv = *read.add_kvs();
  kv.set_key(names.floor("n"));
  kv.set_value(value);
  return ledger::from(names, read, 100);
}

TEST(etcd_ledger, a_floor_that_is_no_number_was_taken_for_none) {
  for (const auto* value : {"", "soon", "12 ", "-1", "99999999999999999999"}) {
    const auto l = with_floor(value);
    ASSERT_TRUE(std::holds_alternative<failure>(l)) << value;
    EXPECT_EQ(std::get<failure>(l).kind, why::name_conflict) << value;
  }
  EXPECT_EQ(std::get<ledger>(with_floor("12")).floor(), 12u);
}

}  // namespace
}  // namespace tyer::etcd
