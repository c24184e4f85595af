// Every call is answered within the request time-out, also by a server that says nothing: as a failure, never as a verdict.
#include "contract/duties/calls.hpp"
#include "contract/duties/silence.hpp"

namespace tyer::contract {

struct timeout_duty : engine_contract {
  static constexpr milliseconds timeout = 1s;
  static constexpr milliseconds late = 1s;  // how late a reply may be, besides: the machine has other things to do

  // Until it locks again, as a runtime would that tries again.
  static void await_server(client& c) {
    const auto end = c.now() + patience;
    while (true) {
      const auto o = c.acquire(c.wants("another"));
      if (granted_in(o) != nullptr || busy_in(o) != nullptr) return;
      ASSERT_LT(c.now(), end) << describe(o);
      c.pump_until(c.now() + 50ms);
    }
  }

  static void expect_failures_in_time(client& c, const std::vector<made_call>& all) {
    c.pump_until([&] { return all_answered(all); }, "all replies");
    for (const auto& call : all) {
      EXPECT_EQ(call.is->times, 1) << call.kind->name;
      EXPECT_LT(call.is->when - call.made, timeout + late) << call.kind->name;
      if (call.kind->asks == call_kind::needs::about_servers) continue;
      ASSERT_TRUE(call.is->failure) << call.kind->name << " was answered by nobody";
      if (call.kind->asks == call_kind::needs::nobody) continue;
      const auto kind = call.is->failure->kind;
      EXPECT_TRUE(kind == why::unknown || kind == why::not_sent || kind == why::unsupported)
          << call.kind->name << ": " << describe(*call.is->failure);
    }
  }
};

TEST_F(timeout_duty, a_silent_server_makes_every_kind_of_call_fail_in_time) {
  client quick{prefix, timeout};
  const auto s = set_up(quick, b);
  silence nobody_speaks;
  const auto found_out = make_every_call(quick, s);
  expect_failures_in_time(quick, found_out);
  const auto known = make_every_call(quick, s);  // by now the engine may know that nobody is there
  expect_failures_in_time(quick, known);
  nobody_speaks.end();
  await_server(quick);
  for (const auto* round : {&found_out, &known}) {
    for (const auto& call : *round)
      EXPECT_EQ(call.is->times, 1) << call.kind->name << " was answered by the server too";
  }
}

// Calls of one name are executed one after the other. That must not add up their time-outs.
TEST_F(timeout_duty, many_calls_of_one_name_at_once_all_fail_in_time) {
  client quick{prefix, timeout};
  silence nobody_speaks;
  std::vector<made_call> all;
  for (int i = 0; i < 50; ++i) {
    auto& one = all.emplace_back(every_kind_of_call().data(), quick.now(), std::make_shared<told>(), false);
    one.kind->make(quick, {}, one.is);
  }
  expect_failures_in_time(quick, all);
}

TEST_F(timeout_duty, an_engine_whose_server_was_silent_goes_on_when_it_speaks) {
  client quick{prefix, timeout};
  const auto s = set_up(quick, b);
  silence nobody_speaks;
  expect_failures_in_time(quick, make_every_call(quick, s));
  nobody_speaks.end();
  await_server(quick);
}

}  // namespace tyer::contract
