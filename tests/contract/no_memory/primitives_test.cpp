// Each primitive, in its own form and behind the guards of the standard library.
#include "contract/no_memory/fixture.hpp"

#include <tyer/detail/async.hpp>

#include <mutex>
#include <shared_mutex>
#include <vector>

namespace tyer::test {
namespace {

struct no_memory_of : no_memory {
  // Calls that throw say that there was no memory, and nothing else.
  template <class Call>
  static void or_no_memory(Call call) {
    failure why;
    try {
      call();
    } catch (const error& e) {
      why = e.code();
    } catch (const std::bad_alloc&) {  // of the exception itself, or the test's own
    }
    expect_no_memory(why);
  }
};

TEST_P(no_memory_of, several_locks_left_one_behind_that_was_renewed_for_ever) {
  const std::vector<std::string> names{fresh("a-long-name-of-a-lock"), fresh("b-long-name-of-a-lock"),
                                       fresh("c-long-name-of-a-lock")};
  multi_mutex m{c, names, {.ttl = 1s}};
  multi_hold h;
  failure why;
  for_every_allocation(
      names.front(), [&] { h = m.acquire(why); },
      [&] {
        expect_no_memory(why);
        EXPECT_EQ(h.valid(), !why);
        h = {};
        for (const auto& n : names) nothing_is_left_of(n);
      });
}

TEST_P(no_memory_of, several_locks_given_back) {
  const std::vector<std::string> names{fresh("several"), fresh("several")};
  multi_mutex m{c, names, {.ttl = 1s}};
  for_every_allocation(
      names.front(),
      [&] {
        failure why;
        multi_hold h = m.acquire(why);
        expect_no_memory(why);
        if (!h) return;
        h.release(why);
        expect_no_memory(why);
      },
      [&] { nothing_is_left_of(names.back()); });
}

TEST_P(no_memory_of, several_locks_of_which_somebody_has_one) {
  const std::vector<std::string> names{fresh("several"), fresh("taken")};
  multi_mutex m{c, names, {.ttl = 1s}};
  const hold other = mutex{judge, names.back(), {.ttl = 2s}}.acquire();
  for_every_allocation(names.front(), [&] {
    failure why;
    const multi_hold h = m.try_acquire_for(why, 20ms);
    expect_no_memory(why);
    EXPECT_FALSE(h);
  });
  EXPECT_TRUE(other.valid());
}

TEST_P(no_memory_of, lock_guard_of_several) {
  const std::vector<std::string> names{fresh("several"), fresh("several")};
  multi_mutex m{c, names, {.ttl = 1s}};
  for_every_allocation(
      names.front(), [&] { or_no_memory([&] { const std::lock_guard in{m}; }); },
      [&] {
        nothing_is_left_of(names.back());
        const auto until = std::chrono::steady_clock::now() + 20s;
        bool in = false;
        while (!in && std::chrono::steady_clock::now() < until) {
          or_no_memory([&] { in = m.try_lock(); });
          if (!in) std::this_thread::sleep_for(2ms);
        }
        ASSERT_TRUE(in) << "the object itself is stuck";
        m.unlock();
      });
}

TEST_P(no_memory_of, lock_guard) {
  const auto name = fresh("guard");
  mutex m{c, name, {.ttl = 1s}};
  for_every_allocation(
      name, [&] { or_no_memory([&] { const std::lock_guard in{m}; }); },
      [&] {
        ASSERT_TRUE(m.try_lock_for(20s)) << "the object itself is stuck";
        m.unlock();
      });
}

TEST_P(no_memory_of, recursive_lock) {
  const auto name = fresh("recursive");
  recursive_mutex m{c, name, {.ttl = 1s}};
  for_every_allocation(
      name,
      [&] {
        or_no_memory([&] {
          const std::lock_guard in{m};
          const std::lock_guard again{m};
        });
      },
      [&] {
        EXPECT_EQ(m.depth(), 0U);
        ASSERT_TRUE(m.try_lock_for(20s)) << "the object itself is stuck";
        m.unlock();
      });
}

// A writer finds nobody there.
TEST_P(no_memory_of, shared_locks) {
  const auto name = fresh("shared");
  shared_mutex m{c, name, {.ttl = 1s}}, theirs{judge, name, {.ttl = 1s}};
  for_every_allocation(
      fresh("free"),
      [&] {
        or_no_memory([&] {
          const std::shared_lock in{m};
          const std::shared_lock beside{m};
        });
        or_no_memory([&] { const std::lock_guard alone{m}; });
      },
      [&] {
        ASSERT_TRUE(theirs.try_lock_for(20s)) << "the lock is stuck";
        theirs.unlock();
        ASSERT_TRUE(m.try_lock_for(20s)) << "the object itself is stuck";
        m.unlock();
      });
}

// Whoever wants all permits finds none taken.
TEST_P(no_memory_of, permits) {
  const auto name = fresh("permits");
  const semaphore s{c, name, 3, {.ttl = 1s}}, theirs{judge, name, 3, {.ttl = 1s}};
  for_every_allocation(
      fresh("free"),
      [&] {
        failure why;
        const hold one = s.try_acquire(why);
        expect_no_memory(why);
        or_no_memory([&] {
          const hold two = s.permits(2).acquire();
          EXPECT_EQ(two.slot_numbers().size(), 2U);
        });
      },
      [&] {
        failure why;
        ASSERT_TRUE(took(theirs.permits(3).try_acquire_for(why, 20s)))
            << "the permits are stuck: " << why.code.message();
      });
}

TEST_P(no_memory_of, election) {
  const auto name = fresh("election");
  const election l{c, name, {.ttl = 1s}};
  for_every_allocation(name, [&] {
    or_no_memory([&] {
      hold term = l.campaign();
      failure why;
      const auto now = l.current(why);
      expect_no_memory(why);
      EXPECT_EQ(now.has_value(), !why);
      term.release();
    });
  });
}

TEST_P(no_memory_of, questions) {
  const auto name = fresh("questions");
  const admin a{c};
  const hold other = mutex{judge, name, {.ttl = 2s}}.acquire();
  for_every_allocation(fresh("free"), [&] {
    failure why;
    const auto all = a.show(why, name);
    expect_no_memory(why);
    EXPECT_EQ(all.size(), why ? 0U : 1U);
    static_cast<void>(a.list(why, "questions"));
    expect_no_memory(why);
    static_cast<void>(c.ask(why, name, "a reason that is longer than a short string"));
    expect_no_memory(why);
    static_cast<void>(a.diagnose(why));
    expect_no_memory(why);
    static_cast<void>(a.server(why));
    expect_no_memory(why);
  });
  EXPECT_TRUE(other.valid());
}

TEST_P(no_memory_of, breaking_a_hold) {
  const auto name = fresh("broken");
  const admin a{c},
      others{judge};  // a connection that has lost track is made anew, and a question does not wait for it
  mutex theirs{judge, name, {.ttl = 2s}};
  hold other = theirs.acquire();
  auto seen = others.show(name);
  for_every_allocation(
      fresh("free"),
      [&] {
        failure why;
        const bool was_there = a.evict(why, seen.front(), "a reason that is longer than a short string");
        expect_no_memory(why);
        EXPECT_TRUE(was_there || why);
      },
      [&] {
        other = {};
        other = theirs.acquire();
        seen = others.show(name);
        ASSERT_EQ(seen.size(), 1U);
      });
}

// Whoever stops looking on cannot fail at that, and is told nothing any more.
TEST_P(no_memory_of, the_end_of_an_observation_ended_the_process) {
  const auto name = fresh("observed");
  const election theirs{judge, name, {.ttl = 1s}};
  for (int n = 1; n <= 4; ++n) {
    client mine{uri(), quick()};
    const election l{mine, name, {.ttl = 300ms}};
    std::atomic<int> told{0};
    auto o = l.observe([&](const auto&) { ++told; });
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (told == 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    {
      const failing_new f{GetParam(), n};
      o = {};
    }
    const int before = told;
    failure why;
    const hold h = theirs.try_acquire_for(why, 20s);
    ASSERT_TRUE(h);
    // The coordinator has looked once more meanwhile.
    ASSERT_TRUE(took(mutex{mine, fresh("other")}.try_acquire_for(why, 20s)));
    EXPECT_EQ(told, before);
  }
}

// What was begun has its answer, or was never begun; in either case nothing is left of it.
TEST_P(no_memory_of, an_asynchronous_acquire_that_could_not_begin_kept_its_client_for_ever) {
  struct handler final : detail::acquire_handler {
    explicit handler(std::atomic<int>& n) : alive(n) { ++alive; }
    ~handler() override { --alive; }
    void done(failure f, hold) override { expect_no_memory(f); }
    std::atomic<int>& alive;
  };
  const auto name = fresh("async");
  std::atomic<int> alive{0};
  for (int n = 1; n <= 12; ++n) {
    client mine{uri(), quick()};  // a new one has no room for orders yet
    ASSERT_TRUE(mine.wait_ready());
    mutex m{mine, name, {.ttl = 1s}};
    auto h = std::make_unique<handler>(alive);
    {
      const failing_new f{GetParam(), n};
      or_no_memory([&] { static_cast<void>(detail::start_acquire(m, {}, std::move(h))); });
    }
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (alive != 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
    ASSERT_EQ(alive, 0) << "allocation " << n;
  }
  nothing_is_left_of(name);
}

INSTANTIATE_TEST_SUITE_P(of, no_memory_of, ::testing::Values(whose::calling_thread, whose::clients_threads), name_of);

}  // namespace
}  // namespace tyer::test
