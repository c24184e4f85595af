#include "contract/recipes/recipe_fixture.hpp"

#include <vector>

namespace contract {
namespace {

using recipes::fresh;
using recipes::single_flight;
using tyer::hold;

class single_flight_of : public recipe_fixture {
 protected:
  std::string lock() const { return name() + "/k"; }
  single_flight make(const tyer::client& c, recipes::single_flight_options o = {}) const {
    return single_flight{c, name(), store, std::move(o)};
  }
  // A value that is about to end, made by somebody else.
  void put_old() {
    const hold h = tyer::mutex{one, lock()}.acquire();
    ASSERT_TRUE(store->put(lock(), h.fence(), {"old", 30s}));
  }
};

TEST_F(single_flight_of, one_of_many_callers_on_two_clients_computes_and_all_get_it) {
  const auto a = make(one), b = make(two);
  std::atomic<int> computed = 0;
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 16; ++i) {
    all.push_back(in_background([&, i] {
      return (i % 2 == 0 ? a : b).get("k", [&](const hold&) {
        ++computed;
        return fresh{"value", 10min};
      });
    }));
  }
  for (auto& f : all) EXPECT_EQ(soon(f), "value");
  EXPECT_EQ(computed, 1);
}

TEST_F(single_flight_of, who_waits_gets_what_the_other_has_computed) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  const auto a = make(one), b = make(two);
  door d;
  auto first = in_background([&] {
    return a.get("k", [&](const hold&) {
      d.pass();
      return fresh{"first", 10min};
    });
  });
  ASSERT_TRUE(d.reached());
  auto second = in_background([&] { return b.get("k", [](const hold&) { return fresh{"second", 10min}; }); });
  ASSERT_TRUE(waits(lock(), 1));
  d.open();
  EXPECT_EQ(soon(first), "first");
  EXPECT_EQ(soon(second), "first");
}

TEST_F(single_flight_of, keys_do_not_wait_for_each_other) {
  const auto a = make(one);
  const auto outer = a.get("k", [&](const hold&) {
    return fresh{a.get("other", [](const hold&) { return fresh{"inner", 10min}; }), 10min};
  });
  EXPECT_EQ(outer, "inner");
}

TEST_F(single_flight_of, a_value_in_the_store_needs_no_lock) {
  const auto a = make(one, {.lock = {.group = "asked"}});
  EXPECT_EQ(a.get("k", [](const hold&) { return fresh{"value", 10min}; }), "value");
  const hold theirs = tyer::mutex{two, lock()}.acquire();
  EXPECT_EQ(a.get("k", [](const hold&) { return fresh{"another", 10min}; }), "value");
  EXPECT_EQ(holds_of(one, "asked"), 1U);
  EXPECT_EQ(group_of(one, "asked").acquire_duration[tyer::acquire_end::busy].count(), 0U);
}

TEST_F(single_flight_of, what_is_not_to_be_stored_goes_to_its_caller_only) {
  const auto a = make(one);
  EXPECT_EQ(a.get("k", [](const hold&) { return fresh{"once", 0ms}; }), "once");
  EXPECT_EQ(a.get("k", [](const hold&) { return fresh{"twice", 0ms}; }), "twice");
}

TEST_F(single_flight_of, a_compute_that_throws_tells_its_caller_and_the_next_one_computes) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  const auto a = make(one), b = make(two);
  door d;
  auto first = in_background([&] {
    return a.get("k", [&](const hold&) -> fresh {
      d.pass();
      throw std::runtime_error("no database");
    });
  });
  ASSERT_TRUE(d.reached());
  auto second = in_background([&] { return b.get("k", [](const hold&) { return fresh{"second", 10min}; }); });
  ASSERT_TRUE(waits(lock(), 1));
  d.open();
  EXPECT_THROW(soon(first), std::runtime_error);
  EXPECT_EQ(soon(second), "second");
}

TEST_F(single_flight_of, who_waits_for_too_long_is_told) {
  const auto a = make(one, {.wait_at_most = 300ms});
  const hold theirs = tyer::mutex{two, lock()}.acquire();
  const stopwatch watch;
  EXPECT_EQ(code_of([&] { std::ignore = a.get("k", [](const hold&) { return fresh{"value", 10min}; }); }),
            std::errc::timed_out);
  EXPECT_GE(watch.elapsed(), 300ms);
  EXPECT_LT(watch.elapsed(), 300ms + slack);
}

TEST_F(single_flight_of, a_key_in_a_message_could_look_like_the_rest_of_the_sentence) {
  const auto a = make(one, {.wait_at_most = 50ms});
  const std::string key = "k: free\n";
  const hold theirs = tyer::mutex{two, name() + '/' + key}.acquire();
  try {
    std::ignore = a.get(key, [](const hold&) { return fresh{"value", 10min}; });
    FAIL() << "others have the lock";
  } catch (const tyer::error& e) {
    EXPECT_EQ(e.words().find('"' + name() + "/k: free\\x0a\": others"), 0U) << e.words();
  }
}

TEST_F(single_flight_of, an_old_value_is_made_anew_by_one_and_nobody_waits) {
  std::optional<std::future<void>> refreshing;
  const auto a = make(one, {.refresh_before = 1min, .refresh_on = [&](auto f) { refreshing = in_background(f); }});
  const auto b = make(two, {.refresh_before = 1min});
  put_old();
  door d;
  const auto slowly = [&](const hold&) {
    d.pass();
    return fresh{"new", 10min};
  };
  const auto never = [](const hold&) -> fresh { throw std::runtime_error("a second one computes"); };
  EXPECT_EQ(a.get("k", slowly), "old");
  ASSERT_TRUE(d.reached());
  EXPECT_EQ(a.get("k", never), "old");
  EXPECT_EQ(b.get("k", never), "old");
  d.open();
  soon(*refreshing);
  EXPECT_EQ(b.get("k", never), "new");
}

TEST_F(single_flight_of, without_an_executor_who_finds_an_old_value_makes_it_anew) {
  const auto a = make(one, {.refresh_before = 1min});
  put_old();
  EXPECT_EQ(a.get("k", [](const hold&) { return fresh{"new", 10min}; }), "new");
}

TEST_F(single_flight_of, a_refresh_that_fails_is_told_and_costs_nobody_the_value) {
  int failures = 0, tries = 0;
  const auto a = make(one, {.refresh_before = 1min, .refresh_failed = [&](std::exception_ptr) { ++failures; }});
  put_old();
  const auto fails = [&](const hold&) -> fresh {
    ++tries;
    throw std::runtime_error("no database");
  };
  EXPECT_EQ(a.get("k", fails), "old");
  EXPECT_EQ(a.get("k", fails), "old");  // not again at once
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(tries, 1);
  EXPECT_TRUE(eventually([&] { return a.get("k", [](const hold&) { return fresh{"new", 10min}; }) == "new"; }));
}

TEST_F(single_flight_of, who_lost_its_hold_overwrites_nothing_newer_and_is_given_it) {
  const auto a = make(one), b = make(two);
  door d;
  auto first = in_background([&] {
    return a.get("k", [&](const hold&) {
      d.pass();
      return fresh{"stale", 10min};
    });
  });
  ASSERT_TRUE(d.reached());
  break_holds_of(lock());
  EXPECT_EQ(b.get("k", [](const hold&) { return fresh{"newer", 10min}; }), "newer");
  d.open();
  EXPECT_EQ(soon(first), "newer");
  EXPECT_EQ(store->find(lock())->value, "newer");
}

// It was overtaken by one that is still at it: what it brings must not be seen meanwhile.
TEST_F(single_flight_of, who_lost_its_hold_stores_nothing_while_the_next_one_computes) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  const auto a = make(one), b = make(two);
  door d, e;
  auto first = in_background([&] {
    return a.get("k", [&](const hold&) {
      d.pass();
      return fresh{"stale", 10min};
    });
  });
  ASSERT_TRUE(d.reached());
  break_holds_of(lock());
  auto second = in_background([&] {
    return b.get("k", [&](const hold&) {
      e.pass();
      return fresh{"newer", 10min};
    });
  });
  ASSERT_TRUE(e.reached());
  d.open();
  ASSERT_TRUE(waits(lock(), 1));  // the first one, again
  EXPECT_FALSE(store->find(lock()));
  e.open();
  EXPECT_EQ(soon(second), "newer");
  EXPECT_EQ(soon(first), "newer");
}

TEST_F(single_flight_of, all_who_waited_in_one_process_took_the_lock_one_after_the_other) {
  constexpr int callers = 32;
  const auto counting = std::make_shared<counting_store>(store);
  const auto a = make(one);
  const single_flight b{two, name(), counting, {.lock = {.group = "waiters"}}};
  door d;
  auto first = in_background([&] {
    return a.get("k", [&](const hold&) {
      d.pass();
      return fresh{"first", 10min};
    });
  });
  ASSERT_TRUE(d.reached());
  std::vector<std::future<std::string>> all;
  waiting_threads waiters;
  for (int i = 0; i < callers; ++i) {
    all.push_back(in_background([&] {
      waiters.joined_by_this_one();
      return b.get("k", [](const hold&) { return fresh{"second", 10min}; });
    }));
  }
  ASSERT_TRUE(eventually([&] { return counting->finds == callers && waiters.asleep(callers); }));
  if (can().queue) {
    ASSERT_TRUE(waits(lock(), 1));
  }
  d.open();
  EXPECT_EQ(soon(first), "first");
  for (auto& f : all) EXPECT_EQ(soon(f), "first");
  EXPECT_LT(holds_of(two, "waiters"), callers / 4U);  // one
}

TEST_F(single_flight_of, of_those_who_wait_in_one_process_the_next_computes_after_one_that_threw) {
  const auto a = make(one, {.lock = {.ttl = 1min}});  // longer than the test waits: they are told
  std::atomic<int> computed = 0;
  std::vector<std::future<std::string>> all;
  for (int i = 0; i < 8; ++i) {
    all.push_back(in_background([&] {
      return a.get("k", [&](const hold&) -> fresh {
        if (++computed <= 3) throw std::runtime_error("no database");
        return {"value", 10min};
      });
    }));
  }
  int threw = 0;
  for (auto& f : all) {
    try {
      EXPECT_EQ(soon(f), "value");
    } catch (const std::runtime_error&) {
      ++threw;
    }
  }
  EXPECT_EQ(threw, 3);
  EXPECT_EQ(computed, 4);
}

// It has what the others of its process wait for, and does not come back; another machine does its work.
TEST_F(single_flight_of, who_waits_behind_one_of_its_process_that_hangs_waits_for_its_hold_only) {
  const auto a = make(one, {.lock = {.ttl = 2s}, .wait_at_most = 2 * patience}), b = make(two);
  door d;
  auto hangs = in_background([&] {
    return a.get("k", [&](const hold&) {
      d.pass();
      return fresh{"late", 10min};
    });
  });
  ASSERT_TRUE(d.reached());
  std::atomic<bool> asked = false;
  auto waiting = in_background([&] {
    asked = true;
    return a.get("k", [](const hold&) { return fresh{"another", 10min}; });
  });
  ASSERT_TRUE(eventually([&] { return asked.load(); }));
  break_holds_of(lock());
  EXPECT_EQ(b.get("k", [](const hold&) { return fresh{"newer", 10min}; }), "newer");
  EXPECT_NE(soon(waiting), "late");
  d.open();
  EXPECT_NE(soon(hangs), "late");
}

TEST_F(single_flight_of, a_get_inside_its_own_compute_is_told) {
  const auto impatient = [&](tyer::client& c, std::chrono::milliseconds at_most) {
    const auto a = make(c, {.wait_at_most = at_most});
    return code_of([&] {
      std::ignore =
          a.get("k", [&](const hold&) { return fresh{a.get("k", [](const hold&) { return fresh{}; }), 10min}; });
    });
  };
  EXPECT_EQ(impatient(one, 300ms), std::errc::timed_out);
  tyer::client strict = connect({.request_timeout = slack, .refuse_own_wait = true});
  const stopwatch watch;
  EXPECT_EQ(impatient(strict, 1h), errc::would_deadlock);
  EXPECT_LT(watch.elapsed(), slack);
}

TEST_F(single_flight_of, while_others_made_an_old_value_anew_every_call_asked_the_engine) {
  const auto a = make(one, {.lock = {.group = "refreshes"}, .refresh_before = 1min});
  put_old();
  const hold theirs = tyer::mutex{two, lock()}.acquire();
  const stopwatch watch;
  const auto never = [](const hold&) -> fresh { throw std::runtime_error("a second one computes"); };
  for (int i = 0; i < 200; ++i) EXPECT_EQ(a.get("k", never), "old");
  const auto tries = group_of(one, "refreshes").acquire_duration[tyer::acquire_end::busy].count();
  EXPECT_GE(tries, 1U);
  EXPECT_LE(tries, static_cast<std::uint64_t>(watch.elapsed() / 100ms) + 1);
}

TEST_F(single_flight_of, with_the_engine_away_values_are_given_and_others_are_not_made) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  const auto a = make(one, {.wait_at_most = 500ms});
  EXPECT_EQ(a.get("k", [](const hold&) { return fresh{"value", 10min}; }), "value");
  engine.pause();
  EXPECT_EQ(a.get("k", [](const hold&) { return fresh{"another", 10min}; }), "value");
  EXPECT_EQ(code_of([&] { std::ignore = a.get("other", [](const hold&) { return fresh{"value", 10min}; }); }),
            errc::unavailable);
  engine.resume();
  EXPECT_TRUE(eventually([&] {
    return !code_of([&] { std::ignore = a.get("other", [](const hold&) { return fresh{"value", 10min}; }); });
  }));
}

TEST_F(single_flight_of, options_out_of_range_are_refused) {
  EXPECT_EQ(code_of([&] { make(one, {.wait_at_most = 0ms}); }), errc::invalid_option);
  EXPECT_EQ(code_of([&] { make(one, {.refresh_before = -1ms}); }), errc::invalid_option);
  EXPECT_EQ(code_of([&] { (single_flight{one, name(), nullptr}); }), errc::invalid_option);
}

}  // namespace
}  // namespace contract
