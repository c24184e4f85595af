// What people do to locks through the public API: look, list, break, watch, ask how the engine is.
#include "contract/api/child.hpp"
#include "contract/api/fixture.hpp"

#include <tyer/admin.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

namespace contract {
namespace {

using namespace std::string_literals;
using entries = std::vector<tyer::lock_entry>;

// What a watch has told, one after the other.
class told {
 public:
  void note(const entries& all) {
    const std::lock_guard lock{mutex_};
    untold_.push_back(all);
    changed_.notify_all();
  }
  // The first of them that is so.
  template <class Predicate>
  bool await(Predicate is_so) {
    std::unique_lock lock{mutex_};
    const auto limit = steady_clock::now() + patience;
    for (;;) {
      if (!changed_.wait_until(lock, limit, [this] { return !untold_.empty(); })) return false;
      const auto all = std::move(untold_.front());
      untold_.pop_front();
      if (is_so(all)) return true;
    }
  }
  std::size_t unread() {
    const std::lock_guard lock{mutex_};
    return untold_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<entries> untold_;
};

class administration : public fixture {
 protected:
  tyer::client a = connect({.label = "first"}), b = connect({.label = "second"}), looking = connect();
  tyer::mutex in_a{a, name(), {.ttl = 60s, .note = "10.0.0.7:8080"}}, in_b{b, name(), {.ttl = 60s}};
  tyer::admin admin{looking};
};

TEST_F(administration, a_free_lock_has_no_entries) { EXPECT_TRUE(admin.show(name()).empty()); }

TEST_F(administration, a_holder_is_shown_as_its_hold_says) {
  auto h = in_a.acquire();
  const auto all = admin.show(name());
  ASSERT_EQ(all.size(), 1u);
  const auto& e = all.front();
  EXPECT_EQ(e.name, name());
  EXPECT_EQ(e.id, h.id());
  EXPECT_FALSE(e.waiting);
  EXPECT_EQ(e.place, 0u);
  EXPECT_EQ(e.mode, tyer::lock_mode::exclusive);
  EXPECT_TRUE(e.slot_numbers.empty());
  EXPECT_GT(e.remaining, 30s);
  EXPECT_LE(e.remaining, 61s);
  EXPECT_EQ(e.token.has_value(), can().token);
  if (e.token) {
    EXPECT_EQ(*e.token, h.token());
  }
}

TEST_F(administration, an_owner_is_shown_with_all_that_it_says) {
  if (!can().owners) GTEST_SKIP() << no_owners;
  const auto before = std::chrono::system_clock::now() - 1ms;
  auto h = in_a.acquire();
  const auto all = admin.show(name());
  ASSERT_EQ(all.size(), 1u);
  const auto& o = all.front().owner;
  EXPECT_FALSE(o.host.empty());
  EXPECT_EQ(o.pid, static_cast<std::uint64_t>(::getpid()));
  EXPECT_EQ(o.label, "first");
  EXPECT_TRUE(o.site.starts_with("admin_test.cpp:")) << o.site;
  EXPECT_EQ(o.note, "10.0.0.7:8080");
  ASSERT_TRUE(o.since) << o.text;
  EXPECT_GE(*o.since, before);
  EXPECT_LE(*o.since, std::chrono::system_clock::now());
  EXPECT_NE(o.text.find("first"), std::string::npos);
}

TEST_F(administration, an_owner_that_is_none_of_ours_is_shown_as_it_is) {
  if (can().owners) GTEST_SKIP() << "this engine keeps our own";
  auto h = in_a.acquire();
  const auto all = admin.show(name());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all.front().owner.text.empty());
  EXPECT_TRUE(all.front().owner.host.empty());
  EXPECT_FALSE(all.front().owner.since);
}

TEST_F(administration, the_queue_is_shown_in_its_order) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  tyer::client third = connect({.label = "third"});
  tyer::mutex in_third{third, name(), {.ttl = 60s}};
  auto h = in_a.acquire();
  auto second = acquire_later(in_b);
  ASSERT_TRUE(queue_has(1));
  auto last = acquire_later(in_third);
  ASSERT_TRUE(queue_has(2));
  const auto all = admin.show(name());
  ASSERT_EQ(all.size(), 3u);
  EXPECT_FALSE(all[0].waiting);
  for (std::uint32_t place : {1u, 2u}) {
    EXPECT_TRUE(all[place].waiting);
    EXPECT_EQ(all[place].place, place);
    EXPECT_FALSE(all[place].token);
    EXPECT_GT(all[place].remaining, 0ms);
  }
  if (can().owners) {
    EXPECT_EQ(all[1].owner.label, "second");
    EXPECT_EQ(all[2].owner.label, "third");
  }
  h.release();
  auto next = soon(second.done).hold;
  EXPECT_EQ(next.id(), all[1].id);
  next.release();
  soon(last.done);
}

TEST_F(administration, readers_and_permits_are_shown_as_what_they_are) {
  if (!can().shared || !can().permits) GTEST_SKIP() << no_such_lock;
  tyer::shared_mutex read_a{a, name()}, read_b{b, name()};
  auto one = read_a.shared().acquire();
  auto two = read_b.shared().acquire();
  auto all = admin.show(name());
  ASSERT_EQ(all.size(), 2u);
  for (const auto& e : all) EXPECT_EQ(e.mode, tyer::lock_mode::shared);

  tyer::semaphore places{a, name() + "/places", 3};
  auto some = places.permits(2).acquire();
  all = admin.show(name() + "/places");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().mode, tyer::lock_mode::permit);
  EXPECT_TRUE(std::ranges::equal(all.front().slot_numbers, some.slot_numbers()));
}

TEST_F(administration, a_listing_has_all_names_with_a_prefix) {
  std::vector<tyer::hold> held;
  std::vector<std::string> expected;
  for (int i = 0; i < 12; ++i) {
    expected.push_back(name() + "/" + std::to_string(i));
    held.push_back(tyer::mutex{a, expected.back()}.acquire());
  }
  auto other = tyer::mutex{a, name() + "-other"}.acquire();
  std::vector<std::string> seen;
  std::string cursor;
  do {
    const auto page = admin.list(name() + "/", cursor, 5);
    for (const auto& e : page.entries) seen.push_back(e.name);
    cursor = page.cursor;
  } while (!cursor.empty());
  std::ranges::sort(seen);
  seen.erase(std::ranges::unique(seen).begin(), seen.end());
  std::ranges::sort(expected);
  EXPECT_EQ(seen, expected);
}

TEST_F(administration, an_eviction_takes_exactly_what_was_seen) {
  auto broken = in_a.acquire();
  const auto seen = admin.show(name());
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(admin.evict(seen.front(), "too slow"));
  EXPECT_TRUE(wait_for_loss(broken.lost()));
  auto next = in_b.acquire();
  EXPECT_FALSE(admin.evict(seen.front(), "again"));  // never the next one
  const auto now = admin.show(name());
  ASSERT_EQ(now.size(), 1u);
  EXPECT_EQ(now.front().id, next.id());
  EXPECT_EQ(next.release(), tyer::release_outcome::released);
}

TEST_F(administration, a_place_in_the_queue_can_be_evicted) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  tyer::client third = connect();
  tyer::mutex in_third{third, name(), {.ttl = 60s}};
  auto h = in_a.acquire();
  auto evicted = acquire_later(in_b);
  ASSERT_TRUE(queue_has(1));
  auto behind = acquire_later(in_third);
  ASSERT_TRUE(queue_has(2));
  const auto seen = admin.show(name());
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_TRUE(admin.evict(seen[1]));
  // Whoever was behind is next; the other one begins anew, at the end.
  const auto now = admin.show(name());
  ASSERT_GE(now.size(), 2u);
  EXPECT_EQ(now[1].id, seen[2].id);
  EXPECT_TRUE(queue_has(2));
  h.release();
  soon(behind.done).hold.release();
  soon(evicted.done);
}

TEST_F(administration, what_has_no_id_is_not_evicted) {
  tyer::lock_entry foreign;
  foreign.name = name();
  EXPECT_EQ(code_of([&] { (void)admin.evict(foreign); }), errc::unsupported);
  EXPECT_NE(words_of([&] { (void)admin.evict(foreign); }), "");
}

TEST_F(administration, a_watch_tells_who_comes_and_who_goes) {
  told diary;
  auto watching = admin.watch(name(), [&](const entries& all) { diary.note(all); }, 200ms);
  EXPECT_TRUE(diary.await([](const entries& all) { return all.empty(); }));
  auto h = in_a.acquire();
  EXPECT_TRUE(diary.await([&](const entries& all) { return all.size() == 1 && all.front().id == h.id(); }));
  if (can().queue) {
    auto waiter = acquire_later(in_b);
    EXPECT_TRUE(diary.await([](const entries& all) { return all.size() == 2 && all[1].place == 1; }));
    h.release();
    auto next = soon(waiter.done).hold;
    EXPECT_TRUE(diary.await(
        [&](const entries& all) { return all.size() == 1 && all.front().id == next.id() && !all.front().waiting; }));
    next.release();
  } else {
    h.release();
  }
  EXPECT_TRUE(diary.await([](const entries& all) { return all.empty(); }));
}

TEST_F(administration, a_watch_is_behind_by_no_more_than_it_was_told_to) {
  constexpr auto every = 500ms;
  told diary;
  auto watching = admin.watch(name(), [&](const entries& all) { diary.note(all); }, every);
  EXPECT_TRUE(diary.await([](const entries& all) { return all.empty(); }));
  for (int i = 0; i < 3; ++i) {
    auto h = in_a.acquire();
    const auto before = steady_clock::now();
    EXPECT_TRUE(diary.await([&](const entries& all) { return all.size() == 1 && all.front().id == h.id(); }));
    EXPECT_LT(steady_clock::now() - before, every + slack);
    h.release();
    EXPECT_TRUE(diary.await([](const entries& all) { return all.empty(); }));
  }
}

TEST_F(administration, a_renewal_is_no_change) {
  told diary;
  tyer::mutex brief{a, name(), {.ttl = std::max<std::chrono::milliseconds>(can().ttl_min, 3s)}};
  auto h = brief.acquire();
  auto watching = admin.watch(name(), [&](const entries& all) { diary.note(all); }, 20ms);
  EXPECT_TRUE(diary.await([](const entries& all) { return all.size() == 1; }));
  const auto first = h.valid_until();
  ASSERT_TRUE(eventually([&] { return h.valid_until() > first; }));
  EXPECT_EQ(diary.unread(), 0u);
}

TEST_F(administration, the_server_tells_what_it_is) {
  const auto info = admin.server();
  EXPECT_LE(info.told, std::chrono::system_clock::now());
  EXPECT_GT(info.told, std::chrono::system_clock::now() - 5min);
  if (engine.there()) {
    EXPECT_FALSE(info.version.empty());
  }
  // Everything runs on one machine here, whose clock is one.
  if (info.clock) {
    const auto apart = *info.clock - info.told;
    EXPECT_LT(apart, 1s);
    EXPECT_GT(apart, -1s);
  }
}

TEST_F(administration, an_engine_can_be_diagnosed) {
  for (const auto& f : admin.diagnose()) {
    EXPECT_FALSE(f.what.empty());
    EXPECT_FALSE(f.advice.empty()) << f.what;
  }
}

TEST_F(administration, what_it_can_is_what_the_engine_can) {
  const auto able = admin.can();
  EXPECT_EQ(able.queue, can().queue);
  EXPECT_EQ(able.tokens, can().token);
  EXPECT_EQ(able.shared, can().shared);
  EXPECT_EQ(able.permits, can().permits);
  EXPECT_EQ(able.owners, can().owners);
  EXPECT_NE(admin.address().find("://"), std::string::npos);
}

TEST_F(administration, nothing_can_be_asked_of_a_closed_client) {
  looking.close();
  const tyer::lock_entry some;
  EXPECT_EQ(code_of([&] { static_cast<void>(admin.show(name())); }), errc::closed);
  EXPECT_EQ(code_of([&] { static_cast<void>(admin.list()); }), errc::closed);
  EXPECT_EQ(code_of([&] { static_cast<void>(admin.diagnose()); }), errc::closed);
  EXPECT_EQ(code_of([&] { static_cast<void>(admin.server()); }), errc::closed);
  EXPECT_EQ(code_of([&] { auto w = admin.watch(name(), [](const entries&) {}); }), errc::closed);
  tyer::failure why;
  EXPECT_TRUE(admin.show(why, name()).empty());
  EXPECT_EQ(why.code, errc::closed);
}

TEST_F(administration, a_name_must_be_one) {
  EXPECT_EQ(code_of([&] { static_cast<void>(admin.show("")); }), errc::invalid_name);
  EXPECT_EQ(code_of([&] { auto w = admin.watch("", [](const entries&) {}); }), errc::invalid_name);
  EXPECT_EQ(code_of([&] { auto w = admin.watch(name(), [](const entries&) {}, 0ms); }), errc::invalid_option);
}

TEST_F(administration, an_engine_that_is_away_is_told) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  auto impatient = connect({.request_timeout = 300ms});
  const tyer::admin from{impatient};
  engine.pause();
  tyer::failure why;
  EXPECT_TRUE(from.show(why, name()).empty());
  EXPECT_EQ(why.code, errc::unavailable);
  engine.resume();
  EXPECT_TRUE(eventually([&] { return from.show(why, name()).empty() && !why; }));
}

}  // namespace
}  // namespace contract
