#include "engines/etcd/wire/message.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tyer::etcd::wire {
namespace {

using namespace std::chrono_literals;

TEST(etcd_message, comes_in_any_pieces) {
  std::string bytes;
  for (const auto& m : {std::string{}, std::string{"one"}, std::string(70'000, 'x')}) append_framed(bytes, m);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{4}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
    message_reader reader{100'000};
    std::vector<std::string> all;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      EXPECT_EQ(reader.feed(std::string_view{bytes}.substr(at, piece), [&](std::string m) { all.push_back(m); }),
                message_reader::verdict::fine);
    }
    ASSERT_EQ(all.size(), 3U) << piece;
    EXPECT_EQ(all[0], "");
    EXPECT_EQ(all[1], "one");
    EXPECT_EQ(all[2].size(), 70'000U);
    EXPECT_TRUE(reader.is_between_messages());
  }
}

TEST(etcd_message, that_is_too_long_is_refused_before_it_comes) {
  message_reader reader{10};
  EXPECT_EQ(reader.feed(std::string_view{"\0\0\0\0\x0b", 5}, [](const std::string&) { FAIL(); }),
            message_reader::verdict::too_long);
}

TEST(etcd_message, that_is_compressed_cannot_be_read) {
  message_reader reader{10};
  EXPECT_EQ(reader.feed(std::string_view{"\1\0\0\0\0", 5}, [](const std::string&) { FAIL(); }),
            message_reader::verdict::compressed);
}

TEST(etcd_message, reasons_are_decoded) {
  EXPECT_EQ(percent_decoded("etcdserver%3A 100%25 r%C3%A9sum%c3%a9"), "etcdserver: 100% r\xC3\xA9sum\xC3\xA9");
  EXPECT_EQ(percent_decoded("50% of %zz %4"), "50% of %zz %4");
}

TEST(etcd_message, a_deadline_has_at_most_eight_digits_and_is_never_nothing) {
  EXPECT_EQ(timeout_text(1500ms), "1500m");
  EXPECT_EQ(timeout_text(1us), "1m");
  EXPECT_EQ(timeout_text(-1s), "1m");
  EXPECT_EQ(timeout_text(100h * 24 * 365), "99999999m");
}

}  // namespace
}  // namespace tyer::etcd::wire
