// Where the locks of a URI are: equal places are one lock to a multi_mutex, and others are two.
#include "core/clock.hpp"
#include "core/id.hpp"
#include "core/uri.hpp"
#include "engine/table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tyer::engine {
namespace {

using namespace std::chrono_literals;
using pairs = std::vector<std::array<std::string, 2>>;

made make_of(const std::string& uri) {
  static core::boot_clock clock;
  static core::random_ids ids;
  return make(core::parse_uri(uri).value, {"tyer:", &ids, &clock, 2s, {}});
}

// None: this build has no such engine.
std::optional<std::string> place_of(const std::string& uri) {
  const auto m = make_of(uri);
  if (m.error.code == errc::no_engine) return std::nullopt;
  EXPECT_FALSE(m.error) << uri << ": " << m.error.words;
  return m.place;
}

TEST(places, one_that_was_written_in_two_ways_was_two_locks_that_waited_for_each_other) {
  const pairs all{
      {"redis://h", "redis://H:6379/0"},
      {"redis://", "redis://127.0.0.1:6379/"},
      {"rediss://[::1]/2", "rediss://[0:0::1]:6379/02"},
      {"redis://h", "redis://u:p@h?waiters_max=7"},
      {"redis+sentinel://a,b/main", "redis+sentinel://b:26379,a/main/0"},
      {"redis+cluster://a,b", "redis+cluster://b,a:6379"},
      {"redlock://a,b,c", "redlock://c:6379,b,a/0"},
      {"etcd://a,b,c", "etcd://c,b:2379,a"},
      {"etcd://", "etcd://127.0.0.1"},
      {"postgres://u@127.0.0.1/d", "postgresql://u:p@127.0.0.1:5432/d"},
      {"postgres://u@127.0.0.1", "postgres://u@127.0.0.1/u"},
      {"mysql://127.0.0.1/d", "mariadb://127.0.0.1:3306/d"},
      {"mysql://127.0.0.1/d?lock=session", "mysql://127.0.0.1/e?lock=session"},
      {"postgres://u@127.0.0.1/d?lock=session", "postgres://v@127.0.0.1/d?lock=session"},
  };
  for (const auto& [one, other] : all) EXPECT_EQ(place_of(one), place_of(other)) << one << ' ' << other;
}

TEST(places, two_databases_of_two_users_who_named_none_were_one_lock) {
  const auto one = place_of("postgres://ann@127.0.0.1"), other = place_of("postgres://bob@127.0.0.1");
  if (!one) GTEST_SKIP() << "no PostgreSQL in this build";
  EXPECT_NE(one, other);
  EXPECT_NE(place_of("postgres://ann@127.0.0.1/d"), place_of("postgres://bob@127.0.0.1/d")) << "each with a schema";
}

TEST(places, what_differs_is_two) {
  const pairs all{
      {"redis://h", "redis://h/1"},
      {"redis://h", "redis://h:6380"},
      {"redis://h", "rediss://h"},
      {"redis+sentinel://a,b/main", "redis+sentinel://a,b/other"},
      {"redis+sentinel://a,b/main", "redis+sentinel://a,b/main/1"},
      {"redis+sentinel://a,b/main/1", "redis+sentinel://a,b/main1"},
      {"redis://a", "redis+cluster://a"},
      {"redlock://a,b,c", "redlock://a,b,d"},
      {"redlock://a,b,c", "redlock://a,b,c/1"},
      {"mysql://127.0.0.1/d", "mysql://127.0.0.1/D"},
      {"postgres://u@127.0.0.1/d?lock=session", "postgres://u@127.0.0.1/e?lock=session"},
      {"memory://a", "memory://b"},
      {"memory://a", "memory://A"},
  };
  for (const auto& [one, other] : all) {
    const auto place = place_of(one);
    if (!place) continue;  // not in this build
    EXPECT_NE(place, place_of(other)) << one << ' ' << other;
  }
}

TEST(places, have_no_login) {
  for (const char* uri : {"redis://ann:secret@h", "redlock://ann:secret@a,b,c", "etcd://ann:secret@h"})
    EXPECT_EQ(place_of(uri).value_or("").find("secret"), std::string::npos) << uri;
}

TEST(places, a_server_of_redlock_with_and_without_its_port_voted_twice) {
  if (!place_of("redis://h")) GTEST_SKIP() << "no Redis in this build";
  for (const char* uri : {"redlock://a:1,b:2,a:1", "redlock://a,b,a:6379", "redlock://a,b,A"}) {
    const auto m = make_of(uri);
    EXPECT_EQ(m.error.code, errc::invalid_uri) << uri;
    EXPECT_NE(m.error.words.find("twice"), std::string::npos) << m.error.words;
  }
}

}  // namespace
}  // namespace tyer::engine
