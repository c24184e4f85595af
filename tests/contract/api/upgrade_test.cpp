// A reader becomes the writer, and the writer a reader, without letting go.
#include "contract/api/fixture.hpp"

#include <atomic>
#include <vector>

namespace contract {
namespace {

class upgrade : public fixture {
 protected:
  void SetUp() override {
    if (!can().convert) GTEST_SKIP() << no_such_lock;
  }

  static inline const tyer::lock_options options{.ttl = 60s};

  // Somebody upgrades and has to wait for it.
  bool upgrade_waits(tyer::shared_mutex& with) {
    return eventually([&] { return !took(with.shared().try_acquire()); });
  }

  tyer::client a = connect_if(can().convert), b = connect_if(can().convert), c = connect_if(can().convert);
  tyer::shared_mutex in_a{a, name(), options}, in_b{b, name(), options}, in_c{c, name(), options};
};

TEST_F(upgrade, of_the_only_reader_is_at_once_and_gives_a_larger_token) {
  auto h = in_a.shared().acquire();
  const auto read = h.token();
  EXPECT_TRUE(in_a.upgrade(h));
  EXPECT_TRUE(h.valid());
  EXPECT_EQ(h.mode(), tyer::lock_mode::exclusive);
  const auto written = h.token();
  EXPECT_GT(written, read);
  EXPECT_FALSE(took(in_b.shared().try_acquire()));
  EXPECT_TRUE(in_a.upgrade(h));  // it is already
  EXPECT_EQ(h.token(), written);

  in_a.downgrade(h);
  EXPECT_EQ(h.mode(), tyer::lock_mode::shared);
  EXPECT_GT(h.token(), written);
  auto other = in_b.shared().try_acquire();
  EXPECT_GT(other.token(), written);
  EXPECT_TRUE(other && h.valid());
  in_a.downgrade(h);  // it is already
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
}

TEST_F(upgrade, waits_until_the_other_readers_are_gone) {
  auto h = in_a.shared().acquire(), one = in_b.shared().acquire(), two = in_a.shared().acquire();
  auto upgrading = in_background([&] { return in_a.upgrade(h); });
  ASSERT_TRUE(upgrade_waits(in_c));
  one.release();
  EXPECT_EQ(upgrading.wait_for(0s), std::future_status::timeout);
  const stopwatch watch;
  two.release();
  EXPECT_TRUE(soon(upgrading));
  EXPECT_LT(watch.elapsed(), slack);
  EXPECT_EQ(h.mode(), tyer::lock_mode::exclusive);
  EXPECT_FALSE(took(in_b.shared().try_acquire()));
}

TEST_F(upgrade, goes_before_those_who_queue) {
  for (int i = 0; i < 5; ++i) {
    auto h = in_a.shared().acquire(), other = in_b.shared().acquire();
    const auto read = h.token();
    auto writer = acquire_later(in_c);
    ASSERT_TRUE(queue_has(1));
    std::atomic<bool> begun{false};
    auto upgrading = in_background([&] {
      begun = true;
      return in_a.upgrade(h);
    });
    ASSERT_TRUE(eventually([&] { return begun.load(); }));
    EXPECT_FALSE(
        took(in_b.shared().try_acquire()));  // a round trip, in which the upgrade gets there (or not: all the same)
    other.release();
    EXPECT_TRUE(soon(upgrading));
    const auto upgraded = h.token();
    EXPECT_GT(upgraded, read);
    EXPECT_EQ(writer.done.wait_for(0s), std::future_status::timeout);
    h.release();
    const auto got = soon(writer.done);
    EXPECT_GT(got.hold.token(), upgraded);
  }
}

TEST_F(upgrade, the_second_one_is_refused_at_once_and_keeps_its_shared_hold) {
  auto first = in_a.shared().acquire(), second = in_b.shared().acquire();
  const auto token = second.token();
  auto upgrading = in_background([&] { return in_a.upgrade(first); });
  ASSERT_TRUE(upgrade_waits(in_c));
  const stopwatch watch;
  EXPECT_FALSE(in_b.upgrade(second));
  EXPECT_FALSE(in_b.try_upgrade_for(second, patience));
  EXPECT_LT(watch.elapsed(), slack);
  EXPECT_TRUE(second.valid());
  EXPECT_EQ(second.mode(), tyer::lock_mode::shared);
  EXPECT_EQ(second.token(), token);
  EXPECT_EQ(second.release(), tyer::release_outcome::released);
  EXPECT_TRUE(soon(upgrading));
}

TEST_F(upgrade, two_of_one_client_do_not_wait_for_each_other) {
  auto first = in_a.shared().acquire(), second = in_a.shared().acquire();
  auto upgrading = in_background([&] { return in_a.upgrade(first); });
  ASSERT_TRUE(upgrade_waits(in_c));
  EXPECT_FALSE(in_a.upgrade(second));
  second.release();
  EXPECT_TRUE(soon(upgrading));
}

TEST_F(upgrade, one_attempt_is_refused_while_others_read_and_leaves_no_trace) {
  auto h = in_a.shared().acquire(), other = in_b.shared().acquire();
  const stopwatch watch;
  EXPECT_FALSE(in_a.try_upgrade(h));
  EXPECT_LT(watch.elapsed(), slack);
  EXPECT_TRUE(h.valid() && h.mode() == tyer::lock_mode::shared);
  EXPECT_TRUE(eventually([&] { return in_c.shared().try_acquire().valid(); }));
  other.release();
  EXPECT_TRUE(eventually([&] { return in_a.try_upgrade(h); }));
  EXPECT_EQ(h.mode(), tyer::lock_mode::exclusive);
}

TEST_F(upgrade, that_runs_out_of_time_leaves_the_hold_shared_and_usable) {
  auto h = in_a.shared().acquire(), other = in_b.shared().acquire();
  const auto token = h.token();
  const stopwatch watch;
  tyer::failure why;
  EXPECT_FALSE(in_a.try_upgrade_for(why, h, 500ms));
  EXPECT_FALSE(why) << why.words;
  EXPECT_GE(watch.elapsed(), 500ms);
  EXPECT_LT(watch.elapsed(), 500ms + slack);
  EXPECT_TRUE(h.valid() && h.mode() == tyer::lock_mode::shared);
  EXPECT_EQ(h.token(), token);
  EXPECT_TRUE(took(in_c.shared().try_acquire_for(patience)));  // nobody upgrades any more: readers come in
  EXPECT_TRUE(eventually([&] { return !in_b.try_upgrade(other); }));
  other.release();
  EXPECT_TRUE(in_a.try_upgrade_for(h, patience));
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
}

TEST_F(upgrade, that_is_cancelled_leaves_the_hold_shared_and_usable) {
  auto h = in_a.shared().acquire(), other = in_b.shared().acquire();
  std::stop_source stop;
  auto upgrading = in_background([&] {
    tyer::failure why;
    EXPECT_FALSE(in_a.upgrade(why, h, stop.get_token()));
    return why.code;
  });
  ASSERT_TRUE(upgrade_waits(in_c));
  stop.request_stop();
  EXPECT_EQ(soon(upgrading), errc::cancelled);
  EXPECT_EQ(code_of([&] { (void)in_a.upgrade(h, stop.get_token()); }), errc::cancelled);
  EXPECT_TRUE(h.valid() && h.mode() == tyer::lock_mode::shared);
  auto reader = in_c.shared().try_acquire_for(patience);
  EXPECT_TRUE(reader);
  reader.release();
  other.release();
  EXPECT_TRUE(in_a.upgrade(h));
  EXPECT_FALSE(took(in_c.shared().try_acquire()));
}

TEST_F(upgrade, whenever_it_is_cancelled_the_hold_is_what_was_said) {
  // An upgrade that is cancelled while its request is under way is taken back once more when that can no longer be executed:
  // the next one waits for it.
  auto brisk = connect({.request_timeout = 500ms});
  tyer::shared_mutex mine{brisk, name(), options};
  auto h = mine.shared().acquire();
  for (int i = 0; i < 12; ++i) {
    auto other = in_b.shared().acquire();
    std::stop_source stop;
    auto upgrading = in_background([&] {
      tyer::failure why;
      return mine.upgrade(why, h, stop.get_token());
    });
    if (i % 2 == 0) {
      ASSERT_TRUE(upgrade_waits(in_c));
    }
    std::jthread releasing{[&] { other.release(); }};
    if (i % 3 == 0) std::this_thread::yield();
    stop.request_stop();
    const bool upgraded = soon(upgrading);
    releasing.join();
    EXPECT_TRUE(h.valid());
    EXPECT_EQ(h.mode() == tyer::lock_mode::shared, !upgraded);
    if (upgraded) {
      EXPECT_FALSE(took(in_c.shared().try_acquire()));
      mine.downgrade(h);
    }
    EXPECT_TRUE(took(in_c.shared().try_acquire_for(patience))) << i;
  }
}

TEST_F(upgrade, of_a_hold_that_is_lost_meanwhile_says_so) {
  auto h = in_a.shared().acquire();
  const auto mine = raw().holding(name());
  ASSERT_EQ(mine.size(), 1U);
  auto other = in_b.shared().acquire();
  auto upgrading = in_background([&] { return code_of([&] { (void)in_a.upgrade(h); }); });
  ASSERT_TRUE(upgrade_waits(in_c));
  raw().evict(mine.front());
  EXPECT_EQ(soon(upgrading), errc::lost);
  EXPECT_TRUE(wait_for_loss(h.lost()));
  EXPECT_EQ(code_of([&] { (void)in_a.upgrade(h); }), errc::lost);
  EXPECT_EQ(code_of([&] { in_a.downgrade(h); }), errc::lost);
  EXPECT_TRUE(took(in_c.shared().try_acquire_for(patience)));  // its upgrade is not in the way
}

TEST_F(upgrade, ends_when_the_client_is_closed_or_the_hold_given_back) {
  auto h = in_a.shared().acquire(), other = in_b.shared().acquire();
  auto upgrading = in_background([&] { return code_of([&] { (void)in_a.upgrade(h); }); });
  ASSERT_TRUE(upgrade_waits(in_c));
  a.close();
  const auto code = soon(upgrading);
  EXPECT_TRUE(code == errc::closed || code == errc::lost) << code.message();
  EXPECT_TRUE(took(in_c.shared().try_acquire_for(patience)));
  EXPECT_EQ(code_of([&] { (void)in_a.upgrade(h); }), errc::closed);
}

TEST_F(upgrade, of_what_is_no_hold_of_this_lock_is_refused) {
  tyer::hold none;
  EXPECT_EQ(code_of([&] { (void)in_a.upgrade(none); }), errc::not_held);
  EXPECT_EQ(code_of([&] { in_a.downgrade(none); }), errc::not_held);
  tyer::shared_mutex elsewhere{a, name() + "/other", options};
  auto theirs = in_b.shared().acquire(), other = elsewhere.shared().acquire();
  EXPECT_EQ(code_of([&] { (void)in_a.upgrade(theirs); }), errc::not_held);
  EXPECT_EQ(code_of([&] { (void)in_a.try_upgrade(other); }), errc::not_held);
  EXPECT_TRUE(theirs.valid() && theirs.mode() == tyer::lock_mode::shared && other.valid());
}

TEST_F(upgrade, downgrade_lets_readers_in_and_keeps_writers_out) {
  auto h = in_a.acquire();
  auto reader = acquire_later(in_b.shared());
  ASSERT_TRUE(queue_has(1));
  auto writer = acquire_later(in_c);
  ASSERT_TRUE(queue_has(2));
  auto local = acquire_later(in_a.shared());
  ASSERT_TRUE(queue_has(3));
  in_a.downgrade(h);
  EXPECT_TRUE(h.valid() && h.mode() == tyer::lock_mode::shared);
  auto read = soon(reader.done).hold;
  EXPECT_TRUE(read.valid());
  EXPECT_EQ(writer.done.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(local.done.wait_for(0s), std::future_status::timeout);  // behind the writer
  read.release();
  h.release();
  auto written = soon(writer.done).hold;
  EXPECT_TRUE(written);
  written.release();
  EXPECT_TRUE(took(soon(local.done).hold));
}

TEST_F(upgrade, a_downgraded_hold_goes_on_being_renewed) {
  tyer::shared_mutex brief{a, name(), {.ttl = 2400ms}};
  auto h = brief.acquire();
  brief.downgrade(h);
  const auto end = h.valid_until();
  EXPECT_TRUE(eventually([&] { return !h.valid() || h.valid_until() > end + 2400ms; }));
  EXPECT_TRUE(brief.upgrade(h));
  const auto upgraded = h.valid_until();
  EXPECT_TRUE(eventually([&] { return !h.valid() || h.valid_until() > upgraded + 2400ms; }));
  EXPECT_TRUE(h.valid());
  // A machine that stands still for as long as the hold is valid takes it from us; but nobody has it beside us.
  EXPECT_TRUE(!took(in_b.shared().try_acquire()) || !h.valid());
}

TEST_F(upgrade, writers_that_upgrade_never_meet) {
  std::atomic<int> inside{0}, done{0};
  const auto work = [&](tyer::shared_mutex& m) {
    for (int i = 0; i < 10; ++i) {
      for (;;) {
        auto h = m.shared().acquire();
        if (!m.upgrade(h)) continue;  // another one upgrades: let go, and try again
        EXPECT_EQ(inside.fetch_add(1), 0);
        inside.fetch_sub(1);
        if (i % 2 == 0) m.downgrade(h);
        break;
      }
      ++done;
    }
  };
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 3; ++i) {
      all.emplace_back([&] { work(in_a); });
      all.emplace_back([&] { work(in_b); });
    }
  }
  EXPECT_EQ(done.load(), 60);
}

}  // namespace
}  // namespace contract
