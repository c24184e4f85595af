// What is special about one writer or many readers.
#include "contract/api/child.hpp"
#include "contract/api/fixture.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace contract {
namespace {

class shared_lock : public fixture {
 protected:
  void SetUp() override {
    if (!can().shared) GTEST_SKIP() << no_such_lock;
  }

  static inline const tyer::lock_options options{.ttl = 60s, .local_handoffs = 0};

  tyer::client a = connect_if(can().shared), b = connect_if(can().shared), c = connect_if(can().shared);
  tyer::shared_mutex in_a{a, name(), options}, in_b{b, name(), options}, in_c{c, name(), options};
};

TEST_F(shared_lock, readers_are_together_and_keep_a_writer_out) {
  auto one = in_a.shared().acquire(), two = in_b.shared().try_acquire(), three = in_a.shared().try_acquire();
  EXPECT_TRUE(one.valid() && two.valid() && three.valid());
  EXPECT_EQ(one.mode(), tyer::lock_mode::shared);
  EXPECT_FALSE(took(in_c.try_acquire()));
  one.release();
  three.release();
  EXPECT_FALSE(took(in_c.try_acquire()));
  two.release();
  auto writer = in_c.try_acquire();
  EXPECT_TRUE(writer.valid());
  EXPECT_EQ(writer.mode(), tyer::lock_mode::exclusive);
  EXPECT_FALSE(took(in_a.shared().try_acquire()));
}

TEST_F(shared_lock, readers_of_one_client_are_together_too) {
  auto one = in_a.shared().acquire();
  const stopwatch watch;
  auto two = in_a.shared().acquire();
  auto three = in_a.shared().try_acquire_for(patience);
  EXPECT_LT(watch.elapsed(), slack);
  EXPECT_TRUE(one.valid() && two.valid() && three.valid());
  EXPECT_EQ(raw().holding(name()).size(), 3U);
}

// Each of them once saw an attempt of another thread under way, and gave up.
TEST_F(shared_lock, tries_of_one_client_at_the_same_moment_all_get_in) {
  constexpr int readers = 8;
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ready{0}, in{0};
    std::vector<tyer::hold> holds(readers);
    {
      std::vector<std::jthread> all;
      for (int i = 0; i < readers; ++i) {
        all.emplace_back([&, i] {
          ++ready;
          while (ready < readers) std::this_thread::yield();
          holds[static_cast<std::size_t>(i)] = in_a.shared().try_acquire();
          if (holds[static_cast<std::size_t>(i)]) ++in;
        });
      }
    }
    EXPECT_EQ(in.load(), readers);
  }
}

TEST_F(shared_lock, a_writer_that_waits_stops_later_readers) {
  auto reader = in_a.shared().acquire();
  auto writer = acquire_later(in_b);
  ASSERT_TRUE(queue_has(1));
  EXPECT_FALSE(took(in_c.shared().try_acquire()));
  EXPECT_FALSE(took(in_a.shared().try_acquire()));
  auto late = acquire_later(in_c.shared());
  ASSERT_TRUE(queue_has(2));
  reader.release();
  auto w = soon(writer.done).hold;
  EXPECT_TRUE(w.valid());
  EXPECT_EQ(late.done.wait_for(0s), std::future_status::timeout);
  w.release();
  EXPECT_TRUE(soon(late.done).hold.valid());
}

TEST_F(shared_lock, a_writer_that_gives_up_lets_the_readers_behind_it_in) {
  auto reader = in_a.shared().acquire();
  auto writer = acquire_later(in_b);
  ASSERT_TRUE(queue_has(1));
  auto late = acquire_later(in_c.shared());
  ASSERT_TRUE(queue_has(2));
  writer.handle->cancel();
  EXPECT_EQ(soon(writer.done).why.code, errc::cancelled);
  EXPECT_TRUE(soon(late.done).hold.valid());
  EXPECT_TRUE(reader.valid());
}

TEST_F(shared_lock, a_writer_that_died_in_the_queue_kept_the_readers_behind_it_out_until_a_reader_ended) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  if (!can().queue) GTEST_SKIP() << no_queue;
  auto reader = in_a.shared().acquire();
  child writer{{.name = name(), .kind = "shared_mutex"}};
  ASSERT_TRUE(queue_has(1));
  auto late = acquire_later(in_c.shared());
  ASSERT_TRUE(queue_has(2));
  writer.kill();
  const stopwatch watch;
  EXPECT_TRUE(soon(late.done).hold.valid());
  // The dead one's place (on etcd a crash costs up to 3 s), and a third of the reader's.
  EXPECT_LT(watch.elapsed(), 3s + 1s + slack);
  EXPECT_TRUE(reader.valid());
}

TEST_F(shared_lock, all_readers_at_the_head_of_the_queue_come_in_together) {
  auto writer = in_a.acquire();
  auto d = connect(), e = connect();
  tyer::shared_mutex in_d{d, name(), options}, in_e{e, name(), options};
  auto one = acquire_later(in_b.shared());
  ASSERT_TRUE(queue_has(1));
  auto two = acquire_later(in_c.shared());
  ASSERT_TRUE(queue_has(2));
  auto next_writer = acquire_later(in_e);
  ASSERT_TRUE(queue_has(3));
  auto behind = acquire_later(in_d.shared());
  ASSERT_TRUE(queue_has(4));
  const auto written = writer.token();
  writer.release();
  auto first = soon(one.done).hold, second = soon(two.done).hold;
  EXPECT_GT(first.token(), written);
  EXPECT_GT(second.token(), written);
  EXPECT_TRUE(queue_has(2));  // the writer, and the reader behind it
  EXPECT_EQ(behind.done.wait_for(0s), std::future_status::timeout);
  const auto read = std::max(first.token(), second.token());
  first.release();
  second.release();
  auto again = soon(next_writer.done).hold;
  EXPECT_GT(again.token(), read);
  again.release();
  EXPECT_TRUE(took(soon(behind.done).hold));
}

TEST_F(shared_lock, a_writer_never_meets_a_reader_nor_another_writer) {
  std::atomic<int> readers{0}, writers{0}, turns{0};
  const auto read = [&](tyer::shared_mutex& m) {
    for (int i = 0; i < 20; ++i) {
      auto h = m.shared().acquire();
      ++readers;
      EXPECT_EQ(writers.load(), 0);
      --readers;
      ++turns;
    }
  };
  const auto write = [&](tyer::shared_mutex& m) {
    for (int i = 0; i < 10; ++i) {
      auto h = m.acquire();
      EXPECT_EQ(writers.fetch_add(1), 0);
      EXPECT_EQ(readers.load(), 0);
      --writers;
      ++turns;
    }
  };
  tyer::shared_mutex with_handoff{a, name()}, elsewhere{b, name()};
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 4; ++i) {
      all.emplace_back([&] { read(with_handoff); });
      all.emplace_back([&] { read(elsewhere); });
    }
    for (int i = 0; i < 2; ++i) {
      all.emplace_back([&] { write(with_handoff); });
      all.emplace_back([&] { write(elsewhere); });
    }
  }
  EXPECT_EQ(turns.load(), 8 * 20 + 4 * 10);
}

TEST_F(shared_lock, a_reader_that_dies_lets_the_writer_in_within_its_ttl) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  child reader{{.name = name(), .kind = "shared"}};
  ASSERT_TRUE(reader.line_with("held", patience));
  auto other = in_a.shared().acquire();
  auto writer = acquire_later(in_b);
  ASSERT_TRUE(queue_has(1));
  reader.kill();
  const stopwatch watch;
  other.release();
  EXPECT_TRUE(soon(writer.done).hold.valid());
  EXPECT_LT(watch.elapsed(), child_order{}.ttl + slack);
}

TEST_F(shared_lock, a_lost_reader_is_told_and_the_others_go_on) {
  auto one = in_a.shared().acquire(), two = in_b.shared().acquire();
  const auto held = raw().holding(name());
  ASSERT_EQ(held.size(), 2U);
  raw().evict(held.front());
  EXPECT_TRUE(eventually([&] { return one.lost().stop_requested() || two.lost().stop_requested(); }));
  EXPECT_NE(one.valid(), two.valid());
  EXPECT_FALSE(took(in_c.try_acquire()));
}

TEST_F(shared_lock, hand_off_goes_from_reader_to_reader_but_not_for_ever) {
  tyer::shared_mutex handing{a, name(), {.ttl = 60s, .local_handoffs = 2}};
  auto writer = in_b.acquire();
  std::mutex order_mutex;
  std::string order;
  std::promise<void> all;
  const auto put = [&](char who) {
    const std::lock_guard guard{order_mutex};
    order += who;
    if (order.size() == 7) all.set_value();
  };
  for (int i = 0; i < 6; ++i) acquire_then(handing.shared(), [&](answer got) { put(got.hold.valid() ? 'r' : '?'); });
  ASSERT_TRUE(queue_has(1));
  acquire_then(in_c, [&](answer got) { put(got.hold.valid() ? 'W' : '?'); });
  ASSERT_TRUE(queue_has(2));
  writer.release();
  soon(all.get_future());
  const std::lock_guard last_one_is_out{order_mutex};
  EXPECT_EQ(order, "rrrWrrr");
}

// ---- the standard face

TEST_F(shared_lock, works_with_the_guards_for_readers_and_writers) {
  {
    const std::shared_lock one{in_a};
    std::shared_lock two{in_a, std::try_to_lock};
    EXPECT_TRUE(two.owns_lock());
    std::shared_lock three{in_b, 5s};
    EXPECT_TRUE(three.owns_lock());
    two.unlock();
    EXPECT_TRUE(two.try_lock_until(steady_clock::now() + patience));
    EXPECT_EQ(raw().holding(name()).size(), 3U);
    EXPECT_FALSE(in_c.try_lock());
    EXPECT_FALSE(in_a.try_lock());
    EXPECT_FALSE(in_a.try_lock_for(20ms));
    EXPECT_EQ(code_of([&] { static_cast<void>(in_a.held()); }), errc::not_held);
  }
  std::unique_lock writer{in_c, patience};
  ASSERT_TRUE(writer.owns_lock());
  EXPECT_TRUE(in_c.held().valid());
  EXPECT_FALSE(in_a.try_lock_shared());
  EXPECT_FALSE(in_c.try_lock_shared());
  EXPECT_FALSE(in_c.try_lock_shared_for(20ms));
}

TEST_F(shared_lock, one_object_is_a_local_shared_mutex) {
  std::atomic<int> readers{0}, most{0};
  int written = 0;
  {
    std::vector<std::jthread> all;
    for (int t = 0; t < 6; ++t) {
      all.emplace_back([&, t] {
        for (int i = 0; i < 15; ++i) {
          if (t < 2) {
            const std::unique_lock guard{in_a};
            EXPECT_EQ(readers.load(), 0);
            ++written;  // not atomic
          } else {
            const std::shared_lock guard{in_a};
            most = std::max(most.load(), ++readers);
            static_cast<void>(written);
            --readers;
          }
        }
      });
    }
  }
  EXPECT_EQ(written, 30);
}

// A reader that unlocks once gave back any of the readers' holds: perhaps the one that was still good.
TEST_F(shared_lock, the_reader_that_unlocks_gives_back_the_hold_that_was_lost) {
  in_a.lock_shared();
  const auto first = raw().holding(name());
  ASSERT_EQ(first.size(), 1U);
  in_a.lock_shared();
  auto third = in_a.shared().acquire();
  const auto all = raw().holding(name());
  ASSERT_EQ(all.size(), 3U);
  raw().evict(first.front());
  raw().evict(all.back());  // in the order of the grants; when the client has heard of this one, it has of the first
  ASSERT_TRUE(wait_for_loss(third.lost()));
  in_a.unlock_shared();
  in_a.shared().acquire().release();  // behind whatever was given back
  EXPECT_EQ(raw().holding(name()).size(), 1U);
  EXPECT_FALSE(took(in_b.try_acquire()));
  in_a.unlock_shared();
  EXPECT_TRUE(took(in_b.try_acquire_for(patience)));
}

}  // namespace
}  // namespace contract
