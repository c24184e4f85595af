// Opening, lateness, many calls at once, closing.
#include "contract/engine/harness.hpp"

#include <algorithm>
#include <future>
#include <thread>

namespace tyer::contract {

using lifetime_contract = engine_contract;

TEST_F(lifetime_contract, up_names_the_server) {
  const auto is_up = [](const event& e) { return e.what == event::kind::up; };
  const auto& all = a.seen_events();
  const auto up = std::ranges::find_if(all, is_up);
  ASSERT_NE(up, all.end());
  EXPECT_FALSE(up->text.empty());
}

// Not 0: an engine knows its server's clock only to within a round trip.
TEST_F(lifetime_contract, a_request_that_is_certainly_late_does_nothing) {
  auto w = a.wants("order");
  w.not_after = -10s;
  a.find_failure(w);
  EXPECT_EQ(a.keep(w, fate::holding, 20s), fate::gone);
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

// Whether it was executed in time is up to the engine; what it says about it must be true.
TEST_F(lifetime_contract, a_late_request_leaves_nothing_behind_that_it_does_not_tell_of) {
  auto w = a.waits("order");
  w.not_after = 20ms;
  const auto o = a.call<answer>([&](auto reply) {
    a.raw().acquire(w.request(), std::move(reply));
    b.pump_until(b.now() + 100ms);  // a's loop stands still meanwhile
  });
  const bool held = granted_in(o) != nullptr;
  EXPECT_TRUE(held || std::holds_alternative<engine::failure>(o.result)) << describe(o);
  EXPECT_EQ(b.could_lock(b.wants("order")), !held);
}

TEST_F(lifetime_contract, many_calls_at_once_are_answered_once_each) {
  struct tally {
    int granted = 0, busy = 0, released = 0;
  };
  auto seen = std::make_shared<tally>();
  constexpr int calls = 200;
  for (int i = 0; i < calls; ++i) {
    const auto w = a.wants("order/" + std::to_string(i % 10));
    a.raw().acquire(w.request(), [seen](outcome<answer>&& o) {
      seen->granted += granted_in(o) != nullptr ? 1 : 0;
      seen->busy += busy_in(o) != nullptr ? 1 : 0;
    });
  }
  a.pump_until([&] { return seen->granted + seen->busy >= calls; }, "all replies");
  a.round_trip();
  EXPECT_EQ(seen->granted, 10);
  EXPECT_EQ(seen->busy, calls - 10);
}

TEST_F(lifetime_contract, requests_for_one_name_are_executed_in_order) {
  for (int i = 0; i < 20; ++i) {
    const auto first = a.wants("order"), second = a.wants("order");
    auto released = std::make_shared<std::optional<outcome<fate>>>();
    a.raw().acquire(first.request(), [](outcome<answer>&&) {});
    a.raw().release(first.target(), true, [released](outcome<fate>&& o) { *released = std::move(o); });
    a.lock(second);
    a.pump_until([&] { return released->has_value(); }, "the release");
    EXPECT_EQ(value_of(**released), fate::holding);
    EXPECT_EQ(a.release(second), fate::holding);
  }
}

TEST_F(lifetime_contract, a_reply_may_make_the_next_call) {
  const auto w = a.wants("order");
  auto released = std::make_shared<bool>(false);
  a.raw().acquire(w.request(), [&, released](outcome<answer>&&) {
    a.raw().release(w.target(), true, [released](outcome<fate>&&) { *released = true; });
  });
  a.pump_until([&] { return *released; }, "the second reply");
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

TEST_F(lifetime_contract, wake_from_another_thread_ends_the_run) {
  std::promise<void> ran;
  std::thread waker{[&, running = ran.get_future()] {
    while (running.wait_for(1ms) == std::future_status::timeout) a.raw().wake();
  }};
  const auto before = a.now();
  a.raw().run(before + 60s);
  const auto after = a.now();
  ran.set_value();
  waker.join();
  EXPECT_LT(after, before + patience);
}

TEST_F(lifetime_contract, a_wake_before_the_run_is_not_lost) {
  a.round_trip();
  a.raw().wake();
  const auto before = a.now();
  a.raw().run(before + 60s);
  EXPECT_LT(a.now(), before + patience);
}

TEST_F(lifetime_contract, run_returns_at_its_time) {
  a.round_trip();
  const auto before = a.now();
  while (a.now() < before + 50ms) a.raw().run(before + 50ms);
  EXPECT_LT(a.now(), before + patience);
}

TEST_F(lifetime_contract, closing_answers_what_is_outstanding_first) {
  const auto dying = another();
  auto replies = std::make_shared<std::vector<int>>();
  for (int i = 0; i < 50; ++i) {
    dying->raw().acquire(dying->wants("order/" + std::to_string(i)).request(),
                         [replies, i](outcome<answer>&&) { replies->push_back(i); });
  }
  dying->raw().close([replies](outcome<engine::done>&&) { replies->push_back(-1); });
  dying->pump_until([&] { return !replies->empty() && replies->back() == -1; }, "the reply of close()");
  EXPECT_EQ(replies->size(), 51u);
}

TEST_F(lifetime_contract, after_closing_there_are_no_events) {
  if (!can().push) return;
  const auto dying = another();
  const auto w = dying->wants("order");
  dying->lock(w);
  auto closed = std::make_shared<bool>(false);
  dying->raw().close([closed](outcome<engine::done>&&) { *closed = true; });
  b.ask("order", "too late");
  dying->pump_until([&] { return *closed; }, "the reply of close()");
  const auto so_far = dying->seen_events().size();
  b.ask("order", "far too late");
  dying->raw().run(dying->now() + 20ms);
  EXPECT_EQ(dying->seen_events().size(), so_far);
}

TEST_F(lifetime_contract, a_hold_outlives_the_client_that_took_it) {
  auto dying = another();
  dying->lock(dying->wants("order"));
  dying.reset();
  EXPECT_FALSE(b.could_lock(b.wants("order")));
}

TEST_F(lifetime_contract, ids_are_unknown_to_others_until_used) {
  const auto w = a.waits("order");
  EXPECT_EQ(b.keep(w, fate::waiting, 20s), fate::gone);
  a.lock(w);
  EXPECT_EQ(b.keep(w, fate::holding, 20s), fate::holding);  // whoever knows the id is its holder
}

}  // namespace tyer::contract
