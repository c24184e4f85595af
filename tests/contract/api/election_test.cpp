// What is special about an election: who leads is seen by others.
#include "contract/api/child.hpp"
#include "contract/api/fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace contract {
namespace {

using namespace std::string_literals;
using seen = std::optional<tyer::leadership>;

// What an observation has told, one after the other.
class diary {
 public:
  void note(const seen& s) {
    const std::lock_guard lock{mutex_};
    pages_.push_back(s);
    changed_.notify_all();
  }
  seen next(std::chrono::milliseconds within = patience) {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, within, [this] { return !pages_.empty(); })) {
      throw std::runtime_error("nothing was told");
    }
    auto s = pages_.front();
    pages_.pop_front();
    return s;
  }
  std::size_t unread() {
    const std::lock_guard lock{mutex_};
    return pages_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<seen> pages_;
};

class election : public fixture {
 protected:
  // Where an engine does not push changes, an observer looks every third of the ttl.
  static inline const tyer::lock_options options{.ttl = 600ms};

  tyer::client a = connect({.label = "first"}), b = connect({.label = "second"}), watching = connect();
  tyer::election in_a{a, name(), {.ttl = 60s, .note = "10.0.0.7:8080"}}, in_b{b, name(), {.ttl = 60s}};
  tyer::election office{watching, name(), options};
};

TEST_F(election, one_leads_and_the_next_term_is_larger) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  auto term = in_a.campaign();
  EXPECT_TRUE(term.valid());
  auto candidate = in_background([&] { return in_b.campaign(); });
  ASSERT_TRUE(queue_has(1));
  EXPECT_FALSE(took(office.try_acquire()));
  const auto first = term.token();
  EXPECT_EQ(term.release(), tyer::release_outcome::released);
  EXPECT_FALSE(term);
  auto next = soon(candidate);
  EXPECT_TRUE(next.valid());
  EXPECT_GT(next.token(), first);
}

// Went wrong: both are of one client, and what the first was made with was told of the second.
TEST_F(election, a_second_object_published_the_note_of_the_first) {
  if (!can().owners) GTEST_SKIP() << no_owners;
  tyer::election moved{a, name(), {.ttl = 60s, .note = "10.0.0.8:9090"}};
  auto term = in_a.campaign();
  term.release();
  auto next = moved.campaign();
  const auto now = office.current();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->note, "10.0.0.8:9090");
}

TEST_F(election, a_campaign_can_be_stopped) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  auto term = in_a.campaign();
  std::stop_source stop;
  auto candidate = in_background([&] { return code_of([&] { static_cast<void>(in_b.campaign(stop.get_token())); }); });
  ASSERT_TRUE(queue_has(1));
  stop.request_stop();
  EXPECT_EQ(soon(candidate), errc::cancelled);
}

TEST_F(election, anybody_may_ask_who_leads) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  EXPECT_FALSE(office.current());
  auto term = in_a.campaign();
  auto candidate = acquire_later(in_b);
  ASSERT_TRUE(queue_has(1));
  const auto now = office.current();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->term, term.token());
  EXPECT_EQ(now->note, "10.0.0.7:8080");
  EXPECT_NE(now->owner.find("first"), std::string::npos) << now->owner;
  EXPECT_NE(now->owner.find("election_test.cpp"), std::string::npos) << now->owner;
  EXPECT_EQ(now->owner.find('\n'), std::string::npos) << now->owner;
  EXPECT_GT(now->remaining, 30s);
  EXPECT_LE(now->remaining, 60s);
  term.release();
  auto next = soon(candidate.done).hold;
  const auto then = office.current();
  ASSERT_TRUE(then);
  EXPECT_EQ(then->term, next.token());
  EXPECT_EQ(then->note, "");
  next.release();
  EXPECT_FALSE(office.current());
}

TEST_F(election, a_note_is_any_text) {
  const std::string text = "two\nlines, \xff and \0 nothing"s;
  tyer::election with{a, name(), {.note = text}};
  auto term = with.campaign();
  const auto now = office.current();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->note, text);
}

TEST_F(election, asking_fails_like_any_call) {
  tyer::failure why;
  watching.close();
  EXPECT_FALSE(office.current(why));
  EXPECT_EQ(why.code, errc::closed);
  EXPECT_EQ(code_of([&] { static_cast<void>(office.current()); }), errc::closed);
  EXPECT_EQ(code_of([&] { auto o = office.observe([](const seen&) {}); }), errc::closed);
}

TEST_F(election, an_observer_is_told_the_leader_and_each_change_that_it_sees) {
  diary told;
  auto watch = office.observe([&](const seen& s) { told.note(s); });
  EXPECT_FALSE(told.next());  // nobody yet
  auto term = in_a.campaign();
  auto now = told.next();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->term, term.token());
  EXPECT_EQ(now->note, "10.0.0.7:8080");
  term.release();
  EXPECT_FALSE(told.next());
  auto next = in_b.campaign();
  now = told.next();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->term, next.token());
  EXPECT_EQ(told.unread(), 0U);
}

TEST_F(election, an_observer_is_behind_by_no_more_than_a_look) {
  constexpr auto look = 1s;
  tyer::election slow{watching, name(), {.ttl = 3 * look}};
  diary told;
  auto watch = slow.observe([&](const seen& s) { told.note(s); });
  EXPECT_FALSE(told.next());
  for (int i = 0; i < 3; ++i) {
    auto term = in_a.campaign();
    auto now = told.next(look + std::chrono::milliseconds{slack});
    ASSERT_TRUE(now);
    EXPECT_EQ(now->term, term.token());
    term.release();
    EXPECT_FALSE(told.next(look + std::chrono::milliseconds{slack}));
  }
}

TEST_F(election, where_changes_are_pushed_an_observer_does_not_wait_for_its_next_look) {
  if (!can().watch) GTEST_SKIP() << "this engine does not push changes";
  tyer::election lazy{watching, name(), {.ttl = 3h}};
  diary told;
  auto watch = lazy.observe([&](const seen& s) { told.note(s); });
  EXPECT_FALSE(told.next());
  auto term = in_a.campaign();
  auto now = told.next();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->term, term.token());
}

TEST_F(election, an_observer_who_comes_late_is_told_who_leads) {
  auto term = in_a.campaign();
  diary one, two;
  auto watch = office.observe([&](const seen& s) { one.note(s); });
  auto another = office.observe([&](const seen& s) { two.note(s); });
  for (auto* told : {&one, &two}) {
    const auto now = told->next();
    ASSERT_TRUE(now);
    EXPECT_EQ(now->term, term.token());
  }
  watch = {};  // the other one goes on
  term.release();
  EXPECT_FALSE(two.next());
  EXPECT_EQ(one.unread(), 0U);
}

TEST_F(election, a_leader_that_dies_is_seen_to_be_gone_within_its_ttl) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  child first{{.name = name(), .kind = "election"}};
  ASSERT_TRUE(first.line_with("held", patience));
  diary told;
  auto watch = office.observe([&](const seen& s) { told.note(s); });
  ASSERT_TRUE(told.next());
  first.kill();
  EXPECT_FALSE(told.next(child_order{}.ttl + std::chrono::milliseconds{slack}));
}

TEST_F(election, an_observer_lasts_through_a_restart) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  diary told;
  auto watch = office.observe([&](const seen& s) { told.note(s); });
  EXPECT_FALSE(told.next());
  engine.kill();
  engine.restart();
  auto term = in_a.campaign();
  const auto now = told.next();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->term, term.token());
}

TEST_F(election, after_its_end_an_observation_tells_nothing) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> over{false}, late{false};
    auto watch = office.observe([&](const seen&) {
      if (over) late = true;
    });
    auto term = in_a.campaign();
    if (i % 2 == 0) std::this_thread::yield();
    watch = {};
    over = true;
    term.release();
    EXPECT_FALSE(late);
  }
}

TEST_F(election, the_end_of_an_observation_waits_for_a_callback_under_way) {
  std::atomic<bool> inside{false}, left{false};
  std::promise<void> go;
  auto may_go = go.get_future().share();
  auto watch = std::make_unique<tyer::observation>(office.observe([&, may_go](const seen&) {
    inside = true;
    may_go.wait();
    left = true;
  }));
  ASSERT_TRUE(eventually([&] { return inside.load(); }));
  auto ending = in_background([&] {
    watch.reset();
    return left.load();
  });
  EXPECT_EQ(ending.wait_for(20ms), std::future_status::timeout);
  go.set_value();
  EXPECT_TRUE(soon(ending));
}

TEST_F(election, an_observation_may_end_inside_its_own_callback) {
  std::promise<void> done;
  std::mutex ready;
  std::optional<tyer::observation> watch;
  {
    const std::lock_guard lock{ready};
    watch = office.observe([&](const seen&) {
      const std::lock_guard in_place{ready};
      watch.reset();
      done.set_value();
    });
  }
  soon(done.get_future());
  { const std::lock_guard it_is_out{ready}; }
  auto term = in_a.campaign();  // told to nobody: the promise would be set twice
  EXPECT_TRUE(term);
}

TEST_F(election, an_observation_may_outlive_its_leader_object_and_its_client) {
  diary told;
  auto own = std::make_unique<tyer::client>(connect());
  tyer::observation watch;
  {
    tyer::election brief{*own, name(), options};
    watch = brief.observe([&](const seen& s) { told.note(s); });
  }
  EXPECT_FALSE(told.next());
  auto term = in_a.campaign();
  EXPECT_TRUE(told.next());
  own.reset();
  term.release();
  watch = {};
  EXPECT_EQ(told.unread(), 0U);
}

// Two threads of an executor once told an old leader after the new one.
TEST_F(election, changes_are_told_in_their_order_even_by_an_executor_of_many_threads) {
  std::mutex threads_mutex;
  std::vector<std::jthread> threads;
  diary told;
  {
    auto own = connect({.completions = [&](std::function<void()> f) {
      const std::lock_guard lock{threads_mutex};
      const bool slow = threads.size() % 2 == 0;
      threads.emplace_back([f = std::move(f), slow] {
        if (slow) std::this_thread::sleep_for(5ms);
        f();
      });
    }});
    tyer::election there{own, name(), options};
    auto watch = there.observe([&](const seen& s) { told.note(s); });
    std::uint64_t last = 0;
    EXPECT_FALSE(told.next());
    for (int i = 0; i < 4; ++i) {
      auto term = in_a.campaign();
      const auto now = told.next();
      ASSERT_TRUE(now);
      EXPECT_GT(now->term, last);
      last = now->term;
      term.release();
      EXPECT_FALSE(told.next());
    }
  }
  std::vector<std::jthread> ended;
  const std::lock_guard lock{threads_mutex};
  ended.swap(threads);
}

TEST_F(election, the_leader_is_lost_at_the_end_of_its_validity) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  tyer::election brief{a, name(), {.ttl = 800ms}};
  auto term = brief.campaign();
  engine.pause();
  EXPECT_TRUE(wait_for_loss(term.lost(), 800ms + slack));
  EXPECT_FALSE(term.valid());
  engine.resume();
  EXPECT_TRUE(took(in_b.campaign()));
}

}  // namespace
}  // namespace contract
