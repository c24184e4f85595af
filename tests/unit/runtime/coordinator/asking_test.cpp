// Those who wait for what the engine says of a name: an engine that is not there yet, and a client that is closed before it
// says anything.
#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

namespace tyer::testing {
namespace {

namespace queries = runtime::queries;

// What one who asked was told.
template <class T>
struct said {
  int times = 0;
  std::error_code why;
  bool dropped = false;

  seam::reply<T> to() {
    struct note {
      explicit note(said* s) noexcept : s(s) {}
      note(note&& n) noexcept : s(std::exchange(n.s, nullptr)) {}
      ~note() {
        if (s != nullptr) s->dropped = s->times == 0;
      }
      said* s;
    };
    return [n = note{this}](seam::outcome<T>&& o) {
      ++n.s->times;
      if (const auto* f = std::get_if<seam::failure>(&o.result)) n.s->why = f->code;
    };
  }
};

struct asked_of_a_silent_engine : ::testing::Test {
  said<std::uint32_t> ask;
  said<seam::page> show, list;
  said<fate> evict;
  said<std::vector<seam::finding>> diagnose;
  bench b;

  void ask_all() {
    b.coordinator.ask_engine(queries::ask("order", "please"), ask.to());
    b.coordinator.ask_engine(queries::show("order"), show.to());
    b.coordinator.ask_engine(queries::list("", "", 10), list.to());
    b.coordinator.ask_engine(queries::evict({.who = b.ids.next(), .name = "order"}, "because"), evict.to());
    b.coordinator.ask_engine(queries::diagnose(), diagnose.to());
  }
};

// Went wrong: the engine alone could answer them, and it was closed too.
TEST_F(asked_of_a_silent_engine, never_came_back_when_the_client_was_closed) {
  ask_all();
  EXPECT_EQ(ask.times + show.times + list.times + evict.times + diagnose.times, 0);
  b.coordinator.close();
  EXPECT_EQ(ask.why, errc::closed);
  EXPECT_EQ(show.why, errc::closed);
  EXPECT_EQ(list.why, errc::closed);
  EXPECT_EQ(evict.why, errc::closed);
  EXPECT_EQ(diagnose.why, errc::closed);
  b.engine.shows[0].answer({});
  b.engine.asks[0].fail(why::unknown);
  EXPECT_EQ(show.times, 1) << "the engine's answer is too late";
  EXPECT_EQ(ask.times, 1);
}

TEST_F(asked_of_a_silent_engine, has_one_answer_when_the_engine_is_first) {
  ask_all();
  b.engine.shows[0].answer({});
  b.engine.evictions[0].answer(fate::holding);
  b.coordinator.close();
  EXPECT_EQ(show.times, 1);
  EXPECT_FALSE(show.why);
  EXPECT_EQ(evict.times, 1);
  EXPECT_EQ(list.times, 1);
}

TEST_F(asked_of_a_silent_engine, knows_when_the_engine_drops_it) {
  ask_all();
  b.engine.shows.clear();
  EXPECT_EQ(show.times, 0);
  EXPECT_TRUE(show.dropped);
  b.coordinator.close();
  EXPECT_EQ(show.times, 0);
  EXPECT_EQ(list.times, 1);
}

TEST_F(asked_of_a_silent_engine, may_ask_again_when_it_is_told) {
  said<seam::page> again;
  b.coordinator.ask_engine(queries::show("order"), [&](seam::outcome<seam::page>&&) {
    b.coordinator.ask_engine(queries::show("order"), again.to());
  });
  b.coordinator.close();
  EXPECT_EQ(again.why, errc::closed);
}

// Went wrong: all of them failed at once, after no time at all, on a client that was connected a moment later.
TEST_F(asked_of_a_silent_engine, was_told_that_a_fresh_client_is_not_connected) {
  ask_all();
  const auto not_there = [](auto& calls) { calls.back().fail(why::not_sent, "not connected yet"); };
  not_there(b.engine.asks);
  not_there(b.engine.shows);
  not_there(b.engine.lists);
  not_there(b.engine.evictions);
  not_there(b.engine.diagnoses);
  EXPECT_EQ(ask.times + show.times + list.times + evict.times + diagnose.times, 0);
  b.coordinator.up({});
  ASSERT_EQ(b.engine.asks.size(), 2u);
  ASSERT_EQ(b.engine.diagnoses.size(), 2u);
  b.engine.asks[1].answer(1);
  b.engine.shows[1].answer({});
  b.engine.lists[1].answer({});
  b.engine.evictions[1].answer(fate::holding);
  b.engine.diagnoses[1].answer({});
  for (const int n : {ask.times, show.times, list.times, evict.times, diagnose.times}) EXPECT_EQ(n, 1);
  EXPECT_FALSE(ask.why || show.why || list.why || evict.why || diagnose.why);
  EXPECT_EQ(b.coordinator.times(), 0u);
}

TEST_F(asked_of_a_silent_engine, is_told_when_it_is_not_there_for_as_long_as_a_request_may_take) {
  b.coordinator.ask_engine(queries::show("order"), show.to());
  for (const auto end = b.clock.now() + b.bounds.request_timeout; b.clock.now() < end;) {
    EXPECT_EQ(show.times, 0);
    if (!b.engine.shows.back().answered()) b.engine.shows.back().fail(why::not_sent);
    b.pass(10ms);
  }
  EXPECT_EQ(show.times, 1);
  EXPECT_LT(b.engine.shows.size(), 12u) << "less and less often";
  EXPECT_EQ(b.coordinator.times(), 0u);
}

TEST_F(asked_of_a_silent_engine, is_not_asked_again_what_it_may_have_done) {
  ask_all();
  b.engine.evictions[0].fail(why::unknown);
  EXPECT_EQ(evict.times, 1);
  b.coordinator.up({});
  EXPECT_EQ(b.engine.evictions.size(), 1u);
}

TEST_F(asked_of_a_silent_engine, is_told_that_the_client_was_closed_before_it_was_there) {
  b.coordinator.ask_engine(queries::show("order"), show.to());
  b.engine.shows[0].fail(why::not_sent);
  b.coordinator.close();
  EXPECT_EQ(show.times, 1);
  EXPECT_EQ(show.why, errc::closed);
  EXPECT_EQ(b.coordinator.times(), 0u);
}

}  // namespace
}  // namespace tyer::testing
