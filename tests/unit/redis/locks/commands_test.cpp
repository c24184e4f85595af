#include "engines/redis/locks/commands.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace std::chrono_literals;
using namespace tyer::redis;
using tyer::core::id;

id make_id(int n) {
  id i;
  i.bytes.fill(static_cast<std::byte>(n));
  return i;
}

TEST(commands, terms_are_packed_big_endian) {
  const auto packed = pack({.ttl = 1ms, .place = 2ms, .not_after = 3us, .seen = 4, .live = 6ms, .waiters_max = 5});
  ASSERT_EQ(packed.size(), 36u);
  EXPECT_EQ(packed[5], 1);
  EXPECT_EQ(packed[11], 2);
  EXPECT_EQ(packed[18], 3);
  EXPECT_EQ(packed[25], 4);
  EXPECT_EQ(packed[31], 6);
  EXPECT_EQ(packed[35], 5);
}

TEST(commands, only_what_is_not_plain_is_longer) {
  EXPECT_EQ(pack({.take = 7, .capacity = 9}).size(), 36u);
  EXPECT_EQ(pack({.lock_delay = 1ms}).size(), 51u);
  const auto packed = pack({.how = tyer::engine::mode::permit, .lock_delay = 1ms, .take = 2, .capacity = 3});
  EXPECT_EQ(packed[36], 'p');
  EXPECT_EQ(packed[42], 1);
  EXPECT_EQ(packed[46], 2);
  EXPECT_EQ(packed[50], 3);
}

TEST(commands, release_and_convert) {
  commands c{keys{"t:"}, 24h, 7};
  EXPECT_EQ(c.release({make_id(1), "n"}, true).size(), 3u);
  EXPECT_EQ(c.release({make_id(1), "n"}, false).size(), 4u);
  const auto words = c.convert({make_id(1), "n"}, tyer::engine::mode::shared, 5us);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[3], std::string("s\0\0\0\0\0\0\5", 8));
}

TEST(commands, acquire) {
  commands c{keys{"t:"}, 24h, 7};
  tyer::engine::request r;
  r.what = {make_id(1), "n"};
  r.ttl = 10s;
  r.waiter_ttl = 3s;
  r.owner = "me";
  const auto words = c.acquire(r, 5us);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[1], "t:{n}");
  EXPECT_EQ(words[2], std::string{make_id(1).view()} + "me");
  EXPECT_EQ(
      words[3],
      pack({.ttl = 10s, .place = 0ms, .not_after = 5us, .seen = 0, .live = 86410000ms * 15 / 14, .waiters_max = 7}))
      << "a try has no place";
}

TEST(commands, keys_outlive_the_longest_lease) {
  commands c{keys{"t:"}, 1s, 7};
  tyer::engine::request r;
  r.what = {make_id(1), "n"};
  r.ttl = 10s;
  r.waiter_ttl = 40s;
  EXPECT_EQ(
      c.acquire(r, 5us)[3],
      pack({.ttl = 10s, .place = 0ms, .not_after = 5us, .seen = 0, .live = 120000ms * 15 / 14, .waiters_max = 7}));
  r.lock_delay = 50s;
  EXPECT_EQ(c.acquire(r, 5us)[3],
            pack({.ttl = 10s, .not_after = 5us, .live = 180000ms * 15 / 14, .waiters_max = 7, .lock_delay = 50s}));
}

TEST(commands, keep_carries_many) {
  commands c{keys{"t:"}, 24h, 7};
  const std::vector<tyer::engine::target> targets{{make_id(1), "a"}, {make_id(2), "b{"}, {make_id(3), "c"}};
  const auto words = c.keep(targets, 10s);
  ASSERT_EQ(words.size(), 7u);
  EXPECT_EQ(words[0], "3");
  EXPECT_EQ(words[1], "t:{a}");
  EXPECT_EQ(words[2], "t:{b%7B}");
  EXPECT_EQ(words[3], "t:{c}");
  EXPECT_EQ(words[4], "10000");
  EXPECT_EQ(words[5], "92582142");
  EXPECT_EQ(words[6], std::string{make_id(1).view()} + std::string{make_id(2).view()} + std::string{make_id(3).view()});
}

TEST(commands, an_owner_is_cut) {
  commands c{keys{"t:"}, 24h, 7};
  const std::string long_owner(5000, 'x');
  tyer::engine::request r;
  r.what = {make_id(1), "n"};
  r.owner = long_owner;
  EXPECT_EQ(c.acquire(r, 5us)[2].size(), 16 + owner_bytes_max);
}

TEST(commands, the_same_call_for_another_clock) {
  commands c{keys{"t:"}, 24h, 7};
  tyer::engine::request r;
  r.what = {make_id(1), "n"};
  const auto acquired = [&](std::chrono::microseconds t) { return std::string{c.acquire(r, t)[3]}; };
  const auto converted = [&](std::chrono::microseconds t) {
    return std::string{c.convert(r.what, tyer::engine::mode::shared, t)[3]};
  };
  EXPECT_EQ(for_another_clock("acquire", acquired(5s), -2s), acquired(3s));
  EXPECT_EQ(for_another_clock("acquire", acquired(5s), 2s), acquired(7s));
  EXPECT_EQ(for_another_clock("acquire", acquired(5s), -9s), acquired(0s));
  EXPECT_EQ(for_another_clock("convert", converted(5s), 2s), converted(7s));
  EXPECT_EQ(for_another_clock("release", "u", 2s), "u");
  EXPECT_EQ(for_another_clock("keep_holds", "10000 and more bytes than that", 2s), "10000 and more bytes than that");
}

}  // namespace
