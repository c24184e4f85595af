// What the contract suite cannot see: virtual time, a store that is paused, threads, addresses.
#include "engines/memory/memory.hpp"

#include "core/uri.hpp"
#include "engine/table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

namespace tyer::memory {

namespace {

using namespace std::chrono_literals;
using engine::done;
using engine::granted;
using engine::outcome;

class manual_clock final : public core::clock {
 public:
  lease_clock::time_point now() const noexcept override { return time_point{std::chrono::nanoseconds{now_.load()}}; }
  bool flows() const noexcept override { return false; }
  void advance(std::chrono::nanoseconds by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_{std::chrono::nanoseconds{1000s}.count()};
};

struct recorder : engine::events {
  void wake(const id& i) override { woken.push_back(i); }
  void suspect(const id&) override {}
  void gone(const id& i) override { lost.push_back(i); }
  void asked(const id&, std::string_view) override {}
  void changed(std::string_view name) override { changes.emplace_back(name); }
  void up(const engine::server_facts& f) override { servers.push_back(f.id); }
  void down(const failure&) override {}

  std::vector<id> woken, lost;
  std::vector<std::string> servers, changes;
};

struct user {
  user(std::shared_ptr<store> s, const core::clock& clock)
      : it(make_engine(std::move(s), {"p:", &ids, &clock, 2s, {}})), clock_(clock) {
    it->open(seen);
  }

  request ask(std::string_view name) {
    return {.what = {ids.next(), name}, .ttl = 10s, .waiter_ttl = 2s, .not_after = 1h};
  }

  void acquire(const request& r) {
    answered.reset();
    it->acquire(r, [this](outcome<answer>&& o) { answered = std::move(o); });
  }
  void run() { it->run(clock_.now()); }
  bool was_granted() {
    const auto* a = answered ? std::get_if<answer>(&answered->result) : nullptr;
    return a != nullptr && std::holds_alternative<granted>(*a);
  }
  std::optional<why> failed() {
    const auto* f = answered ? std::get_if<failure>(&answered->result) : nullptr;
    return f != nullptr ? std::optional{f->kind} : std::nullopt;
  }

  core::random_ids ids;
  recorder seen;
  std::optional<outcome<answer>> answered;
  std::unique_ptr<engine::engine> it;
  const core::clock& clock_;
};

class memory_test : public ::testing::Test {
 protected:
  manual_clock clock;
  std::shared_ptr<store> shelf = std::make_shared<store>(clock);
  user a{shelf, clock}, b{shelf, clock};
};

TEST_F(memory_test, a_reply_comes_with_the_next_run) {
  a.acquire(a.ask("x"));
  EXPECT_FALSE(a.answered);
  a.run();
  EXPECT_TRUE(a.was_granted());
  EXPECT_EQ(a.answered->sent, clock.now());
}

TEST_F(memory_test, leases_follow_the_clock_of_the_store) {
  a.acquire(a.ask("x"));
  clock.advance(10s);
  b.acquire(b.ask("x"));
  b.run();
  EXPECT_TRUE(b.was_granted());
}

TEST_F(memory_test, a_paused_store_answers_on_resume) {
  shelf->pause();
  a.acquire(a.ask("x"));
  a.run();
  EXPECT_FALSE(a.answered);
  shelf->resume();
  a.run();
  EXPECT_TRUE(a.was_granted());
}

TEST_F(memory_test, a_paused_store_times_out_as_unknown_and_is_late_nevertheless) {
  shelf->pause();
  a.acquire(a.ask("x"));
  clock.advance(2s);
  a.run();
  EXPECT_EQ(a.failed(), why::unknown);
  shelf->resume();
  a.run();
  EXPECT_EQ(a.failed(), why::unknown);  // one call, one reply
  EXPECT_EQ(shelf->count().holds, 1u);
}

TEST_F(memory_test, a_request_that_waited_beyond_its_not_after_does_nothing) {
  shelf->pause();
  auto r = a.ask("x");
  r.not_after = 1s;
  a.acquire(r);
  clock.advance(1s);
  shelf->resume();
  a.run();
  EXPECT_EQ(a.failed(), why::not_sent);
  EXPECT_EQ(shelf->count().names, 0u);
}

TEST_F(memory_test, closing_a_paused_engine_answers_as_unknown) {
  shelf->pause();
  a.acquire(a.ask("x"));
  bool closed = false;
  a.it->close([&](outcome<done>&&) { closed = a.answered.has_value(); });
  a.run();
  EXPECT_TRUE(closed);
  EXPECT_EQ(a.failed(), why::unknown);
  a.acquire(a.ask("y"));
  a.run();
  EXPECT_EQ(a.failed(), why::not_sent);
}

TEST_F(memory_test, an_engine_may_die_with_calls_in_a_paused_store) {
  shelf->pause();
  auto mortal = std::make_unique<user>(shelf, clock);
  mortal->acquire(mortal->ask("x"));
  mortal.reset();
  shelf->resume();
  EXPECT_EQ(shelf->count().holds, 1u);
}

TEST_F(memory_test, losing_everything_forgets_all_but_the_time) {
  a.acquire(a.ask("x"));
  a.run();
  const auto part = std::get<granted>(std::get<answer>(a.answered->result)).part;
  clock.advance(1ms);
  shelf->lose_everything();
  EXPECT_EQ(shelf->count().names, 0u);
  a.run();
  ASSERT_EQ(a.seen.servers.size(), 2u);
  EXPECT_NE(a.seen.servers[0], a.seen.servers[1]);
  b.acquire(b.ask("x"));
  b.run();
  EXPECT_GT(std::get<granted>(std::get<answer>(b.answered->result)).part, part);
}

TEST_F(memory_test, losing_a_hold_tells_its_client_only) {
  const auto r = a.ask("x");
  a.acquire(r);
  EXPECT_EQ(shelf->lose(r.what.who), fate::holding);
  a.run();
  b.run();
  EXPECT_EQ(a.seen.lost, std::vector<id>{r.what.who});
  EXPECT_TRUE(b.seen.lost.empty());
}

TEST_F(memory_test, a_watched_name_tells_of_changes_by_the_name_it_was_given) {
  a.it->watch("x", true);
  a.it->watch("x", true);
  const auto r = b.ask("x");
  b.acquire(r);
  b.acquire(b.ask("x"));  // busy: nothing has changed
  b.acquire(b.ask("y"));
  a.run();
  EXPECT_EQ(a.seen.changes, std::vector<std::string>{"x"});
  a.it->watch("x", false);
  b.it->release(r.what, true, [](auto&&) {});
  a.run();
  EXPECT_EQ(a.seen.changes.size(), 1u);
}

TEST_F(memory_test, a_request_that_may_not_be_late_at_all_does_nothing) {
  auto r = a.ask("x");
  r.not_after = 0ms;
  a.acquire(r);
  a.run();
  EXPECT_EQ(a.failed(), why::not_sent);
  EXPECT_EQ(shelf->count().names, 0u);
}

TEST_F(memory_test, a_clock_that_stands_still_waits_for_the_wake_up) {
  a.run();
  std::thread waker{[&] { a.it->wake(); }};
  a.it->run(time_point::max());
  waker.join();
}

TEST_F(memory_test, a_batch_beyond_the_limit_is_refused) {
  const std::vector<target> many(a.it->can().keep_batch + 1, target{a.ids.next(), "x"});
  std::optional<outcome<engine::kept>> kept;
  a.it->keep(many, fate::holding, 1s, [&](auto&& o) { kept = std::move(o); });
  a.run();
  ASSERT_TRUE(kept);
  EXPECT_EQ(std::get<failure>(kept->result).kind, why::over_limit);
}

// --- threads ---

TEST(memory_threads_test, two_threads_pass_a_lock_to_each_other) {
  const core::boot_clock clock;
  const auto shelf = std::make_shared<store>(clock);
  int inside = 0, total = 0;  // guarded by nothing but the lock under test
  constexpr int rounds = 500;
  const auto work = [&] {
    user u{shelf, clock};
    for (int i = 0; i < rounds; ++i) {
      auto r = u.ask("x");
      r.enqueue = true;
      for (u.acquire(r); !u.was_granted(); u.acquire(r)) {
        const auto woken = u.seen.woken.size();
        while (!u.answered) u.it->run(clock.now() + 1s);
        if (u.was_granted()) break;
        while (u.seen.woken.size() == woken) u.it->run(clock.now() + 1s);
      }
      EXPECT_EQ(++inside, 1);
      ++total;
      --inside;
      bool released = false;
      u.it->release(r.what, true, [&](auto&&) { released = true; });
      while (!released) u.it->run(clock.now() + 1s);
    }
  };
  std::thread one{work}, two{work}, three{work};
  one.join();
  two.join();
  three.join();
  EXPECT_EQ(total, 3 * rounds);
}

// --- addresses ---

class memory_address_test : public ::testing::Test {
 protected:
  engine::made make(std::string_view text) {
    return engine::make(core::parse_uri(text).value, {"", &ids, &clock, 2s, {}});
  }
  bool excludes(engine::engine& one, engine::engine& other) {
    bool both = true;
    for (auto* e : {&one, &other}) {
      const request r{.what = {ids.next(), "x"}, .ttl = 10s, .not_after = 1s};
      e->acquire(r, [&](auto&& o) { both = both && std::holds_alternative<granted>(std::get<answer>(o.result)); });
      e->run(clock.now());
    }
    return !both;
  }

  core::random_ids ids;
  core::boot_clock clock;
};

TEST_F(memory_address_test, the_same_name_is_the_same_store) {
  const auto one = make("memory://foo"), two = make("memory://foo"), other = make("memory://bar");
  EXPECT_TRUE(excludes(*one.value, *two.value));
  EXPECT_FALSE(excludes(*make("memory://").value, *other.value));
}

TEST_F(memory_address_test, no_name_is_a_name) {
  const auto one = make("memory://"), two = make("memory://");
  EXPECT_TRUE(excludes(*one.value, *two.value));
}

TEST_F(memory_address_test, a_store_dies_with_its_last_engine) {
  const request r{.what = {ids.next(), "x"}, .ttl = 1h, .not_after = 1s};
  auto first = make("memory://mortal");
  first.value->acquire(r, [](auto&&) {});
  first.value.reset();
  const auto one = make("memory://mortal"), two = make("memory://mortal");
  bool free = false;
  const request next{.what = {ids.next(), "x"}, .ttl = 1h, .not_after = 1s};
  one.value->acquire(next, [&](auto&& o) { free = std::holds_alternative<granted>(std::get<answer>(o.result)); });
  one.value->run(clock.now());
  EXPECT_TRUE(free);
}

TEST_F(memory_address_test, a_store_outlives_the_environment_it_was_made_with) {
  auto mortal = std::make_unique<core::boot_clock>();
  auto first = engine::make(core::parse_uri("memory://shared").value, {"", &ids, mortal.get(), 2s, {}});
  const auto second = make("memory://shared");
  first.value.reset();
  mortal.reset();
  EXPECT_TRUE(excludes(*second.value, *second.value));
}

TEST_F(memory_address_test, anything_but_a_name_is_refused) {
  for (const char* text : {"memory://a,b", "memory://a:1", "memory://a/path", "memory://user@a", "memory://a?x=1"}) {
    const auto made = make(text);
    EXPECT_EQ(made.error.code, make_error_code(errc::invalid_uri)) << text;
    EXPECT_EQ(made.value, nullptr) << text;
  }
}

}  // namespace

}  // namespace tyer::memory
