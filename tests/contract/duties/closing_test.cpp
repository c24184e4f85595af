// close(): every reply that is still due comes, once, before its own; it ends in time though the server is silent; and whoever
// asks afterwards is answered too.
#include "contract/duties/calls.hpp"
#include "contract/duties/silence.hpp"

#include <algorithm>

namespace tyer::contract {

struct closing_duty : engine_contract {
  static constexpr milliseconds timeout = 2s;
  static constexpr milliseconds late = 1s;  // how late a reply may be, besides: the machine has other things to do

  struct end {
    int times = 0;
    time_point when;
    bool all_were_answered = false;
  };
  // Closes it. The reply remembers whether those calls were answered before.
  static std::shared_ptr<end> close(client& c, const std::vector<made_call>& due) {
    auto e = std::make_shared<end>();
    c.raw().close([e, due](outcome<engine::done>&&) {
      ++e->times;
      e->when = core::boot_clock{}.now();
      e->all_were_answered = all_answered(due);
    });
    EXPECT_EQ(e->times, 0) << "close() was answered inline";
    return e;
  }
  static void await(client& c, const end& e) {
    c.pump_until([&] { return e.times > 0; }, "the reply of close()");
  }
};

TEST_F(closing_duty, every_reply_that_is_due_comes_once_before_that_of_close) {
  const auto dying = another();
  const auto all = make_every_call(*dying, set_up(*dying, b));
  const auto closed = close(*dying, all);
  await(*dying, *closed);
  EXPECT_TRUE(closed->all_were_answered);
  dying->raw().run(dying->now() + 50ms);
  EXPECT_EQ(closed->times, 1);
  for (const auto& call : all) EXPECT_EQ(call.is->times, 1) << call.kind->name;
}

TEST_F(closing_duty, many_calls_that_are_outstanding_are_answered_first) {
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

// An engine may give up earlier than at the time-out of the last call, but not later.
TEST_F(closing_duty, a_silent_server_neither_keeps_it_from_ending_nor_any_call_from_its_reply) {
  client dying{prefix, timeout};
  const auto s = set_up(dying, b);
  silence nobody_speaks;
  const auto all = make_every_call(dying, s);
  const auto before = dying.now();
  const auto closed = close(dying, all);
  await(dying, *closed);
  EXPECT_LT(closed->when - before, timeout + late);
  EXPECT_TRUE(closed->all_were_answered);
  for (const auto& call : all) {
    EXPECT_EQ(call.is->times, 1) << call.kind->name;
    if (call.kind->asks == call_kind::needs::about_servers) continue;
    EXPECT_TRUE(call.is->failure) << call.kind->name << " was answered by nobody";
  }
  nobody_speaks.end();
  b.round_trip();
  dying.raw().run(dying.now() + 50ms);
  for (const auto& call : all) EXPECT_EQ(call.is->times, 1) << call.kind->name << " was answered by the server too";
}

TEST_F(closing_duty, an_engine_that_was_closed_answers_calls) {
  const auto dying = another();
  const auto s = set_up(*dying, b);
  await(*dying, *close(*dying, {}));
  const auto all = make_every_call(*dying, s);
  for (const auto& call : all) EXPECT_FALSE(call.inline_reply) << call.kind->name;
  dying->pump_until([&] { return all_answered(all); }, "all replies");
  dying->raw().run(dying->now() + 50ms);
  for (const auto& call : all) {
    EXPECT_EQ(call.is->times, 1) << call.kind->name;
    EXPECT_TRUE(call.is->failure) << call.kind->name;
  }
  EXPECT_EQ(b.keep(s.held, fate::holding, 20s), fate::holding) << "the release came too late to be one";
}

TEST_F(closing_duty, a_call_between_close_and_its_reply_is_answered_before_it) {
  const auto dying = another();
  const auto s = set_up(*dying, b);
  auto closed = std::make_shared<bool>(false);
  dying->raw().close([closed](outcome<engine::done>&&) { *closed = true; });
  const auto all = make_every_call(*dying, s);
  for (const auto& call : all) EXPECT_FALSE(call.inline_reply) << call.kind->name;
  dying->pump_until([&] { return *closed && all_answered(all); }, "all replies");
  dying->raw().run(dying->now() + 50ms);
  for (const auto& call : all) EXPECT_EQ(call.is->times, 1) << call.kind->name;
}

TEST_F(closing_duty, afterwards_there_are_no_events) {
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

}  // namespace tyer::contract
