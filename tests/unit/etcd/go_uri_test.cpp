#include "core/clock.hpp"
#include "engine/table.hpp"

#include <gtest/gtest.h>

namespace {

std::string words_of(const std::string& text) {
  auto parsed = tyer::core::parse_uri(text);
  EXPECT_FALSE(parsed.error) << text;
  tyer::core::boot_clock clock;
  tyer::core::random_ids ids;
  return ::tyer_engine_etcd(parsed.value, {"", &ids, &clock, std::chrono::milliseconds{2000}, {}}).error.words;
}

TEST(go_uri, says_what_means_nothing_there) {
  EXPECT_EQ(words_of("etcd://h?protocol=go"), "");
  EXPECT_EQ(words_of("etcd://h:1,h:2?protocol=go"), "");
  EXPECT_NE(words_of("etcd://h?protocol=other").find("must be go"), std::string::npos);
  EXPECT_NE(words_of("etcd://h?protocol=go&waiters_max=5").find("waiters_max"), std::string::npos);
}

}  // namespace
