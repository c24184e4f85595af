// The loop, what is refused, and the end: on virtual time.
#include "unit/kit/pocket_engine.hpp"

#include <gtest/gtest.h>

#include <new>
#include <thread>

namespace tyer::kit {
namespace {

struct recorder final : seam::events {
  void wake(const seam::id&) override { ++wakes; }
  void suspect(const seam::id&) override {}
  void gone(const seam::id&) override {}
  void asked(const seam::id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const seam::server_facts&) override {}
  void down(const failure&) override {}
  int wakes = 0;
};

template <class T>
struct heard {
  int times = 0;
  time_point sent;
  result<T> said;
  const failure* wrong() const { return std::get_if<failure>(&said); }
};

struct engine_base_test : ::testing::Test {
  static constexpr milliseconds timeout = 2s;

  void open(pocket_engine::plan p = {}) {
    it.emplace(seam::environment{"p:", &ids, &clock, timeout, {}}, p);
    it->open(events);
  }
  void SetUp() override { open(); }
  void run() { it->run(clock.now()); }
  void pass(milliseconds d) {
    clock.move(d);
    run();
  }

  template <class T>
  reply<T> into(std::shared_ptr<heard<T>> h) {
    return [h](outcome<T>&& o) {
      ++h->times;
      h->sent = o.sent;
      h->said = std::move(o.result);
    };
  }
  template <class T>
  using heard_ptr = std::shared_ptr<heard<T>>;

  seam::request wants(mode how = mode::exclusive) {
    return {.what = {ids.next(), "order", how}, .ttl = 10s, .waiter_ttl = 1s, .not_after = 1s};
  }
  heard_ptr<answer> acquire(const seam::request& r) {
    auto h = std::make_shared<heard<answer>>();
    it->acquire(r, into<answer>(h));
    return h;
  }
  heard_ptr<answer> acquire() { return acquire(wants()); }
  heard_ptr<fate> release() {
    auto h = std::make_shared<heard<fate>>();
    it->release({ids.next(), "order"}, true, into<fate>(h));
    return h;
  }
  heard_ptr<seam::done> close() {
    auto h = std::make_shared<heard<seam::done>>();
    it->close(into<seam::done>(h));
    EXPECT_EQ(h->times, 0) << "inline";
    return h;
  }
  static bool is_unsupported(const auto& h) {
    return h->times == 1 && h->wrong() != nullptr && h->wrong()->kind == why::unsupported;
  }

  hand_clock clock;
  core::random_ids ids;
  recorder events;
  std::optional<pocket_engine> it;
};

// ---- calls

TEST_F(engine_base_test, a_call_reaches_the_engine_and_its_answer_the_caller_in_the_next_run) {
  const auto made = clock.now();
  const auto h = acquire();
  ASSERT_EQ(it->acquires.size(), 1u);
  EXPECT_EQ(it->acquires[0]->sent, made);
  EXPECT_EQ(it->acquires[0]->deadline, made + timeout);
  EXPECT_EQ(it->acquires[0]->not_after, made + 1s);
  clock.move(100ms);
  it->grant(0);
  EXPECT_EQ(h->times, 0);
  run();
  EXPECT_EQ(h->times, 1);
  EXPECT_EQ(h->sent, made);
  EXPECT_EQ(std::get<seam::granted>(std::get<answer>(h->said)).part, 7u);
}

TEST_F(engine_base_test, a_not_after_of_for_ever_is_a_day) {
  auto r = wants();
  r.not_after = milliseconds::max();
  acquire(r);
  EXPECT_EQ(it->acquires[0]->not_after, clock.now() + 24h) << "and no sum that overflows";
  r.not_after = -5s;
  acquire(r);
  EXPECT_EQ(it->acquires[1]->not_after, clock.now());
}

TEST_F(engine_base_test, only_a_release_is_worth_waiting_for_at_the_end) {
  acquire();
  release();
  EXPECT_FALSE(it->acquires[0]->gives_back);
  EXPECT_TRUE(it->releases[0]->gives_back);
}

TEST_F(engine_base_test, every_kind_of_call_without_an_answer_times_out_once) {
  std::vector<std::function<int()>> times;
  const auto note = [&](const auto& h) { times.push_back([h] { return h->times; }); };
  note(acquire());
  note(release());
  const target t{ids.next(), "order"};
  const auto call = [&]<class T>(std::type_identity<T>, auto make) {
    auto h = std::make_shared<heard<T>>();
    make(into<T>(h));
    note(h);
  };
  it->able.convert = it->able.lift = true;
  call(std::type_identity<kept>{}, [&](auto r) { it->keep({&t, 1}, fate::holding, 1s, std::move(r)); });
  call(std::type_identity<answer>{}, [&](auto r) { it->convert(t, mode::shared, 1s, std::move(r)); });
  call(std::type_identity<fate>{}, [&](auto r) { it->lift(t, 9, std::move(r)); });
  call(std::type_identity<std::uint32_t>{}, [&](auto r) { it->ask("order", "please", std::move(r)); });
  call(std::type_identity<fate>{}, [&](auto r) { it->evict(t, "test", std::move(r)); });
  call(std::type_identity<page>{}, [&](auto r) { it->show("order", std::move(r)); });
  call(std::type_identity<page>{}, [&](auto r) { it->look("order", false, std::move(r)); });
  call(std::type_identity<page>{}, [&](auto r) { it->list("", "", 10, std::move(r)); });
  call(std::type_identity<std::vector<seam::finding>>{}, [&](auto r) { it->diagnose(std::move(r)); });
  pass(timeout - 1ms);
  for (const auto& n : times) EXPECT_EQ(n(), 0);
  pass(1ms);
  for (const auto& n : times) EXPECT_EQ(n(), 1);
  pass(timeout);
  for (const auto& n : times) EXPECT_EQ(n(), 1);
  EXPECT_EQ(times.size(), 11u);
}

// ---- refused

TEST_F(engine_base_test, what_can_denies_is_refused_and_never_reaches_the_engine) {
  auto delayed = wants();
  delayed.lock_delay = 1s;
  const auto shared = acquire(wants(mode::shared)), permit = acquire(wants(mode::permit)), ghost = acquire(delayed);
  const auto converted = std::make_shared<heard<answer>>();
  it->convert({ids.next(), "order"}, mode::shared, 1s, into<answer>(converted));
  const auto lifted = std::make_shared<heard<fate>>();
  it->lift({ids.next(), "order"}, 9, into<fate>(lifted));
  EXPECT_EQ(shared->times + permit->times + ghost->times + converted->times + lifted->times, 0) << "never inline";
  run();
  EXPECT_TRUE(is_unsupported(shared) && is_unsupported(permit) && is_unsupported(ghost));
  EXPECT_TRUE(is_unsupported(converted) && is_unsupported(lifted));
  EXPECT_NE(shared->wrong()->words.find("pocket://"), std::string::npos) << "it says who";
  EXPECT_TRUE(it->acquires.empty() && it->converts.empty() && it->lifts.empty());
}

TEST_F(engine_base_test, what_can_allows_is_not) {
  it->able = {.shared = true, .permits = true, .convert = true, .lock_delay = true, .lift = true};
  auto delayed = wants();
  delayed.lock_delay = 1s;
  acquire(wants(mode::shared));
  acquire(wants(mode::permit));
  acquire(delayed);
  it->convert({ids.next(), "order"}, mode::shared, 1s, [](auto&&) {});
  it->lift({ids.next(), "order"}, 9, [](auto&&) {});
  EXPECT_EQ(it->acquires.size(), 3u);
  EXPECT_EQ(it->converts.size() + it->lifts.size(), 2u);
}

TEST_F(engine_base_test, no_more_can_be_kept_at_once_than_it_says) {
  const std::vector<target> many(4, target{ids.next(), "order"});
  const auto h = std::make_shared<heard<kept>>();
  it->keep(many, fate::holding, 1s, into<kept>(h));
  it->keep(std::span{many}.first(3), fate::holding, 1s, [](auto&&) {});
  EXPECT_EQ(it->keeps.size(), 1u);
  run();
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->wrong()->kind, why::over_limit);
}

// ---- the loop

TEST_F(engine_base_test, on_a_clock_that_stands_still_run_waits_for_the_wake_up) {
  std::thread waker{[&] { it->wake(); }};
  it->run(time_point::max());
  waker.join();
}

TEST_F(engine_base_test, nobody_sleeps_when_a_reply_is_to_be_delivered) {
  const auto h = acquire(wants(mode::shared));  // refused
  it->run(time_point::max());
  EXPECT_EQ(h->times, 1);
}

TEST_F(engine_base_test, nobody_sleeps_when_a_call_or_the_engine_is_due) {
  const auto h = acquire();
  clock.move(timeout);
  it->run(time_point::max());
  EXPECT_EQ(h->times, 1);
  it->due = clock.now();
  it->run(time_point::max());
  EXPECT_EQ(it->looked.back(), clock.now());
}

TEST_F(engine_base_test, on_a_clock_that_flows_run_ends_at_its_time) {
  const core::boot_clock real;
  pocket_engine e{seam::environment{"", &ids, &real, timeout, {}}, {}};
  e.open(events);
  const auto end = real.now() + 20ms;
  e.run(end);
  EXPECT_GE(real.now(), end);
}

TEST_F(engine_base_test, the_engine_says_more_of_what_went_wrong_than_a_time_out) {
  const auto h = acquire();
  it->due = clock.now() + timeout;
  it->when_due = [&] {
    it->due = time_point::max();
    it->calls().fail(*it->acquires[0], no(why::unknown, errc::unavailable, "two of three are away"));
  };
  pass(timeout);
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->wrong()->words, "two of three are away");
}

TEST_F(engine_base_test, replies_and_events_come_in_the_order_in_which_the_server_said_them) {
  std::vector<std::string> order;
  it->acquire(wants(), [&](auto&&) { order.emplace_back("granted"); });
  it->tell([&](seam::events*) { order.emplace_back("before"); });
  it->grant(0);
  it->tell([&](seam::events*) { order.emplace_back("gone"); });
  run();
  EXPECT_EQ(order, (std::vector<std::string>{"before", "granted", "gone"}));
}

TEST_F(engine_base_test, a_message_that_finds_no_memory_takes_no_other_with_it) {
  const auto a = acquire(), b = acquire();
  it->grant(0);
  it->tell([](seam::events*) { throw std::bad_alloc{}; });
  it->grant(1);
  run();
  EXPECT_EQ(a->times, 1);
  EXPECT_EQ(b->times, 1);
  EXPECT_EQ(it->anew, 0);
  run();
  EXPECT_EQ(it->anew, 1) << "the engine may have lost track";
  run();
  EXPECT_EQ(it->anew, 1) << "once";
}

TEST_F(engine_base_test, an_engine_may_handle_what_comes_itself_one_after_the_other) {
  const auto a = acquire(), b = acquire();
  it->arriving = {[&] {
                    it->calls().answer<answer>(*it->acquires[0], answer{seam::granted{7, 1s}});
                    EXPECT_EQ(a->times, 1) << "told before the next is handled";
                  },
                  [] { throw std::bad_alloc{}; },
                  [&] { it->calls().answer<answer>(*it->acquires[1], answer{seam::granted{8, 1s}}); }};
  run();
  EXPECT_EQ(b->times, 1);
  EXPECT_EQ(it->anew, 0);
  run();
  EXPECT_EQ(it->anew, 1) << "the engine may have lost track";
  run();
  EXPECT_EQ(it->anew, 1) << "once";
}

TEST_F(engine_base_test, what_is_in_the_box_can_be_had_without_waiting) {
  seam::inbox box;
  EXPECT_TRUE(box.empty());
  EXPECT_TRUE(box.take_now().empty());
  box.put([](seam::events*) {});
  EXPECT_FALSE(box.empty());
  EXPECT_EQ(box.take_now().size(), 1u);
  EXPECT_TRUE(box.empty());
}

TEST_F(engine_base_test, what_is_due_is_done_though_the_engine_found_no_memory_for_its_own) {
  const auto h = acquire();
  it->due = clock.now() + timeout;
  it->when_due = [] { throw std::bad_alloc{}; };
  pass(timeout);
  EXPECT_EQ(h->times, 1);
  it->when_due = {};
  run();
  EXPECT_EQ(it->anew, 1);
}

// ---- the end

TEST_F(engine_base_test, close_answers_for_the_server_what_is_still_under_way) {
  const auto a = acquire();
  const auto r = release();
  const auto closed = close();
  EXPECT_EQ(it->closings, 1);
  it->run(time_point::max());
  EXPECT_EQ(a->wrong()->code, errc::closed);
  EXPECT_EQ(r->wrong()->kind, why::unknown);
  EXPECT_EQ(closed->times, 1);
}

TEST_F(engine_base_test, the_reply_of_close_is_the_last) {
  std::vector<int> order;
  for (int n = 0; n < 5; ++n) it->acquire(wants(), [&order, n](auto&&) { order.push_back(n); });
  it->close([&](auto&&) { order.push_back(-1); });
  it->acquire(wants(), [&](auto&&) { order.push_back(9); });
  run();
  ASSERT_EQ(order.size(), 7u);
  EXPECT_EQ(order.back(), -1);
}

TEST_F(engine_base_test, a_reply_that_calls_once_more_while_it_is_closed_is_answered_before_close) {
  std::vector<int> order;
  it->acquire(wants(), [&](auto&&) {
    it->acquire(wants(), [&](auto&&) { it->acquire(wants(), [&](auto&&) { order.push_back(1); }); });
  });
  it->close([&](auto&&) { order.push_back(-1); });
  for (int n = 0; n < 5; ++n) run();
  EXPECT_EQ(order, (std::vector{1, -1}));
  EXPECT_EQ(it->acquires.size(), 1u) << "and the engine was not bothered";
}

TEST_F(engine_base_test, whoever_calls_a_closed_engine_is_answered) {
  close();
  run();
  const auto h = acquire();
  run();
  ASSERT_EQ(h->times, 1);
  EXPECT_EQ(h->wrong()->kind, why::not_sent);
  it->watch("order", true);
  EXPECT_TRUE(it->watched.empty());
}

TEST_F(engine_base_test, afterwards_there_are_no_events) {
  it->runtime().wake({});
  EXPECT_EQ(std::exchange(events.wakes, 0), 1);
  it->tell([](seam::events* e) {
    if (e != nullptr) e->wake({});
  });
  close();
  it->tell([](seam::events* e) { EXPECT_EQ(e, nullptr); });
  run();
  it->runtime().wake({});
  EXPECT_EQ(events.wakes, 0);
  EXPECT_EQ(it->told(), nullptr);
}

TEST_F(engine_base_test, what_is_being_given_back_is_waited_for_and_nothing_else) {
  open({draining::what_gives_back, 500ms});
  const auto a = acquire();
  const auto r = release();
  const auto closed = close();
  run();
  EXPECT_EQ(a->times, 1);
  EXPECT_EQ(r->times, 0);
  EXPECT_EQ(closed->times, 0);
  it->free(0);
  run();
  EXPECT_EQ(std::get<fate>(r->said), fate::holding);
  EXPECT_EQ(closed->times, 1);
}

TEST_F(engine_base_test, but_not_for_longer_than_it_is_worth) {
  open({draining::what_gives_back, 500ms});
  const auto r = release();
  const auto closed = close();
  run();
  pass(499ms);
  EXPECT_EQ(closed->times, 0);
  clock.move(1ms);
  it->run(time_point::max());  // and it wakes up by itself for it
  EXPECT_EQ(r->wrong()->code, errc::closed);
  EXPECT_EQ(closed->times, 1);
}

TEST_F(engine_base_test, everything_is_waited_for_if_the_engine_says_so) {
  open({draining::everything, 150ms});
  const auto a = acquire(), b = acquire();
  const auto closed = close();
  run();
  EXPECT_EQ(a->times + b->times + closed->times, 0);
  it->grant(0);
  run();
  EXPECT_EQ(a->times, 1);
  EXPECT_EQ(closed->times, 0);
  pass(150ms);
  EXPECT_NE(b->wrong(), nullptr);
  EXPECT_EQ(closed->times, 1);
}

TEST_F(engine_base_test, with_nothing_under_way_it_is_closed_at_once) {
  open({draining::everything, 150ms});
  const auto closed = close();
  it->run(time_point::max());
  EXPECT_EQ(closed->times, 1);
}

TEST_F(engine_base_test, it_is_not_closed_before_the_engine_has_let_go) {
  it->lets_go = false;
  const auto a = acquire();
  const auto closed = close();
  run();
  EXPECT_EQ(a->times, 1) << "its callers need not wait for that";
  EXPECT_EQ(closed->times, 0);
  it->lets_go = true;
  run();
  EXPECT_EQ(closed->times, 1);
  run();
  EXPECT_EQ(closed->times, 1);
}

TEST_F(engine_base_test, an_engine_that_goes_answers_nobody_and_takes_no_more_messages) {
  auto kept = std::make_shared<int>();
  it->acquire(wants(), [kept](auto&&) { FAIL(); });
  it->grant(0);
  it->tell([kept](seam::events*) { FAIL(); });
  it.reset();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(engine_base_test, a_server_that_speaks_after_the_engine_is_gone_speaks_to_nobody) {
  const auto box = std::make_shared<seam::inbox>();
  auto said = std::make_shared<int>();
  box->put([said](seam::events*) {});
  box->shut();
  EXPECT_EQ(said.use_count(), 1);
  box->put([said](seam::events*) {});
  EXPECT_EQ(said.use_count(), 1);
  EXPECT_TRUE(box->take(std::chrono::steady_clock::time_point{}).empty());
}

}  // namespace
}  // namespace tyer::kit
