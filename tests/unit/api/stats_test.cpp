// client::stats(): what a user sees, on an engine whose time is moved by hand.
#include "api/access.hpp"
#include "took.hpp"

#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace tyer {
namespace {

using namespace std::chrono_literals;

std::uint64_t acquires(const group_stats& g) {
  return g.acquire_duration[acquire_end::granted].count() + g.acquire_duration[acquire_end::queued].count() +
         g.acquire_duration[acquire_end::handed_off].count();
}

TEST(stats, a_lock_is_counted_in_its_group) {
  testing::engine engine;
  auto c = engine.connect();
  mutex orders{c, "order/42", {.group = "orders"}}, plain{c, "other"};
  auto h = orders.acquire();
  engine.advance(3s);
  h.release();
  const auto s = c.stats();
  ASSERT_EQ(s.groups.size(), 2u);
  EXPECT_EQ(s.groups[0].name, "");
  EXPECT_EQ(acquires(s.groups[0]), 0u);
  EXPECT_EQ(s.groups[1].name, "orders");
  EXPECT_EQ(acquires(s.groups[1]), 1u);
  EXPECT_EQ(s.groups[1].holds, 0u);
  EXPECT_EQ(s.groups[1].hold_duration.sum, 3s);
}

TEST(stats, every_kind_of_lock_has_a_group) {
  testing::engine engine;
  auto c = engine.connect();
  const lock_options in{.group = "g"};
  shared_mutex both{c, "shared", in};
  semaphore some{c, "some", 3, in};
  multi_mutex several{c, {"a", "b"}, in};
  recursive_mutex again{c, "recursive", in};
  election vote{c, "vote", in};
  const auto writer = both.acquire();
  const auto permits = some.permits(2).acquire();
  const auto two = several.acquire();
  again.lock();
  again.lock();
  const auto leads = vote.acquire();
  EXPECT_EQ(c.stats().groups.at(1).holds, 6u) << "one is entered twice, and held once";
  EXPECT_EQ(c.stats().groups.at(0).holds, 0u);
  again.unlock();
  again.unlock();
}

TEST(stats, a_group_that_no_exporter_could_show_is_refused) {
  testing::engine engine;
  auto c = engine.connect();
  for (const auto& bad : {std::string(65, 'x'), std::string{"a\nb"}, std::string{"\xff"}, std::string{"订单"}}) {
    try {
      mutex m{c, "m", {.group = bad}};
      ADD_FAILURE() << bad;
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::invalid_option);
      EXPECT_NE(e.words().find("group"), std::string::npos);
    }
  }
  const mutex longest{c, "m", {.group = std::string(64, '~')}};
}

TEST(stats, a_loss_and_who_waits) {
  testing::engine engine;
  auto c = engine.connect(), other = engine.connect();
  mutex mine{c, "order"}, theirs{other, "order"};
  auto h = mine.acquire();
  EXPECT_FALSE(took(theirs.try_acquire()));
  EXPECT_FALSE(took(theirs.try_acquire_for(5s)));
  EXPECT_EQ(other.stats().groups[0].acquire_duration[acquire_end::busy].count(), 1u);
  EXPECT_EQ(other.stats().groups[0].acquire_duration[acquire_end::timed_out].sum, 5s);
  engine.lose(h);
  EXPECT_EQ(c.stats().groups[0].losses[loss_reason::gone], 1u);
  EXPECT_EQ(c.stats().groups[0].holds, 0u);
  EXPECT_EQ(other.stats().groups[0].losses[loss_reason::gone], 0u);
}

TEST(stats, of_a_client_that_was_closed_or_moved_from) {
  testing::engine engine;
  auto c = engine.connect();
  mutex m{c, "order"};
  auto h = m.acquire();
  c.close();
  EXPECT_EQ(c.stats().groups[0].losses[loss_reason::closed], 1u);
  EXPECT_EQ(c.stats().groups[0].holds, 0u);
  const client moved{std::move(c)};
  EXPECT_EQ(acquires(moved.stats().groups[0]), 1u);
  EXPECT_TRUE(c.stats().groups.empty());
}

// An exporter has a thread of its own, and knows nothing of the client's end.
TEST(stats, of_a_client_that_is_gone) {
  testing::engine engine;
  std::function<client_stats()> read;
  {
    auto c = engine.connect();
    mutex m{c, "order"};
    const auto h = m.acquire();
    read = c.stats_reader();
  }
  const auto s = read();
  EXPECT_EQ(acquires(s.groups.at(0)), 1u);
  EXPECT_EQ(s.groups[0].holds, 0u);
}

// It was: a reader that was forgotten somewhere kept the engine, with a thread and five descriptors.
TEST(stats, a_reader_kept_the_engine_of_a_client_that_is_gone) {
  const auto engine = std::make_shared<bool>();
  std::function<client_stats()> read;
  {
    client_options o;
    o.log = [engine](log_level, std::string_view) {};  // what the client has of ours goes with it
    const client c{"memory://stats_gone", o};
    read = c.stats_reader();
    EXPECT_GT(engine.use_count(), 2);
  }
  EXPECT_EQ(engine.use_count(), 1);
  EXPECT_EQ(read().groups.size(), 1u);
}

TEST(stats, a_forked_child_has_none) {
  client c{"memory://stats_forked"};
  const auto child = ::fork();
  if (child == 0) ::_exit(c.stats().groups.empty() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// A thread of the parent may have had the mutex of the groups when the child was forked.
TEST(stats, a_lock_that_a_forked_child_made_looked_for_its_group_and_waited_for_ever) {
  client c{"memory://stats_forked_group"};
  const auto child = ::fork();
  if (child == 0) {
    const mutex m{c, "order/42", {.group = "orders"}};
    ::_exit(detail::access::state(m)->what->counted_in == nullptr ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Threads that lock, hand off and are counted, and one that reads meanwhile: ThreadSanitizer looks on.
TEST(stats, are_read_while_they_are_counted) {
  client c{"memory://stats_read"};
  constexpr int threads = 4, turns = 200;
  std::atomic<bool> over{false};
  std::jthread reader{[&] {
    std::uint64_t last = 0;
    while (!over) {
      const auto s = c.stats();
      const auto now = acquires(s.groups.at(0));
      EXPECT_GE(now, last);
      EXPECT_LE(now, static_cast<std::uint64_t>(threads) * turns);
      EXPECT_LE(s.groups[0].waiters, static_cast<std::uint64_t>(threads));
      EXPECT_FALSE(to_json(s).empty());
      last = now;
    }
  }};
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&] {
        mutex m{c, "hot"};
        for (int n = 0; n < turns; ++n) {
          const auto h = m.acquire();
          EXPECT_TRUE(h);
        }
      });
    }
  }
  over = true;
  reader.join();
  c.close();
  const auto s = c.stats();
  EXPECT_EQ(acquires(s.groups[0]), static_cast<std::uint64_t>(threads) * turns);
  EXPECT_EQ(s.groups[0].hold_duration.count(), static_cast<std::uint64_t>(threads) * turns);
  EXPECT_EQ(s.groups[0].waiters, 0u);
  EXPECT_EQ(s.groups[0].holds, 0u);
}

}  // namespace
}  // namespace tyer
