#include "contract/api/fixture.hpp"

namespace contract {
namespace {

std::error_code opening(std::string_view uri, tyer::client_options o = {}) {
  return code_of([&] { tyer::client c{uri, std::move(o)}; });
}
std::string objection(std::string_view uri, tyer::client_options o = {}) {
  return words_of([&] { tyer::client c{uri, std::move(o)}; });
}

class errors : public fixture {};

TEST_F(errors, a_uri_that_makes_no_sense_is_refused_and_says_where) {
  for (const char* uri : {"", "nonsense", "://", "redis:/127.0.0.1", "Redis://h", "redis://h:0", "redis://h:99999",
                          "redis://h:", "redis://[::1", "memory://%zz@h", "memory://a?=b"}) {
    EXPECT_EQ(opening(uri), errc::invalid_uri) << uri;
    EXPECT_EQ(opening(uri), std::errc::invalid_argument) << uri;
    EXPECT_NE(objection(uri), "") << uri;
  }
}

TEST_F(errors, an_unknown_option_of_the_uri_is_named) {
  const auto uri = engine_uri() + (engine_uri().find('?') == std::string::npos ? "?" : "&") + "colour=red";
  EXPECT_EQ(opening(uri), errc::invalid_uri);
  EXPECT_NE(objection(uri).find("colour"), std::string::npos) << objection(uri);
  EXPECT_NE(objection(uri).find(" ?prefix="), std::string::npos)
      << "those that are known are listed: " << objection(uri);
}

TEST_F(errors, an_option_that_was_given_twice_was_not_known) {
  const auto uri = engine_uri() + (engine_uri().find('?') == std::string::npos ? "?" : "&") + "prefix=a:&prefix=b:";
  EXPECT_EQ(opening(uri), errc::invalid_uri);
  EXPECT_NE(objection(uri).find("?prefix= is given twice"), std::string::npos) << objection(uri);
}

TEST_F(errors, an_unknown_scheme_lists_those_that_are_known) {
  EXPECT_EQ(opening("carrier-pigeon://coop"), errc::no_engine);
  const auto words = objection("carrier-pigeon://coop");
  for (const char* part : {"carrier-pigeon", "memory://", "redis://"}) {
    EXPECT_NE(words.find(part), std::string::npos) << words;
  }
}

TEST_F(errors, a_password_is_never_shown) {
  for (const char* uri : {"redis://u:secret@h:notaport", "carrier-pigeon://u:secret@h", "redis://u:sec%ret@h",
                          "redis://u:secret@h?colour=red", "redis://u:secret@h?password=secret"}) {
    try {
      tyer::client c{uri};
    } catch (const tyer::error& e) {
      EXPECT_EQ(std::string{e.what()}.find("sec"), std::string::npos) << e.what();
    }
  }
}

TEST_F(errors, client_options_out_of_range_are_named) {
  const auto named = [](tyer::client_options o, const char* what) {
    EXPECT_EQ(opening(engine_uri(), o), errc::invalid_option) << what;
    EXPECT_NE(objection(engine_uri(), o).find(what), std::string::npos) << what;
  };
  named({.request_timeout = 9ms}, "request_timeout");
  named({.request_timeout = -1s}, "request_timeout");
  named({.request_timeout = 2h}, "request_timeout");
  named({.unavailable_after = -1ms}, "unavailable_after");
  named({.prefix = std::string(257, 'x')}, "prefix");
}

template <class Kind>
class lock_errors : public contract_of<Kind> {};
TYPED_TEST_SUITE(lock_errors, blocking_kinds);

TYPED_TEST(lock_errors, a_name_has_1_to_1024_bytes) {
  auto c = this->connect();
  const auto making = [&](const std::string& n) { return code_of([&] { auto lock = this->make_as(c, n); }); };
  EXPECT_EQ(making(""), errc::invalid_name);
  EXPECT_EQ(making(std::string(1025, 'x')), errc::invalid_name);
  EXPECT_FALSE(making(std::string(1024, 'x')));
  EXPECT_FALSE(making("x"));
}

TYPED_TEST(lock_errors, options_out_of_range_are_named) {
  auto c = this->connect();
  const auto named = [&](tyer::lock_options o, const char* what) {
    EXPECT_EQ(code_of([&] { auto lock = this->make(c, o); }), errc::invalid_option) << what;
    EXPECT_NE(words_of([&] { auto lock = this->make(c, o); }).find(what), std::string::npos) << what;
  };
  named({.ttl = 99ms}, "ttl");
  named({.ttl = -1s}, "ttl");
  named({.ttl = 24h + 1ms}, "ttl");
  named({.local_handoffs = 256}, "local_handoffs");
  named({.waiter_ttl = 49ms}, "waiter_ttl");
  named({.waiter_ttl = -1ms}, "waiter_ttl");
  named({.waiter_ttl = 2h}, "waiter_ttl");
  named({.min_hold = -1ms}, "min_hold");
  named({.min_hold = 24h + 1ms}, "min_hold");
  named({.max_hold = -1ms}, "max_hold");
  named({.ttl = 10s, .max_hold = 4999ms}, "max_hold");
  named({.ttl = 10s, .min_hold = 7s, .max_hold = 6s}, "min_hold");
  named({.lock_delay = -1ms}, "lock_delay");
  named({.lock_delay = 1h + 1ms}, "lock_delay");
  const std::string too_long(257, 'n');
  named({.note = too_long}, "note");
  EXPECT_FALSE(code_of([&] { auto lock = this->make(c, {.ttl = 100ms, .local_handoffs = 255, .waiter_ttl = 50ms}); }));
  EXPECT_FALSE(code_of([&] {
    const auto delay = this->can().lock_delay ? 1h : 0h;
    auto lock = this->make(c, {.ttl = 10s, .min_hold = 24h, .lock_delay = delay, .note = too_long.substr(1)});
  }));
  EXPECT_FALSE(code_of([&] { auto lock = this->make(c, {.ttl = 10s, .min_hold = 5s, .max_hold = 5s}); }));
}

TYPED_TEST(lock_errors, a_client_that_was_moved_from_makes_no_locks) {
  auto c = this->connect();
  auto moved = std::move(c);
  EXPECT_EQ(code_of([&] { auto lock = this->make(c); }), errc::closed);  // NOLINT: that is the point
  EXPECT_TRUE(c.close());
  EXPECT_EQ(code_of([&] { static_cast<void>(c.wait_ready(1ms)); }), errc::closed);
  EXPECT_TRUE(took(this->make(moved).try_acquire()));
}

TEST_F(errors, where_there_are_no_tokens_nobody_is_given_one) {
  if (can().token) GTEST_SKIP() << "this engine has tokens";
  auto c = connect();
  const auto h = tyer::mutex{c, name()}.acquire();
  EXPECT_EQ(code_of([&] { static_cast<void>(h.token()); }), errc::unsupported);
  const auto several = tyer::multi_mutex{c, {name() + "/1", name() + "/2"}}.acquire();
  EXPECT_EQ(code_of([&] { static_cast<void>(several.token(name() + "/1")); }), errc::unsupported);
  EXPECT_EQ(code_of([&] { tyer::election{c, name()}; }), errc::unsupported) << "a term is a token";
}

}  // namespace
}  // namespace contract
