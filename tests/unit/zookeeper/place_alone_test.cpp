// Of a hold and the place beside it one is left.
#include "unit/zookeeper/counted.hpp"

namespace tyer::zookeeper::test {

namespace {

struct place_alone : counted {
  id holder = ids.next(), next = ids.next(), last = ids.next();

  void SetUp() override {
    counted::SetUp();
    hand_over_in_line(holder, next, last);
  }
  // Before it is watched: an operator, or whoever else may.
  void lose_the_hold() { zoo.remove(hold_of(first_in_line())); }

  std::optional<outcome<engine::kept>> keep(client& one, const id& who, milliseconds ttl = 4s) {
    const engine::target t{who, "name"};
    return call<engine::kept>([&](auto reply) { one.value->keep({&t, 1}, fate::holding, ttl, std::move(reply)); });
  }
  static fate fate_in(const std::optional<outcome<engine::kept>>& o) {
    const auto* k = o ? std::get_if<engine::kept>(&o->result) : nullptr;
    return k != nullptr ? k->fates.front() : fate::unknown;
  }
  void last_has_it() {
    ASSERT_TRUE(until([&] { return c.is_woken(last); }));
    lock(c, last);
  }
};

TEST_F(place_alone, was_confirmed_as_the_hold_that_had_gone) {
  lose_the_hold();
  const engine::target t{next, "name"};
  const auto got = call<engine::kept>([&](auto reply) { b.value->confirm(t, 4s, std::move(reply)); });
  EXPECT_EQ(fate_in(got), fate::gone);
  EXPECT_EQ(b.lost, std::vector{next});
  last_has_it();
}

TEST_F(place_alone, was_kept_as_the_hold_that_had_gone) {
  lose_the_hold();
  EXPECT_EQ(fate_in(keep(b, next)), fate::gone);
  EXPECT_EQ(b.lost, std::vector{next});
  last_has_it();
}

// And written into, as only an end is.
TEST_F(place_alone, was_kept_for_longer_as_the_hold_that_had_gone) {
  lose_the_hold();
  EXPECT_EQ(fate_in(keep(b, next, 4100ms)), fate::gone);
  EXPECT_EQ(b.lost, std::vector{next});
  last_has_it();
}

TEST_F(place_alone, was_granted_again_as_the_hold_that_had_gone) {
  lose_the_hold();
  const auto got = acquire(b, next);
  EXPECT_EQ(b.lost, std::vector{next}) << "what was told of it counts no more";
  if (granted(got)) {
    EXPECT_TRUE(is_there(hold_of(first_in_line())));
  }
}

TEST_F(place_alone, was_converted_as_the_hold_that_had_gone) {
  lose_the_hold();
  EXPECT_FALSE(granted(convert(b, next, mode::shared)));
  EXPECT_EQ(b.lost, std::vector{next});
  last_has_it();
}

TEST_F(place_alone, was_converted_to_what_the_hold_was_that_had_gone) {
  lose_the_hold();
  EXPECT_FALSE(granted(convert(b, next, mode::exclusive)));
  EXPECT_EQ(b.lost, std::vector{next});
  last_has_it();
}

// Whether it was carried out is asked by its id when its session is connected again.
TEST_F(place_alone, was_found_as_the_hold_whose_conversion_had_no_answer) {
  server.stops_at = wire::op::multi;
  std::optional<outcome<answer>> got;
  b.value->convert({next, "name"}, mode::shared, 5s, [&](outcome<answer>&& o) { got.emplace(std::move(o)); });
  steps(50);
  lose_the_hold();
  server.hang_up();
  server.stops_at.reset();
  const auto due = clock.t + 3s;  // before its own time is over
  ASSERT_TRUE(until([&] { return clock.t += 1ms, got && !b.lost.empty(); }));
  EXPECT_LT(clock.t, due);
  EXPECT_FALSE(granted(got));
  EXPECT_EQ(b.lost, std::vector{next});
  last_has_it();
}

// The servers have not noticed yet that its session is over.
TEST_F(place_alone, of_a_session_that_is_over_here_stood_in_the_way_after_the_release) {
  const auto place = first_in_line();
  const auto places = zoo.owner(place);
  ASSERT_NE(zoo.owner(hold_of(place)), places);
  server.greets = [&](std::int64_t session) -> std::int32_t { return session == places ? -1 : server.timeout_ms; };
  server.hang_up();
  for (int i = 0; i < 12; ++i) {  // what is proven lasts for 5.3 s at most
    for (int steps = 0; steps < 50; ++steps) clock.t += 10ms, step();
    const engine::target t{next, "name"};
    b.value->keep({&t, 1}, fate::holding, 4s, [](outcome<engine::kept>&&) {});
  }
  quiet();
  ASSERT_TRUE(b.lost.empty());
  ASSERT_TRUE(is_there(place));
  release(b, next);
  EXPECT_FALSE(is_there(place));
}

// A claim's answer was lost, and its session ended here; the next claim found that node, and its call was over by then. Nobody knew of the
// place any more: it stood there as long as its client lived.
TEST_F(counted, a_place_whose_claim_was_found_carried_out_too_late_was_of_nobody) {
  request_timeout = 1s;
  all.resize(4);
  client& one = all.back();
  start(one);
  ASSERT_TRUE(until([&] { return one.is_up; }));
  const auto holder = ids.next(), next = ids.next();
  auto r = request(next);
  r.waiter_ttl = 3900ms;
  const auto pass = [&](milliseconds some) {
    for (const auto end = clock.t + some; clock.t < end; clock.t += 10ms) step();
  };
  acquire(one, ids.next(), mode::exclusive, "another");  // in the session of the hold to come
  lock(a, holder);
  EXPECT_TRUE(queued(acquire(one, r)));
  pass(2500ms);
  release(a, holder);
  ASSERT_TRUE(until([&] { return one.is_woken(next); }));
  const auto place = first_in_line();
  server.swallows = wire::op::multi;
  EXPECT_FALSE(granted(acquire(one, r)));
  const auto holds = zoo.owner(hold_of(place));
  server.greets = [&](std::int64_t session) { return session == holds ? -1 : server.timeout_ms; };
  server.hang_up();
  const auto keep = [&] {
    const engine::target t{next, "name"};
    return call<engine::kept>([&](auto reply) { one.value->keep({&t, 1}, fate::waiting, 4s, std::move(reply)); });
  };
  pass(2500ms);
  while (std::holds_alternative<engine::failure>(keep()->result)) pass(10ms);  // until that session is over
  ASSERT_TRUE(is_there(place) && is_there(hold_of(place)));
  server.stops_at = wire::op::multi;
  std::optional<outcome<answer>> got;
  one.value->acquire(r, [&](outcome<answer>&& o) { got.emplace(std::move(o)); });
  pass(1100ms);
  ASSERT_TRUE(got);
  server.stops_at.reset();
  pass(100ms);
  zoo.end(holds);
  pass(2s);
  EXPECT_TRUE(zoo.children(line).empty());
}

// A name that others want is asked for without a look. So whoever asked again, while its place was being taken away, had a second one; and
// if no answer told of that, the first was found, and everybody waited for the second as long as the client lived.
TEST_F(counted, a_second_place_was_made_beside_the_one_that_is_taken_away) {
  const auto holder = ids.next(), next = ids.next();
  lock(a, holder);
  wait(b, next);
  quiet();
  server.stops_at = wire::op::remove;
  clock.t += 1100ms;  // a place lasts for a second
  steps(50);
  const auto connections = server.connections();
  server.hang_up();
  server.stops_at.reset();
  ASSERT_TRUE(until([&] { return clock.t += 1ms, server.connections() == connections; }));
  steps(50);
  server.swallows = wire::op::create_stat;
  std::optional<outcome<answer>> got;
  for (int tries = 0; tries < 60 && !queued(got); ++tries) {
    got = acquire(b, next);
    clock.t += 1ms;
    step();
  }
  EXPECT_TRUE(queued(got)) << failure_in(got);
  server.swallows.reset();
  quiet();
  release(b, next);
  EXPECT_EQ(zoo.children(line).size(), 1U) << "the holder";
}

// Its session is over for its client, and not yet for the servers. Whoever let go let go of that one alone.
TEST_F(counted, a_place_that_an_earlier_request_has_left_was_released_instead_of_the_own_one) {
  const auto holder = ids.next(), next = ids.next();
  lock(a, holder);
  wait(b, next);
  const auto own = zoo.children(line);
  const auto place = std::ranges::find_if(own, [](const std::string& node) { return node.starts_with('w'); });
  ASSERT_NE(place, own.end());
  zoo.make(line + '/' + place->substr(0, place->rfind('-')) + "-0000000000");
  EXPECT_TRUE(release(b, next));
  EXPECT_EQ(zoo.children(line).size(), 1U) << "the holder";
}

// And whoever asked again, and stood behind others, was told that it has its turn, since that one had.
TEST_F(counted, a_place_that_an_earlier_request_has_left_had_its_turn_for_the_own_one) {
  const auto holder = ids.next(), other = ids.next(), next = ids.next();
  lock(a, holder);
  wait(b, other);
  wait(c, next);
  zoo.make(line + "/w-" + core::to_hex(next) + "-0000000000");
  release(a, holder);
  quiet();
  EXPECT_FALSE(granted(acquire(c, next)));
  ASSERT_TRUE(until([&] { return b.is_woken(other); }));
  lock(b, other);
}

}  // namespace

}  // namespace tyer::zookeeper::test
