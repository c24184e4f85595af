#include <tyer/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <system_error>

namespace tyer {
namespace {

constexpr int first = static_cast<int>(errc::lost), last = static_cast<int>(errc::not_held);

TEST(error, every_code_has_words_of_its_own) {
  std::set<std::string> seen;
  for (int c = first; c <= last; ++c) {
    const auto code = make_error_code(static_cast<errc>(c));
    EXPECT_NE(code.message(), "unknown error") << c;
    EXPECT_TRUE(seen.insert(code.message()).second) << code.message();
    EXPECT_EQ(code.category().name(), std::string{"tyer"});
  }
  EXPECT_EQ(category().message(9999), "unknown error");
}

TEST(error, codes_are_what_the_standard_calls_them) {
  EXPECT_EQ(make_error_code(errc::cancelled), std::errc::operation_canceled);
  EXPECT_EQ(make_error_code(errc::lost), std::errc::owner_dead);
  EXPECT_EQ(make_error_code(errc::unsupported), std::errc::operation_not_supported);
  EXPECT_EQ(make_error_code(errc::would_deadlock), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(make_error_code(errc::invalid_uri), std::errc::invalid_argument);
  EXPECT_EQ(make_error_code(errc::closed), std::errc::not_connected);
  EXPECT_NE(make_error_code(errc::lost), std::errc::timed_out);
}

TEST(error, every_code_maps_to_a_standard_condition) {
  for (int c = first; c <= last; ++c) {
    EXPECT_EQ(make_error_code(static_cast<errc>(c)).default_error_condition().category(), std::generic_category()) << c;
  }
}

TEST(error, a_failure_is_true_if_something_failed) {
  EXPECT_FALSE(failure{});
  EXPECT_TRUE(failure{errc::lost});
  EXPECT_TRUE((failure{std::make_error_code(std::errc::not_enough_memory), "words"}));
}

TEST(error, a_failure_is_compared_with_a_code) {
  const failure f{errc::lost, "words"};
  EXPECT_TRUE(f == errc::lost);
  EXPECT_TRUE(f != errc::cancelled);
  EXPECT_FALSE(failure{} == errc::lost);
  EXPECT_FALSE((failure{std::make_error_code(std::errc::owner_dead)} == errc::lost));  // a code, not what it means
}

TEST(error, a_failure_says_what_it_is_in_one_line) {
  EXPECT_EQ(failure{}.message(), "");
  EXPECT_EQ(failure{errc::closed}.message(), "the client was closed");
  EXPECT_EQ((failure{errc::refused, "NOPERM"}.message()), "the engine refused: NOPERM");
}

TEST(error, what_may_succeed_later_by_itself_is_transient) {
  for (const errc c : {errc::unavailable, errc::outcome_unknown, errc::over_limit}) EXPECT_TRUE(is_transient(c));
  EXPECT_TRUE(is_transient(std::make_error_code(std::errc::not_enough_memory)));
  for (const errc c : {errc::lost, errc::cancelled, errc::refused, errc::invalid_name, errc::closed, errc::not_held})
    EXPECT_FALSE(is_transient(c));
  EXPECT_FALSE(is_transient({}));
}

TEST(error, an_exception_carries_the_engines_words) {
  const error e{failure{errc::refused, "NOPERM this user has no permissions"}};
  EXPECT_EQ(e.code(), errc::refused);
  EXPECT_EQ(e.words(), "NOPERM this user has no permissions");
  EXPECT_NE(std::string{e.what()}.find("NOPERM"), std::string::npos);
}

TEST(error, an_exception_without_words_says_what_it_is) {
  const error e{failure{errc::closed}};
  EXPECT_TRUE(e.words().empty());
  EXPECT_NE(std::string{e.what()}.find("closed"), std::string::npos);
}

}  // namespace
}  // namespace tyer
