// What people do to locks: look, ask, break.
#include "contract/engine/harness.hpp"

#include <algorithm>
#include <set>

namespace tyer::contract {

using operator_contract = engine_contract;

TEST_F(operator_contract, evicts_exactly_that_hold) {
  const auto broken = a.wants("order");
  a.lock(broken);
  EXPECT_EQ(b.evict(broken, "too slow"), fate::holding);
  if (goes_by_what_it_heard()) a.await_loss(broken.who);
  EXPECT_EQ(a.keep(broken, fate::holding, 20s), fate::gone);
  const auto next = c.wants("order");
  c.lock(next);
  EXPECT_EQ(b.evict(broken), fate::gone);
  EXPECT_EQ(c.keep(next, fate::holding, 20s), fate::holding);
}

TEST_F(operator_contract, whoever_was_evicted_is_told) {
  if (!can().push) return;
  const auto w = a.wants("order");
  a.lock(w);
  b.evict(w);
  a.await_loss(w.who);
}

TEST_F(operator_contract, an_eviction_hands_over) {
  if (!can().queue) return;
  const auto broken = a.wants("order");
  a.lock(broken);
  const auto next = b.waits("order");
  b.enqueue(next);
  EXPECT_EQ(c.evict(broken), fate::holding);
  if (can().push) b.await(event::kind::wake, next.who);
  b.lock(next);
}

TEST_F(operator_contract, a_waiter_can_be_evicted) {
  if (!can().queue) return;
  a.lock(a.wants("order"));
  const auto w = b.waits("order"), behind = c.waits("order");
  b.enqueue(w);
  c.enqueue(behind);
  EXPECT_EQ(a.evict(w), fate::waiting);
  if (goes_by_what_it_heard()) b.await_loss(w.who);
  EXPECT_EQ(b.keep(w, fate::waiting, 20s), fate::gone);
  EXPECT_EQ(c.enqueue(behind).ahead, 0u);
}

// Its client has not run since it had its turn: it hears of both at once.
TEST_F(operator_contract, a_place_that_is_evicted_as_soon_as_it_has_its_turn_was_woken) {
  if (!can().queue || !can().push) return;
  for (const mode how : {mode::exclusive, mode::shared, mode::permit}) {
    if ((how == mode::shared && !can().shared) || (how == mode::permit && !can().permits)) continue;
    const auto name = "order " + std::to_string(static_cast<int>(how));
    const auto of = [&](client& from) {
      return how == mode::permit ? from.permits(name, 2, 2) : from.wants(name, how);
    };
    auto first = of(a), next = of(b);
    if (how == mode::shared) first = a.wants(name);
    next.enqueue = true;
    a.lock(first);
    b.enqueue(next);
    b.round_trip();
    EXPECT_EQ(a.release(first), fate::holding);
    EXPECT_EQ(c.evict(next), fate::holding);
    b.await(event::kind::wake, next.who);
    b.await_loss(next.who);
  }
}

TEST_F(operator_contract, evicting_nothing_is_gone) { EXPECT_EQ(a.evict(a.wants("nothing")), fate::gone); }

TEST_F(operator_contract, asks_the_holder) {
  const auto w = a.wants("order");
  a.lock(w);
  EXPECT_EQ(b.ask("order", "please let go"), 1u);
  EXPECT_EQ(b.ask("nobody has it", "please"), 0u);
  if (!can().push) return;
  a.await(event::kind::asked, w.who);
  const auto& all = a.seen_events();
  const auto asked = std::ranges::find(all, event::kind::asked, &event::what);
  EXPECT_EQ(asked->text, "please let go");
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::holding);
}

TEST_F(operator_contract, asks_every_holder) {
  if (!can().shared) return;
  const auto one = a.wants("order", mode::shared), two = b.wants("order", mode::shared);
  a.lock(one);
  b.lock(two);
  EXPECT_EQ(c.ask("order", "please let go"), 2u);
  if (!can().push) return;
  a.await(event::kind::asked, one.who);
  b.await(event::kind::asked, two.who);
}

TEST_F(operator_contract, evicts_one_of_many_holders) {
  if (!can().shared) return;
  const auto one = a.wants("order", mode::shared), two = b.wants("order", mode::shared);
  a.lock(one);
  b.lock(two);
  EXPECT_EQ(c.evict(one), fate::holding);
  if (goes_by_what_it_heard()) a.await_loss(one.who);
  EXPECT_EQ(a.keep(one, fate::holding, 20s), fate::gone);
  EXPECT_EQ(b.keep(two, fate::holding, 20s), fate::holding);
  EXPECT_FALSE(c.could_lock(c.wants("order")));
}

TEST_F(operator_contract, lists_page_by_page) {
  if (!a.lists()) return;
  std::set<std::string> expected;
  for (int i = 0; i < 25; ++i) {
    const auto w = a.wants("list/" + std::to_string(i));
    expected.insert(w.name);
    a.lock(w);
  }
  a.lock(a.wants("lis"));
  a.lock(a.wants("other/1"));
  std::set<std::string> names;
  for (const auto& e : b.list("list/", 10)) names.insert(e.name);
  EXPECT_EQ(names, expected);
}

TEST_F(operator_contract, lists_nothing_where_nothing_is) {
  if (!a.lists()) return;
  EXPECT_TRUE(a.list("", 10).empty());
  const auto w = a.wants("order");
  a.lock(w);
  a.release(w);
  EXPECT_TRUE(a.list("", 10).empty());
}

TEST_F(operator_contract, does_not_list_what_has_expired) {
  if (!a.lists()) return;
  auto w = a.wants("order");
  w.ttl = brief();
  const auto given = lasts(w, a.lock(w));
  // Where the holder's own client takes it away (etcd), that request is on its way by then.
  const auto over = b.now() + given + 5ms;
  b.pump_until(over);
  while (!b.list("", 10).empty()) ASSERT_LT(b.now(), over + patience);
}

TEST_F(operator_contract, a_listing_says_who_and_how) {
  auto w = a.wants("order");
  w.owner = "shop-7 pid 812 at order.cc:87";
  w.ttl = 60s;
  const auto g = a.lock(w);
  const auto shown = b.listed(w);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->what, fate::holding);
  EXPECT_EQ(shown->how, mode::exclusive);
  EXPECT_EQ(shown->owner == w.owner, can().owners);
  EXPECT_EQ(shown->part, g.part);
  EXPECT_GT(shown->left, 0ms);
  EXPECT_LE(shown->left, g.ttl + 1ms);
}

TEST_F(operator_contract, a_listing_shows_the_queue) {
  if (!can().queue) return;
  a.lock(a.wants("order"));
  auto w = b.waits("order");
  w.owner = "the one who waits";
  b.enqueue(w);
  const auto shown = c.listed(w);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->what, fate::waiting);
  EXPECT_EQ(shown->owner, w.owner);
}

TEST_F(operator_contract, a_listing_shows_every_holder_and_how) {
  if (!can().shared) return;
  const auto one = a.wants("order", mode::shared), two = b.wants("order", mode::shared);
  a.lock(one);
  b.lock(two);
  const auto writer = c.waits("order");
  if (can().queue) c.enqueue(writer);
  for (const want& w : {one, two}) {
    const auto shown = c.listed(w);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->what, fate::holding);
    EXPECT_EQ(shown->how, mode::shared);
    EXPECT_EQ(shown->owner, w.owner);
  }
  if (!can().queue) return;
  const auto shown = c.listed(writer);
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->how, mode::exclusive);
}

TEST_F(operator_contract, an_owner_of_any_bytes_does_no_harm) {
  using namespace std::string_literals;
  for (const auto& owner : {"\0"s, "a|b:c,d"s, "\xff\r\n"s, ""s, std::string(2000, 'o')}) {
    auto w = a.wants("order");
    w.owner = owner;
    a.lock(w);
    EXPECT_TRUE(b.listed(w));
    EXPECT_EQ(a.release(w), fate::holding);
  }
}

TEST_F(operator_contract, a_watched_name_tells_of_its_own_changes_only) {
  a.raw().watch("order", true);
  a.round_trip();
  b.lock(b.wants("order"));
  b.lock(b.wants("order/2"));
  a.round_trip();
  if (can().watch) a.pump_until([&] { return a.count(event::kind::changed) > 0; }, "changed()");
  for (const auto& e : a.seen_events()) EXPECT_TRUE(e.what != event::kind::changed || e.text == "order");
}

TEST_F(operator_contract, a_name_not_watched_any_more_is_silent) {
  if (!can().push) return;
  a.raw().watch("order", true);
  a.round_trip();
  a.raw().watch("order", false);
  a.round_trip();
  b.lock(b.wants("order"));
  a.round_trip();
  EXPECT_EQ(a.count(event::kind::changed), 0u);
}

TEST_F(operator_contract, can_be_diagnosed) {
  const auto findings =
      value_of(a.call<std::vector<engine::finding>>([&](auto reply) { a.raw().diagnose(std::move(reply)); }));
  for (const auto& f : findings) EXPECT_FALSE(f.what.empty());
}

}  // namespace tyer::contract
