// redlock://, as the table of engines takes it. This program has no Redis engine.
#include "core/uri.hpp"

#include "core/clock.hpp"
#include "core/id.hpp"
#include "engine/table.hpp"

#include <gtest/gtest.h>

namespace tyer::redlock {
namespace {

using namespace std::chrono_literals;

tyer::failure made(const std::string& text) {
  core::boot_clock clock;
  core::random_ids ids;
  return engine::make(core::parse_uri(text).value, {"tyer:", &ids, &clock, 2s, {}}).error;
}

TEST(redlock_uri, says_what_it_needs) {
  for (const std::string scheme : {"redlock", "redlocks"}) {
    const auto f = made(scheme + "://a:1,b:2,c:3");
    EXPECT_EQ(f.code, make_error_code(errc::no_engine));
    EXPECT_EQ(f.words, scheme + ":// needs the component tyer::redis");
  }
}

TEST(redlock_uri, takes_an_odd_number_of_hosts) {
  for (const char* text : {"redlock://", "redlock://a:1", "redlock://a:1,b:2", "redlock://a:1,b:2,c:3,d:4"}) {
    const auto f = made(text);
    EXPECT_EQ(f.code, make_error_code(errc::invalid_uri)) << text;
    EXPECT_NE(f.words.find("odd number of hosts"), std::string::npos) << f.words;
  }
}

TEST(redlock_uri, a_node_time_out_is_at_most_half_of_the_request_time_out) {
  for (const char* text : {"0", "x", "1001", "-1", ""}) {
    const auto f = made(std::string{"redlock://a,b,c?node_timeout="} + text);
    EXPECT_EQ(f.code, make_error_code(errc::invalid_uri)) << text;
    EXPECT_NE(f.words.find("node_timeout"), std::string::npos) << f.words;
  }
  EXPECT_EQ(made("redlock://a,b,c?node_timeout=1000").code, make_error_code(errc::no_engine));
}

}  // namespace
}  // namespace tyer::redlock
