#include "engines/redis/config.hpp"

#include "core/uri.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;

struct outcome {
  tyer::redis::read_config read;
  tyer::core::uri left;
};

outcome read(std::string_view text) {
  auto parsed = tyer::core::parse_uri(text);
  EXPECT_FALSE(parsed.error) << text;
  outcome o;
  o.read = tyer::redis::read(parsed.value);
  o.left = parsed.value;
  return o;
}

TEST(config, defaults) {
  const auto c = read("redis://shop").read.value;
  EXPECT_EQ(c.server, (tyer::core::endpoint{"shop", 6379}));
  EXPECT_FALSE(c.tls);
  EXPECT_EQ(c.database, 0);
  EXPECT_EQ(c.tombstone_ttl, 10min);
  EXPECT_EQ(c.waiters_max, 100'000u);
  EXPECT_EQ(c.in_flight_max, 65'536u);
}

TEST(config, everything) {
  const auto c =
      read("rediss://ann:s%40cret@[::1]:7000/2?tombstone_ttl=60&waiters_max=5&in_flight_max=9&ca=/a&cert=/b&key=/c")
          .read;
  ASSERT_FALSE(c.error) << c.error.words;
  EXPECT_EQ(c.value.server, (tyer::core::endpoint{"::1", 7000}));
  EXPECT_EQ(c.value.user, "ann");
  EXPECT_EQ(c.value.password, "s@cret");
  EXPECT_EQ(c.value.database, 2);
  EXPECT_EQ(c.value.tombstone_ttl, 60s);
  EXPECT_EQ(c.value.waiters_max, 5u);
  EXPECT_EQ(c.value.in_flight_max, 9u);
  EXPECT_TRUE(c.value.tls);
  EXPECT_TRUE(c.value.verify);
  EXPECT_EQ(c.value.ca + c.value.cert + c.value.key, "/a/b/c");
  EXPECT_EQ(c.value.shown.find("cret"), std::string::npos);
}

TEST(config, sentinels_and_their_master) {
  const auto c =
      read("rediss+sentinel://ann:s@a,b:7000/shop/2?sentinel_user=eve&sentinel_password=p%40w&replicas=1").read;
  ASSERT_FALSE(c.error) << c.error.words;
  EXPECT_EQ(c.value.deployment, tyer::redis::shape::sentinel);
  EXPECT_EQ(c.value.seeds, (std::vector<tyer::core::endpoint>{{"a", 26379}, {"b", 7000}}));
  EXPECT_EQ(c.value.master, "shop");
  EXPECT_EQ(c.value.database, 2);
  EXPECT_EQ(c.value.user + c.value.password, "anns");
  EXPECT_EQ(c.value.sentinel_user + c.value.sentinel_password, "evep@w");
  EXPECT_EQ(c.value.replicas, 1u);
  EXPECT_TRUE(c.value.tls);
  EXPECT_EQ(c.value.at({"10.0.0.1", 6380}).shown, "rediss://10.0.0.1:6380");
}

TEST(config, sentinels_need_the_name_of_the_master) {
  EXPECT_TRUE(read("redis+sentinel://a,b").read.error);
  EXPECT_TRUE(read("redis+sentinel://a,b/").read.error);
  EXPECT_TRUE(read("redis+sentinel://a/shop/x").read.error) << "not a database";
  EXPECT_TRUE(read("redis+sentinel://a/shop?sentinel_user=eve").read.error);
  EXPECT_TRUE(read("redis://a,b").read.error);
}

TEST(config, what_it_does_not_know_stays) {
  EXPECT_EQ(read("redis://h?colour=red").left.query.size(), 1u);
  for (const char* option : {"ca=/a", "cert=/a", "key=/a", "verify=none"}) {
    const auto forgot = read(std::string{"redis://h?"} + option);  // TLS options without TLS are somebody's mistake
    EXPECT_EQ(forgot.read.error.code, tyer::errc::invalid_uri);
    EXPECT_NE(forgot.read.error.words.find("rediss"), std::string::npos) << forgot.read.error.words;
  }
  EXPECT_TRUE(read("rediss://h?ca=/a").left.query.empty());
}

TEST(config, verification_ends_only_by_name) {
  EXPECT_FALSE(read("rediss://h?verify=none").read.value.verify);
  EXPECT_TRUE(read("rediss://h?verify=peer").read.value.verify);
  EXPECT_TRUE(read("rediss://h?verify=0").read.error);
  EXPECT_TRUE(read("rediss://h?verify=").read.error);
}

TEST(config, cluster) {
  const auto c = read("rediss+cluster://ann:pw@a:7000,b?replicas=1").read;
  ASSERT_FALSE(c.error) << c.error.words;
  EXPECT_EQ(c.value.deployment, tyer::redis::shape::cluster);
  EXPECT_EQ(c.value.seeds, (std::vector<tyer::core::endpoint>{{"a", 7000}, {"b", 6379}}));
  EXPECT_EQ(c.value.user, "ann");
  EXPECT_TRUE(c.value.tls);
  EXPECT_EQ(c.value.replicas, 1u);
  EXPECT_TRUE(read("redis+cluster://a,b/1").read.error) << "there are no databases";
}

TEST(config, refuses) {
  for (const char* text : {"redis://a,b", "redis://h/x", "redis://h/-1", "redis://h/1/2", "redis://ann@h",
                           "redis://h?tombstone_ttl=0", "redis://h?tombstone_ttl=1h", "redis://h?waiters_max=0",
                           "redis://h?in_flight_max=x", "rediss://h?cert=/a", "rediss://h?key=/a"}) {
    EXPECT_TRUE(read(text).read.error) << text;
  }
}

}  // namespace
