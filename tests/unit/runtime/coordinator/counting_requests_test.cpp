// What the coordinator counts of its engine: how long it took, what had no answer, reconnects; and nothing, if nobody asks.
#include "unit/runtime/coordinator/counting_bench.hpp"

namespace tyer::testing {
namespace {

// ---- the engine

TEST(coordinator_counting, how_long_the_engine_took) {
  counting_bench b;
  auto c = b.want();
  b.clock.move(1ms);
  b.engine.acquires[0].grant(1);
  b.pass(b.coordinator.next_due() - b.clock.now());
  b.clock.move(2ms);
  b.engine.keeps[0].answer({fate::holding});
  auto up = b.convert(c->hold, bench::readers_of(*b.lock));
  b.clock.move(3ms);
  b.engine.converts[0].grant(2);
  bool stands = false;
  b.coordinator.confirm(c->hold, [&](tyer::failure, bool yes) { stands = yes; });
  b.clock.move(4ms);
  b.engine.keeps.back().answer({fate::holding});
  EXPECT_TRUE(stands);
  b.coordinator.ask_engine<seam::page>(runtime::queries::show("order"), [](auto&&) {});
  b.clock.move(5ms);
  b.engine.shows[0].answer({});
  b.coordinator.give_back(c->hold, {});
  b.clock.move(6ms);
  b.engine.releases[0].answer(fate::holding);
  const auto s = b.stats();
  auto expected = 1ms;
  for (const auto what : {engine_request::acquire, engine_request::keep, engine_request::convert,
                          engine_request::confirm, engine_request::query, engine_request::release}) {
    EXPECT_EQ(s.request_duration[what][request_end::answered].count(), 1u) << static_cast<int>(what);
    EXPECT_EQ(s.request_duration[what][request_end::answered].sum, expected++) << static_cast<int>(what);
    EXPECT_EQ(s.request_duration[what][request_end::failed].count(), 0u) << static_cast<int>(what);
  }
}

TEST(coordinator_counting, what_an_observer_asks) {
  counting_bench b;
  auto o = std::make_shared<runtime::observer>();
  o->name = "order";
  o->every = 60s;
  o->seen = [](const auto&) {};
  b.coordinator.observe(o);
  ASSERT_EQ(b.engine.shows.size(), 1u);
  b.clock.move(7ms);
  b.engine.shows[0].answer({});
  EXPECT_EQ(b.stats().request_duration[engine_request::look][request_end::answered].sum, 7ms);
}

TEST(coordinator_counting, requests_without_an_answer) {
  counting_bench b;
  auto c = b.want();
  b.clock.move(2s);
  b.engine.acquires[0].fail(why::unknown);
  b.pass(1s);
  b.engine.acquires[1].fail(why::not_sent);
  const auto s = b.stats();
  const auto& asked = s.request_duration[engine_request::acquire];
  EXPECT_EQ(asked[request_end::failed].count(), 2u);
  EXPECT_GE(asked[request_end::failed].sum, 2s);
  EXPECT_EQ(asked[request_end::answered].count(), 0u);
}

// A no is an answer.
TEST(coordinator_counting, a_request_that_was_refused) {
  counting_bench b;
  auto c = b.want();
  b.engine.acquires[0].fail(why::refused);
  EXPECT_EQ(b.stats().request_duration[engine_request::acquire][request_end::answered].count(), 1u);
}

// Its caller has left meanwhile.
TEST(coordinator_counting, an_answer_that_came_late) {
  counting_bench b;
  auto c = b.want();
  b.coordinator.cancel(c.acquisition, errc::cancelled);
  b.clock.move(8ms);
  b.engine.acquires[0].grant(1);
  EXPECT_EQ(b.stats().request_duration[engine_request::acquire][request_end::answered].sum, 8ms);
  EXPECT_EQ(b.counted().holds, 0u);
  EXPECT_EQ(b.ended(acquire_end::granted), 0u);
}

TEST(coordinator_counting, reconnects) {
  counting_bench b;
  const auto away_and_back = [&](std::string server) {
    b.coordinator.down({});
    b.coordinator.down({});  // and again, as often as it was tried in vain
    b.coordinator.up({.id = std::move(server), .version = {}});
  };
  away_and_back("a");
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 0u) << "the first connection is none";
  away_and_back("a");
  away_and_back("b");
  away_and_back("a");
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 1u);
  EXPECT_EQ(b.stats().reconnects[reconnection::other_server], 2u);
}

TEST(coordinator_counting, servers_of_one_engine_that_come_one_after_the_other_are_no_reconnects) {
  counting_bench b;
  for (const char* shard : {"a", "b", "c"}) b.coordinator.up({.id = shard, .version = {}});
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 0u);
  EXPECT_EQ(b.stats().reconnects[reconnection::other_server], 0u);
}

// It was: the count compared with the last server that had connected, and the event with the one in its place.
TEST(coordinator_counting, a_cluster_whose_other_master_was_back_had_another_server) {
  counting_bench b;
  b.coordinator.up({.id = "a,b,c", .version = {}});
  b.coordinator.down({});
  b.coordinator.up({.id = "a,-,c", .version = {}});
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 1u);
  b.coordinator.down({});
  b.coordinator.up({.id = "a,d,c", .version = {}});
  EXPECT_EQ(b.stats().reconnects[reconnection::same_server], 1u);
  EXPECT_EQ(b.stats().reconnects[reconnection::other_server], 1u);
}

// ---- not counting

TEST(coordinator_counting, without_it_all_is_zero) {
  counting_bench b;
  b.coordinator.board()->count(false);
  auto c = b.held();
  b.pass(3s);
  b.answer_keeps();
  b.coordinator.up({});
  b.coordinator.up({});
  b.give_back(c);
  b.try_once();
  const auto s = b.stats();
  for (const auto& one : samples(s)) {
    EXPECT_EQ(one.value, 0) << one.of->name;
    if (one.durations != nullptr) {
      EXPECT_EQ(one.durations->count(), 0u) << one.of->name;
    }
  }
}

}  // namespace
}  // namespace tyer::testing
