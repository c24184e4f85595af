// First come, first served: the calls of one client for one name are executed in the order they were made, without a wait
// for the reply of the one before.
#include "contract/duties/calls.hpp"

namespace tyer::contract {

struct order_duty : engine_contract {
  template <class T>
  struct later {
    std::shared_ptr<std::optional<outcome<T>>> is = std::make_shared<std::optional<outcome<T>>>();

    engine::reply<T> reply() const {
      return [is = is](outcome<T>&& o) { *is = std::move(o); };
    }
    bool there() const { return is->has_value(); }
    T value() const { return value_of(**is); }
  };
};

TEST_F(order_duty, a_release_and_the_next_acquire_follow_an_acquire) {
  for (int i = 0; i < 20; ++i) {
    const auto first = a.wants("order"), second = a.wants("order");
    later<fate> released;
    a.raw().acquire(first.request(), [](outcome<answer>&&) {});
    a.raw().release(first.target(), true, released.reply());
    a.lock(second);
    a.pump_until([&] { return released.there(); }, "the release");
    EXPECT_EQ(released.value(), fate::holding);
    EXPECT_EQ(a.release(second), fate::holding);
  }
}

// Not of an engine made of several servers, which have no order among each other: there, whoever releases or evicts what is
// being acquired makes it give up. The test after this one is for those too.
TEST_F(order_duty, every_kind_of_call_that_changes_a_name_follows_the_one_before) {
  if (!can().queue) GTEST_SKIP() << "it has no queue";
  const auto first = a.wants("order"), second = a.wants("order"), third = a.wants("order");
  later<answer> locked, refused, locked_again, converted;
  later<fate> evicted, gone, released;
  later<std::uint32_t> asked;
  a.raw().acquire(first.request(), locked.reply());
  a.raw().acquire(second.request(), refused.reply());
  a.raw().evict(first.target(), "test", evicted.reply());
  a.raw().release(first.target(), true, gone.reply());
  a.raw().acquire(third.request(), locked_again.reply());
  a.raw().ask("order", "please", asked.reply());
  a.raw().convert(third.target(), mode::shared, 20s, converted.reply());
  a.raw().release(third.target(), true, released.reply());
  a.pump_until([&] { return released.there() && converted.there() && asked.there() && gone.there(); }, "all replies");
  EXPECT_NE(granted_in(**locked.is), nullptr) << describe(**locked.is);
  EXPECT_NE(busy_in(**refused.is), nullptr) << describe(**refused.is);
  EXPECT_EQ(evicted.value(), fate::holding);
  EXPECT_EQ(gone.value(), fate::gone);
  EXPECT_NE(granted_in(**locked_again.is), nullptr) << describe(**locked_again.is);
  if (can().push) {
    EXPECT_EQ(asked.value(), 1u);
  }
  if (can().convert) {
    EXPECT_NE(granted_in(**converted.is), nullptr) << describe(**converted.is);
  }
  EXPECT_EQ(released.value(), fate::holding);
}

TEST_F(order_duty, what_is_released_while_it_is_acquired_is_free_and_nobody_was_told_otherwise) {
  const auto w = a.wants("order");
  later<answer> locked;
  later<fate> evicted, released;
  a.raw().acquire(w.request(), locked.reply());
  a.raw().evict(w.target(), "test", evicted.reply());
  a.raw().release(w.target(), true, released.reply());
  a.pump_until([&] { return locked.there() && evicted.there() && released.there(); }, "all replies");
  const auto* f = std::get_if<engine::failure>(&(**locked.is).result);
  EXPECT_TRUE(granted_in(**locked.is) != nullptr || (f != nullptr && f->kind == why::unknown)) << describe(**locked.is);
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

TEST_F(order_duty, waiters_of_one_client_stand_in_the_order_they_asked) {
  if (!can().queue) GTEST_SKIP() << "it has no queue";
  a.lock(a.wants("order"));
  std::vector<later<answer>> places(20);
  std::vector<want> all;
  for (const auto& place : places) {
    all.push_back(b.waits("order"));
    b.raw().acquire(all.back().request(), place.reply());
  }
  b.pump_until([&] { return std::ranges::all_of(places, &later<answer>::there); }, "all places");
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto* place = queued_in(**places[i].is);
    ASSERT_NE(place, nullptr) << describe(**places[i].is);
    EXPECT_LE(place->ahead, i);
  }
  std::vector<id> shown;
  const auto page = value_of(b.call<engine::page>([&](auto reply) { b.raw().show("order", std::move(reply)); }));
  for (const auto& e : page.entries) {
    if (e.what == fate::waiting) shown.push_back(e.who);
  }
  ASSERT_EQ(shown.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(shown[i], all[i].who) << i;
}

}  // namespace tyer::contract
