#include "engines/memory/catalogue.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace tyer::memory {

namespace {

using namespace std::chrono_literals;

id number(std::uint64_t n) {
  id i;
  std::memcpy(i.bytes.data() + 8, &n, sizeof n);
  return i;
}

class catalogue_test : public ::testing::Test {
 protected:
  result<answer> acquire(const std::string& name, std::uint64_t who, milliseconds ttl = 10s) {
    const request r{.what = {number(who), name}, .ttl = ttl, .waiter_ttl = 2s, .not_after = 1s, .enqueue = true};
    return it.acquire(name, r, now, told);
  }

  catalogue it;
  store_time now{1000s};
  notices told;
};

TEST_F(catalogue_test, looking_at_a_name_leaves_nothing) {
  EXPECT_EQ(it.keep("a", number(1), fate::holding, 1s, now, told), fate::gone);
  EXPECT_EQ(it.release("a", number(1), true, now, told), fate::gone);
  EXPECT_EQ(it.evict("a", number(1), "", now, told), fate::gone);
  EXPECT_EQ(it.ask("a", "", now, told), 0u);
  EXPECT_TRUE(std::holds_alternative<engine::failure>(it.convert("a", number(1), mode::shared, now, told)));
  EXPECT_TRUE(std::holds_alternative<engine::failure>(acquire("a", 1, 0s)));
  EXPECT_EQ(it.count(now).names, 0u);
}

TEST_F(catalogue_test, a_released_name_is_a_tombstone_with_an_end) {
  acquire("a", 1);
  acquire("a", 2);
  auto c = it.count(now);
  EXPECT_EQ(c.holds, 1u);
  EXPECT_EQ(c.waiters, 1u);
  EXPECT_EQ(c.tombstones, 0u);
  it.release("a", number(2), true, now, told);
  it.release("a", number(1), true, now, told);
  c = it.count(now);
  EXPECT_EQ(c.names, 1u);
  EXPECT_EQ(c.tombstones, 1u);
  EXPECT_EQ(c.endless, 0u);
  now += 24h;
  EXPECT_EQ(it.count(now).names, 0u);
}

TEST_F(catalogue_test, names_nobody_touches_any_more_are_swept_away) {
  for (int i = 0; i < 100; ++i) acquire("old/" + std::to_string(i), 1);
  now += 48h;
  for (int i = 0; i < 200; ++i) acquire("new", 1);
  now -= 48h;  // as seen from then, they would still be there
  EXPECT_EQ(it.count(now).names, 1u);
}

TEST_F(catalogue_test, a_page_ends_at_its_limit_and_the_next_goes_on_there) {
  for (std::uint64_t i = 1; i <= 5; ++i) acquire("a", i);
  acquire("b", 6);
  std::set<id> seen;
  std::string cursor;
  int pages = 0;
  do {
    const auto p = it.list("", cursor, 2, now);
    EXPECT_LE(p.entries.size(), 2u);
    for (const auto& e : p.entries) EXPECT_TRUE(seen.insert(e.who).second);
    cursor = p.cursor;
    ++pages;
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), 6u);
  EXPECT_EQ(pages, 3);
}

TEST_F(catalogue_test, a_cursor_whose_name_has_gone_goes_on_behind_it) {
  acquire("a", 1);
  acquire("a", 2);
  acquire("b", 3);
  const auto first = it.list("", "", 1, now);
  it.release("a", number(2), true, now, told);
  it.release("a", number(1), true, now, told);
  const auto second = it.list("", first.cursor, 10, now);
  ASSERT_EQ(second.entries.size(), 1u);
  EXPECT_EQ(second.entries[0].name, "b");
}

TEST_F(catalogue_test, a_cursor_of_nonsense_begins_anew) {
  acquire("a", 1);
  for (const char* cursor : {"x", "1", ":", "-1:a", "99999999999999999999999:a"}) {
    EXPECT_EQ(it.list("", cursor, 10, now).entries.size(), 1u) << cursor;
  }
}

TEST_F(catalogue_test, loses_a_hold_wherever_it_is) {
  acquire("a", 1);
  acquire("b", 2);
  EXPECT_EQ(it.lose(number(2), now, told), fate::holding);
  EXPECT_EQ(it.lose(number(2), now, told), fate::gone);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].what, notice::kind::gone);
  EXPECT_EQ(it.keep("a", number(1), fate::holding, 1s, now, told), fate::holding);
}

class catalogue_on_a_steady_clock : public catalogue_test {
 protected:
  catalogue_on_a_steady_clock() { it = catalogue{{.steady = true}}; }

  std::uint64_t part_of(const result<answer>& r) { return std::get<engine::granted>(std::get<answer>(r)).part; }
  std::size_t kept() const { return it.count(store_time{}).names; }  // as seen from long ago, none is forgotten yet
};

TEST_F(catalogue_on_a_steady_clock, names_that_nobody_wants_any_more_piled_up_for_a_day) {
  for (int i = 0; i < 10'000; ++i) {
    const auto name = "order/" + std::to_string(i);
    acquire(name, 1);
    now += 1ms;
    it.release(name, number(1), true, now, told);
  }
  EXPECT_LT(kept(), 10u);
}

TEST_F(catalogue_on_a_steady_clock, tokens_grow_though_their_floor_was_forgotten) {
  std::uint64_t last = 0;
  for (int i = 0; i < 1'000; ++i) {
    const auto part = part_of(acquire("a", 1));
    EXPECT_GT(part, last);
    last = part;
    it.release("a", number(1), true, now, told);
    acquire("b", 2);  // so that others are looked at
    now += std::chrono::microseconds{i % 3 / 2};
  }
}

TEST_F(catalogue_on_a_steady_clock, a_floor_that_is_ahead_of_the_clock_is_kept) {
  acquire("a", 1);
  const auto far = std::uint64_t{1'003'000'000};  // the clock is there in three seconds
  EXPECT_EQ(it.lift("a", number(1), far, now, told), fate::holding);
  it.release("a", number(1), true, now, told);
  now += 2s;
  for (int i = 0; i < 10; ++i) acquire("b", 2);
  EXPECT_EQ(part_of(acquire("a", 3)), far + 1);
}

TEST_F(catalogue_on_a_steady_clock, holds_waiters_and_ghosts_are_kept_for_as_long_as_they_are) {
  const request delayed{.what = {number(1), "a"}, .ttl = 10s, .waiter_ttl = 2s, .lock_delay = 1h, .not_after = 1s};
  it.acquire("a", delayed, now, told);
  now += 30min;  // expired, and a ghost since
  for (int i = 0; i < 10; ++i) acquire("b", 2);
  EXPECT_TRUE(std::holds_alternative<engine::queued>(std::get<answer>(acquire("a", 3))));
  now += 2h;
  for (int i = 0; i < 10; ++i) acquire("b", 2);
  EXPECT_EQ(kept(), 1u);
}

}  // namespace

}  // namespace tyer::memory
