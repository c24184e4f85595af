#include "primitives/multi.hpp"

#include <tyer/async.hpp>
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace tyer::primitives {
namespace {

multi_part part(const char* address, const char* name) {
  auto what = std::make_shared<runtime::spec>();
  what->name = name;
  return {std::string{"tyer:  "} + address,
          std::make_shared<detail::lock_state>(nullptr, std::move(what), std::source_location::current())};
}

std::vector<std::string> order_of(std::vector<multi_part> parts) {
  std::vector<std::string> names;
  for (const auto& l : in_order(std::move(parts))) names.push_back(l->what->name);
  return names;
}

// The server is the same one. Ordered by address first, one takes a and waits for b, the other takes b and waits for a.
TEST(multi_order, two_addresses_of_one_server_made_two_wait_for_each_other) {
  const auto one = order_of({part("redis://localhost:1", "b"), part("redis://127.0.0.1:1", "a")});
  const auto other = order_of({part("redis://localhost:1", "a"), part("redis://127.0.0.1:1", "b")});
  EXPECT_EQ(one, other);
  EXPECT_EQ(one, (std::vector<std::string>{"a", "b"}));
}

TEST(multi_order, the_same_name_on_two_servers_is_two_locks_in_the_order_of_the_servers) {
  const auto first = part("redis://one:1", "x"), second = part("redis://two:1", "x");
  const auto all = in_order({second, first, second});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0], first.lock);
  EXPECT_EQ(all[1], second.lock);
}

// A callback of lost() may wait for whatever the thread that gives the locks back has locked.
TEST(multi_hold_that_was_lost, ended_only_after_somebodys_callback_and_kept_the_others_taken) {
  client c{"memory://"};
  const admin operators{c};
  const multi_mutex both{c, {"a", "b"}};
  for (const bool started : {false, true}) {
    multi_hold h = both.acquire();
    std::latch inside{1}, go_on{1};
    const auto slow = [&] {
      inside.count_down();
      go_on.wait();
    };
    std::optional<std::stop_callback<decltype(slow)>> on_loss{std::in_place, h.lost(), slow};
    ASSERT_TRUE(operators.evict(operators.show("a").front(), "test"));
    inside.wait();
    auto ended = std::async(std::launch::async, [&] {
      if (started) start_release(std::move(h), [](const failure&, release_outcome) {});
      h = {};
    });
    EXPECT_EQ(ended.wait_for(std::chrono::seconds{10}), std::future_status::ready);
    if (ended.wait_for(std::chrono::seconds{0}) == std::future_status::ready) {
      EXPECT_TRUE(mutex(c, "b").acquire().valid()) << "it was given back";
    }
    go_on.count_down();
  }
}

TEST(multi_hold_that_was_lost, may_be_ended_by_its_own_callback) {
  testing::engine engine;
  client c = engine.connect();
  const multi_mutex both{c, {"a", "b"}};
  multi_hold h = both.acquire();
  std::promise<void> told;
  const std::stop_callback on_loss{h.lost(), [&] {
                                     h = {};
                                     told.set_value();
                                   }};
  engine.lose(h.parts()[1]);
  told.get_future().get();
  EXPECT_TRUE(both.acquire().valid());
}

}  // namespace
}  // namespace tyer::primitives
