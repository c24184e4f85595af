// A reply comes exactly once for each call, and never before the call has returned.
#include "contract/duties/calls.hpp"

namespace tyer::contract {

struct reply_duty : engine_contract {
  static void expect_once_each(client& c, const std::vector<made_call>& all) {
    c.pump_until([&] { return all_answered(all); }, "all replies");
    c.round_trip();
    c.round_trip();  // a second reply would have come with these
    for (const auto& call : all) EXPECT_EQ(call.is->times, 1) << call.kind->name;
  }
};

// What needs no server, since nothing could make it right, is what an engine is tempted to answer at once.
TEST_F(reply_duty, every_kind_of_call_is_answered_once_and_not_inline) {
  const auto all = make_every_call(a, set_up(a, b));
  for (const auto& call : all) EXPECT_FALSE(call.inline_reply) << call.kind->name;
  expect_once_each(a, all);
}

TEST_F(reply_duty, a_call_made_by_a_reply_is_not_answered_inside_of_it) {
  const auto s = set_up(a, b);
  auto all = std::make_shared<std::vector<made_call>>();
  a.raw().keep({}, fate::holding, 20s, [&, all](outcome<engine::kept>&&) { *all = make_every_call(a, s); });
  a.pump_until([&] { return !all->empty(); }, "the first reply");
  for (const auto& call : *all) EXPECT_FALSE(call.inline_reply) << call.kind->name;
  expect_once_each(a, *all);
}

TEST_F(reply_duty, a_reply_may_make_the_next_call) {
  const auto w = a.wants("order");
  auto released = std::make_shared<bool>(false);
  a.raw().acquire(w.request(), [&, released](outcome<answer>&&) {
    a.raw().release(w.target(), true, [released](outcome<fate>&&) { *released = true; });
  });
  a.pump_until([&] { return *released; }, "the second reply");
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

TEST_F(reply_duty, many_calls_at_once_are_answered_once_each) {
  struct tally {
    int granted = 0, busy = 0;
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

// Whoever is told of an answer may be gone with the engine: nobody is told any more, and what the reply had is let go of.
TEST_F(reply_duty, an_engine_that_is_destroyed_answers_nobody) {
  auto dying = another();
  const auto all = make_every_call(*dying, set_up(*dying, b));
  dying.reset();
  a.round_trip();
  for (const auto& call : all) {
    EXPECT_EQ(call.is->times, 0) << call.kind->name;
    EXPECT_EQ(call.is.use_count(), 1) << call.kind->name;
  }
}

}  // namespace tyer::contract
