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
  time_point now{1000s};
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

}  // namespace

}  // namespace tyer::memory
