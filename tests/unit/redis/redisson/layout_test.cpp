#include "engines/redis/redisson/layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <regex>
#include <set>

namespace {

using namespace tyer::redis::redisson;
using tyer::core::id;

id made_of(std::uint64_t nonce, std::uint64_t serial) {
  id i;
  std::memcpy(i.bytes.data(), &nonce, 8);
  std::memcpy(i.bytes.data() + 8, &serial, 8);
  return i;
}

TEST(redisson_layout, a_field_is_a_uuid_and_a_number_that_java_can_read) {
  const std::regex form{"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}:-?[0-9]{1,19}"};
  tyer::core::random_ids ids;
  for (int i = 0; i < 100; ++i) {
    const auto field = field_of(ids.next());
    EXPECT_TRUE(std::regex_match(field, form)) << field;
    EXPECT_NO_THROW(static_cast<void>(std::stoll(field.substr(37)))) << "a long of Java's";
  }
}

TEST(redisson_layout, fields_of_one_client_share_the_uuid) {
  tyer::core::random_ids one, other;
  EXPECT_EQ(field_of(one.next()).substr(0, 36), field_of(one.next()).substr(0, 36));
  EXPECT_NE(field_of(one.next()).substr(0, 36), field_of(other.next()).substr(0, 36));
}

TEST(redisson_layout, every_id_has_its_own_field_and_can_be_read_back) {
  std::set<std::string> fields;
  for (const std::uint64_t nonce : {0ull, 1ull, 1ull << 63, ~0ull, 0x0123456789abcdefull}) {
    for (const std::uint64_t serial : {0ull, 1ull, 1ull << 63, ~0ull}) {
      const auto who = made_of(nonce, serial);
      const auto field = field_of(who);
      EXPECT_TRUE(fields.insert(field).second) << field;
      EXPECT_EQ(id_of(field), who);
      EXPECT_TRUE(looks_like_a_holder(field));
    }
  }
}

TEST(redisson_layout, a_thread_of_java_is_a_holder_but_has_no_id) {
  const std::string java = "5b1e4a2c-0f6d-4c1e-9f0a-3f1b2c4d5e6f:47";
  EXPECT_TRUE(looks_like_a_holder(java));
  EXPECT_EQ(id_of(java), std::nullopt);
}

TEST(redisson_layout, what_is_no_holder) {
  const auto mine = field_of(made_of(1, 2));
  for (const std::string& text : {std::string{}, std::string{"mode"}, mine.substr(0, 36), mine.substr(0, 37),
                                  mine + "x", mine + ":1", "x" + mine, std::string(60, ':')}) {
    EXPECT_FALSE(looks_like_a_holder(text)) << text;
    EXPECT_EQ(id_of(text), std::nullopt) << text;
  }
}

TEST(redisson_layout, names_are_raw) {
  EXPECT_EQ(layout{""}.key("a{b}%"), "a{b}%");
  EXPECT_EQ(layout{"shop:"}.key("a"), "shop:a");
  EXPECT_EQ(layout{"shop:"}.name_of("shop:a"), "a");
  EXPECT_EQ(layout{"shop:"}.name_of("other:a"), std::nullopt);
}

TEST(redisson_layout, the_channel_has_the_name_in_braces_unless_it_has_one_already) {
  EXPECT_EQ(layout::channel("order"), "redisson_lock__channel:{order}");
  EXPECT_EQ(layout::channel("order/{eu}"), "redisson_lock__channel:order/{eu}");
  EXPECT_EQ(layout::channel("order{"), "redisson_lock__channel:order{");
  EXPECT_EQ(layout::channel("order}"), "redisson_lock__channel:{order}}");
}

TEST(redisson_layout, the_same_call_for_another_clock) {
  using namespace std::chrono_literals;
  EXPECT_EQ(tyer::redis::redisson::for_another_clock("acquire", "1700000000000000", 2s), "1700000002000000");
  EXPECT_EQ(tyer::redis::redisson::for_another_clock("acquire", "1700000000000000", -2s), "1699999998000000");
  EXPECT_EQ(tyer::redis::redisson::for_another_clock("acquire", "5", -2s), "0");
  EXPECT_EQ(tyer::redis::redisson::for_another_clock("keep", "30000", 2s), "30000") << "a length, no time";
  EXPECT_EQ(tyer::redis::redisson::for_another_clock("release", "redisson_lock__channel:{order}", 2s),
            "redisson_lock__channel:{order}");
}

}  // namespace
