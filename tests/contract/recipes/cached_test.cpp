#include "contract/recipes/recipe_fixture.hpp"

#include <mutex>
#include <vector>

namespace contract {
namespace {

using recipes::cached;
using recipes::fresh;
using tyer::hold;

class cached_of : public recipe_fixture {
 protected:
  void SetUp() override {
    if (!can().shared) GTEST_SKIP() << no_such_lock;
  }

  std::string lock() const { return name() + "/k"; }
  cached make(const tyer::client& c, recipes::cached_options o = {}) const {
    return cached{c, name(), store, std::move(o)};
  }

  fresh load() {
    ++loads;
    const std::lock_guard guard{mutex};
    return {database, 10min};
  }
  void commit(std::string value) {
    const std::lock_guard guard{mutex};
    database = std::move(value);
  }

  std::atomic<int> loads = 0;
  std::mutex mutex;
  std::string database = "old";
};

TEST_F(cached_of, one_of_many_readers_loads) {
  const auto a = make(one), b = make(two);
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 12; ++i) {
    all.push_back(
        in_background([&, i] { return (i % 2 == 0 ? a : b).read("k", [&](const hold&) { return load(); }); }));
  }
  for (auto& f : all) EXPECT_EQ(soon(f), "old");
  EXPECT_EQ(loads, 1);
}

TEST_F(cached_of, all_readers_of_one_process_took_the_locks_one_after_the_other) {
  constexpr int callers = 32;
  const auto counting = std::make_shared<counting_store>(store);
  const auto a = make(one);
  const cached b{two, name(), counting, {.lock = {.group = "readers"}}};
  door d;
  auto first = in_background([&] {
    return a.read("k", [&](const hold&) {
      d.pass();
      return load();
    });
  });
  ASSERT_TRUE(d.reached());
  std::vector<std::future<std::string>> all;
  waiting_threads readers;
  for (int i = 0; i < callers; ++i) {
    all.push_back(in_background([&] {
      readers.joined_by_this_one();
      return b.read("k", [&](const hold&) { return load(); });
    }));
  }
  ASSERT_TRUE(eventually([&] { return counting->finds >= callers && readers.asleep(callers); }));
  ASSERT_TRUE(waits(lock() + ":load", 1));
  d.open();
  EXPECT_EQ(soon(first), "old");
  for (auto& f : all) EXPECT_EQ(soon(f), "old");
  EXPECT_EQ(loads, 1);
  EXPECT_LT(holds_of(two, "readers"), callers / 4U);  // two
}

TEST_F(cached_of, what_is_cached_needs_no_lock) {
  const auto a = make(one);
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "old");
  const hold theirs = tyer::mutex{two, lock()}.acquire();
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "old");
}

TEST_F(cached_of, after_a_write_nobody_reads_what_was_before) {
  const auto a = make(one), b = make(two);
  std::atomic<int> newest = 0;
  std::atomic<bool> over = false;
  commit("0");
  std::vector<std::future<int>> readers;
  for (int i = 0; i < 4; ++i) {
    readers.push_back(in_background([&, i] {
      int old = 0;
      while (!over) {
        const int committed = newest;
        if (std::stoi((i % 2 == 0 ? a : b).read("k", [&](const hold&) { return load(); })) < committed) ++old;
      }
      return old;
    }));
  }
  for (int i = 1; i <= 20; ++i) {
    (i % 2 == 0 ? a : b).write("k", [&](const hold&) { commit(std::to_string(i)); });
    newest = i;
  }
  over = true;
  for (auto& f : readers) EXPECT_EQ(soon(f), 0);
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "20");
}

TEST_F(cached_of, a_reader_that_comes_while_somebody_writes_waits_and_reads_the_new) {
  const auto a = make(one), b = make(two);
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "old");
  door d;
  auto writer = in_background([&] {
    a.write("k", [&](const hold&) {
      d.pass();
      commit("new");
    });
    return true;
  });
  ASSERT_TRUE(d.reached());
  auto reader = in_background([&] { return b.read("k", [&](const hold&) { return load(); }); });
  ASSERT_TRUE(waits(lock(), 1));
  d.open();
  EXPECT_TRUE(soon(writer));
  EXPECT_EQ(soon(reader), "new");
}

TEST_F(cached_of, a_reader_that_was_overtaken_by_a_writer_caches_nothing_old) {
  const auto a = make(one), b = make(two);
  door d;
  std::atomic<bool> first = true;
  auto reader = in_background([&] {
    return a.read("k", [&](const hold&) {
      fresh f = load();
      if (first.exchange(false)) d.pass();  // paused between the database and the cache
      return f;
    });
  });
  ASSERT_TRUE(d.reached());
  break_holds_of(lock());
  break_holds_of(lock() + ":load");
  b.write("k", [&](const hold&) { commit("new"); });
  d.open();
  EXPECT_EQ(soon(reader), "new");
  EXPECT_EQ(store->find(lock())->value, "new");
}

TEST_F(cached_of, a_writer_that_was_overtaken_before_it_began_changes_nothing_beside_a_reader) {
  door d, e;
  const cached a{one, name(), std::make_shared<counting_store>(store, &d)};
  const auto b = make(two);
  auto writer = in_background([&] {
    a.write("k", [&](const hold&) { commit("new"); });
    return true;
  });
  ASSERT_TRUE(d.reached());
  break_holds_of(lock());
  auto reader = in_background([&] {
    return b.read("k", [&](const hold&) {
      e.pass();
      return load();
    });
  });
  ASSERT_TRUE(e.reached());
  d.open();
  ASSERT_TRUE(waits(lock(), 1));  // the writer, again
  e.open();
  EXPECT_EQ(soon(reader), "old");
  EXPECT_TRUE(soon(writer));
  EXPECT_EQ(b.read("k", [&](const hold&) { return load(); }), "new");
}

TEST_F(cached_of, a_writer_that_was_overtaken_removes_what_readers_have_cached_meanwhile) {
  const auto a = make(one), b = make(two);
  door d;
  auto writer = in_background([&] {
    a.write("k", [&](const hold& h) {
      d.pass();
      EXPECT_TRUE(wait_for_loss(h.lost()));
      commit("new");  // into a database that checks no token
    });
    return true;
  });
  ASSERT_TRUE(d.reached());
  break_holds_of(lock());
  EXPECT_EQ(b.read("k", [&](const hold&) { return load(); }), "old");
  d.open();
  EXPECT_TRUE(soon(writer));
  EXPECT_EQ(b.read("k", [&](const hold&) { return load(); }), "new");
}

// It may have committed all the same.
TEST_F(cached_of, a_writer_that_was_overtaken_and_throws_removes_what_readers_have_cached_meanwhile) {
  const auto a = make(one), b = make(two);
  door d;
  auto writer = in_background([&] {
    a.write("k", [&](const hold& h) {
      d.pass();
      EXPECT_TRUE(wait_for_loss(h.lost()));
      commit("new");
      throw std::runtime_error("is it committed?");
    });
    return true;
  });
  ASSERT_TRUE(d.reached());
  break_holds_of(lock());
  EXPECT_EQ(b.read("k", [&](const hold&) { return load(); }), "old");
  d.open();
  EXPECT_THROW(soon(writer), std::runtime_error);
  EXPECT_EQ(b.read("k", [&](const hold&) { return load(); }), "new");
}

// It has what the others of its process wait for, and does not come back; another machine goes on.
TEST_F(cached_of, who_reads_behind_one_of_its_process_that_hangs_waits_for_its_hold_only) {
  const auto a = make(one, {.lock = {.ttl = 2s}, .wait_at_most = 2 * patience}), b = make(two);
  door d;
  std::atomic<bool> first = true;
  const auto slowly = [&](const hold&) {
    fresh f = load();
    if (first.exchange(false)) d.pass();
    return f;
  };
  auto hangs = in_background([&] { return a.read("k", slowly); });
  ASSERT_TRUE(d.reached());
  std::atomic<bool> asked = false;
  auto waiting = in_background([&] {
    asked = true;
    return a.read("k", slowly);
  });
  ASSERT_TRUE(eventually([&] { return asked.load(); }));
  break_holds_of(lock());
  break_holds_of(lock() + ":load");
  b.write("k", [&](const hold&) { commit("new"); });
  EXPECT_EQ(soon(waiting), "new");
  d.open();
  EXPECT_EQ(soon(hangs), "new");
}

TEST_F(cached_of, a_read_inside_its_own_write_is_told) {
  const auto a = make(one, {.wait_at_most = 300ms});
  EXPECT_EQ(code_of([&] {
              a.write("k", [&](const hold&) { std::ignore = a.read("k", [&](const hold&) { return load(); }); });
            }),
            std::errc::timed_out);
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "old");
}

TEST_F(cached_of, a_change_that_throws_leaves_the_key_out_of_the_cache) {
  const auto a = make(one);
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "old");
  EXPECT_THROW(a.write("k",
                       [&](const hold&) {
                         commit("new");
                         throw std::runtime_error("is it committed?");
                       }),
               std::runtime_error);
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "new");
}

TEST_F(cached_of, a_load_that_throws_tells_its_caller_and_the_next_one_loads) {
  const auto a = make(one);
  EXPECT_THROW(std::ignore = a.read("k", [](const hold&) -> fresh { throw std::runtime_error("no database"); }),
               std::runtime_error);
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "old");
}

TEST_F(cached_of, who_waits_for_too_long_is_told_and_has_changed_nothing) {
  const auto a = make(one, {.wait_at_most = 300ms});
  const hold theirs = tyer::mutex{two, lock()}.acquire();
  EXPECT_EQ(code_of([&] { a.write("k", [&](const hold&) { commit("new"); }); }), std::errc::timed_out);
  EXPECT_EQ(code_of([&] { std::ignore = a.read("k", [&](const hold&) { return load(); }); }), std::errc::timed_out);
  EXPECT_EQ(database, "old");
}

TEST_F(cached_of, with_the_engine_away_what_is_cached_is_given_and_nothing_is_changed) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  const auto a = make(one, {.wait_at_most = 500ms});
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "old");
  engine.pause();
  EXPECT_EQ(a.read("k", [&](const hold&) { return load(); }), "old");
  EXPECT_EQ(code_of([&] { a.write("k", [&](const hold&) { commit("new"); }); }), errc::unavailable);
  EXPECT_EQ(database, "old");
}

}  // namespace
}  // namespace contract
