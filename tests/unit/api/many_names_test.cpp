// The names of a multi_mutex, from whatever one has them in.
#include "took.hpp"
#include "unit/api/later.hpp"

#include <tyer/multi_mutex.hpp>
#include <tyer/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::testing_api {
namespace {

class many_names : public ::testing::Test {
 protected:
  static std::vector<std::string> taken_by(const multi_mutex& m) {
    std::vector<std::string> names;
    const multi_hold h = m.acquire();
    for (const hold& one : h.parts()) names.emplace_back(one.name());
    return names;
  }

  testing::engine engine;
  client a = engine.connect(), b = engine.connect();
  const std::vector<std::string> both{"x", "y"};
};

TEST_F(many_names, two_names_are_two_however_they_are_written) {
  const std::string x = "x";
  const std::array<std::string_view, 2> views{"y", x};
  EXPECT_EQ(taken_by(multi_mutex{a, {"y", "x"}}), both);
  EXPECT_EQ(taken_by(multi_mutex{a, {x, "y", "x"}}), both);
  EXPECT_EQ(taken_by(multi_mutex{a, both}), both);
  EXPECT_EQ(taken_by(multi_mutex{a, views}), both);
  EXPECT_EQ(taken_by(multi_mutex{a, std::vector<std::string>{"y", "x"}, {.ttl = 5s}}), both);
  EXPECT_EQ(taken_by(multi_mutex{{{a, "y"}, {b, "x"}}}), both);
  EXPECT_EQ(taken_by(multi_mutex{{a, "y"}, {b, "x"}}), both);
}

TEST_F(many_names, none_is_refused) {
  const std::vector<std::string> none;
  EXPECT_THROW((multi_mutex{a, none}), error);
  EXPECT_THROW((multi_mutex{std::vector<multi_mutex::part>{}}), error);
}

TEST_F(many_names, parts_keep_names_made_of_temporaries_and_can_be_sorted) {
  std::vector<multi_mutex::part> parts;
  for (const char* n : {"second", "first"})
    parts.emplace_back(a, "a-name-too-long-for-a-small-string/" + std::string{n});
  std::ranges::sort(parts, {}, &multi_mutex::part::name);
  parts.push_back(parts.front());
  parts.front() = {b, "x"};
  EXPECT_EQ(taken_by(multi_mutex{parts}), (std::vector<std::string>{"a-name-too-long-for-a-small-string/first",
                                                                    "a-name-too-long-for-a-small-string/second", "x"}));
}

TEST_F(many_names, a_part_without_a_client_is_refused) {
  std::vector<multi_mutex::part> parts{{a, "x"}, {b, "y"}};
  parts.back().on = nullptr;
  try {
    const multi_mutex m{parts};
    FAIL() << "was made";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_option);
  }
}

TEST_F(many_names, a_guard_can_wait_for_them_for_so_long) {
  multi_mutex m{a, both};
  ASSERT_TRUE(m.try_lock_for(1s));
  EXPECT_EQ(m.held().parts().size(), 2U);
  EXPECT_FALSE(m.try_lock_for(1s));  // the same object: a local mutex too
  EXPECT_FALSE(m.try_lock_for(0s));
  m.unlock();

  mutex theirs{b, "y"};
  hold h = theirs.acquire();
  const auto began = engine.now();
  EXPECT_FALSE(m.try_lock_for(5s));
  EXPECT_GE(engine.now() - began, 5s);
  EXPECT_TRUE(took(mutex(b, "x").try_acquire_for(1h)));  // nothing was kept, or it is on its way back
  h = {};
  const std::unique_lock guard{m, 1h};
  EXPECT_TRUE(guard.owns_lock());
}

TEST_F(many_names, an_engine_that_is_away_is_false_at_the_limit) {
  multi_mutex m{a, both};
  engine.pause();
  EXPECT_FALSE(m.try_lock_for(5s));
  engine.resume();
  EXPECT_TRUE(m.try_lock_for(std::chrono::hours::max()));
  m.unlock();
}

}  // namespace
}  // namespace tyer::testing_api
