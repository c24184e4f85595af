// Who is next, and what a hand-over costs in requests.
#include "unit/zookeeper/counted.hpp"

namespace tyer::zookeeper::test {

namespace {

// It was twelve for each change of owner: a second look for the own place, a question for the first holder's ttl, a watch of itself, and a
// look when the one in its way had gone. Then it was six: a claim moved the place, and whoever was behind watched it anew.
TEST_F(counted, a_lock_that_is_handed_on_costs_five_requests) {
  std::vector<id> who;
  for (int i = 0; i < 6; ++i) who.push_back(ids.next());
  lock(a, who[0]);
  const requests with_a_look{{"children", 2}, {"create", 1}, {"data", 1}},
      place{{"children", 1}, {"create", 1}, {"data", 1}};
  expect(with_a_look, [&] { wait(b, who[1]); });  // who has waited here before needs no look
  expect(with_a_look, [&] { wait(c, who[2]); });
  // The first was granted at once, so its name does not tell that it held; but it was seen before all others.
  expect({{"delete", 1}, {"multi", 1}}, [&] { hand_over(a, who[0], b, who[1]); });
  expect(with_a_look, [&] { wait(a, who[3]); });
  const requests hand_on{{"multi", 2}};
  expect(hand_on, [&] { hand_over(b, who[1], c, who[2]); });
  expect(place, [&] { wait(b, who[4]); });
  expect(hand_on, [&] { hand_over(c, who[2], a, who[3]); });
  expect(place, [&] { wait(c, who[5]); });
}

TEST_F(counted, a_line_of_any_length_is_handed_on_by_five_requests_each) {
  for (const std::size_t length : {2U, 3U, 60U}) {
    std::deque<std::pair<client*, id>> all_of_it;
    const auto one_more = [&](client& c) {
      all_of_it.emplace_back(&c, ids.next());
      acquire(c, all_of_it.back().second);
    };
    const auto turn = [&] {
      const auto [from, before] = all_of_it.front();
      all_of_it.pop_front();
      hand_over(*from, before, *all_of_it.front().first, all_of_it.front().second);
      one_more(*from);
    };
    for (std::size_t i = 0; i < length; ++i) one_more(all[i % all.size()]);
    for (std::size_t i = 0; i <= length; ++i) turn();
    quiet();
    zoo.asked.clear();
    constexpr int turns = 12;
    for (int i = 0; i < turns; ++i) turn();
    quiet();
    const requests expected{{"create", turns}, {"children", turns}, {"data", turns}, {"multi", 2 * turns}};
    EXPECT_EQ(zoo.asked, expected) << length;
    for (; !all_of_it.empty(); all_of_it.pop_back()) release(*all_of_it.back().first, all_of_it.back().second);
    EXPECT_TRUE(zoo.children(line).empty());
  }
}

// Whoever is called because the holder has gone claims without a look: that must fail where the holder is there under another name.
TEST_F(counted, a_holder_that_becomes_a_reader_does_not_hand_on) {
  const auto holder = ids.next(), writer = ids.next(), reader = ids.next();
  acquire(a, holder);
  acquire(b, writer);
  const auto converted =
      call<answer>([&](auto reply) { a.value->convert({holder, "name"}, mode::shared, 5s, std::move(reply)); });
  EXPECT_TRUE(granted(converted));
  quiet();
  EXPECT_TRUE(queued(acquire(b, writer)));
  EXPECT_TRUE(queued(acquire(c, reader, mode::shared))) << "behind the writer";
  b.woken.clear();
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(writer); }));
  EXPECT_TRUE(granted(acquire(b, writer)));
}

// It had its turn between the look and the watch: that its place was gone was taken for its end, and the lock was granted twice.
TEST_F(counted, whoever_claims_before_it_is_watched_does_not_hand_on) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  lock(a, holder);
  wait(b, next);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(next); }));
  const auto place = first_in_line();
  before_the_reading_of(place, [&] { zoo.hold(place, hold_of(place)); });
  wait(c, last);
  quiet();
  EXPECT_FALSE(c.is_woken(last));
  wait(c, last);
}

// And the session of its place has ended: whoever is behind may think that it is next, and its claim finds that it is not.
TEST_F(counted, whoever_claims_and_loses_its_place_before_it_is_watched_does_not_hand_on) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  lock(a, holder);
  wait(b, next);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(next); }));
  const auto place = first_in_line();
  before_the_reading_of(place, [&] { zoo.move(place, hold_of(place)); });
  wait(c, last);
  quiet();
  wait(c, last);
  EXPECT_TRUE(is_there(hold_of(place)));
}

// It stands before its place: of a write that was said to have failed, and was carried out. Nobody else was to wait behind it, and who
// stood between the two had the lock beside it.
TEST_F(counted, whoever_found_another_node_of_its_own_in_the_line_claimed_by_the_turn_of_that) {
  const auto holder = ids.next(), middle = ids.next(), last = ids.next();
  lock(a, holder);
  wait(c, middle);
  wait(b, last);
  const auto another = line + "/x-" + core::to_hex(last) + "-0000000000";
  zoo.make(another);
  release(a, holder);
  ASSERT_TRUE(until([&] { return c.is_woken(middle); }));
  wait(b, last);
  EXPECT_FALSE(is_there(another));
  EXPECT_TRUE(granted(acquire(c, middle)));
  release(c, middle);
  ASSERT_TRUE(until([&] { return b.is_woken(last); }));
  EXPECT_TRUE(granted(acquire(b, last)));
}

// It gave back the first that it found, forgot the other, and whoever was behind waited for that as long as its client lived.
TEST_F(counted, whoever_had_another_node_of_its_own_in_the_line_gave_back_one_of_the_two) {
  const auto holder = ids.next(), last = ids.next();
  lock(a, holder);
  wait(b, last);
  zoo.make(line + "/x-" + core::to_hex(last) + "-0000000000");
  release(b, last);
  quiet();
  EXPECT_EQ(zoo.children(line).size(), 1u);
  EXPECT_TRUE(b.lost.empty());
  release(a, holder);
  lock(c, ids.next());
}

// There was a look in between.
TEST_F(counted, whoever_was_the_first_and_has_gone_before_it_is_watched_hands_on_at_once) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  lock(a, holder);
  wait(b, next);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(next); }));
  const auto place = first_in_line();
  before_the_reading_of(place, [&] { zoo.remove(place); });
  wait(c, last);
  ASSERT_TRUE(until([&] { return c.is_woken(last); }));
  expect({{"multi", 1}}, [&] { lock(c, last); });
}

// It is changed by nothing but its end together with its hold: unless somebody writes into it by hand.
TEST_F(counted, a_place_that_an_operator_has_written_into_does_not_hand_on) {
  const auto holder = ids.next(), middle = ids.next(), last = ids.next();
  lock(a, holder);
  const auto first = first_in_line();
  wait(b, middle);
  wait(c, last);
  for (const auto& node : zoo.children(line)) zoo.change(line + '/' + node);
  quiet();
  wait(c, last);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(middle); }));
  ASSERT_FALSE(is_there(first));
  zoo.change(first_in_line());
  quiet();
  wait(c, last);
  lock(b, middle);
  release(b, middle);
  ASSERT_TRUE(until([&] { return c.is_woken(last); }));
  lock(c, last);
}

TEST_F(counted, a_holder_whose_place_has_gone_hands_on_when_it_lets_go) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  hand_over_in_line(holder, next, last);
  zoo.remove(first_in_line());
  quiet();
  wait(c, last);
  c.woken.clear();
  EXPECT_TRUE(b.lost.empty());
  expect({{"multi", 2}, {"delete", 1}}, [&] { hand_over(b, next, c, last); });
}

// Its place would stand there for as long as the session of the client's places.
TEST_F(counted, a_hold_that_was_taken_away_leaves_no_place_in_the_way) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  hand_over_in_line(holder, next, last);
  clock.t += 100ms;  // it is watched now
  quiet();
  zoo.remove(hold_of(first_in_line()));
  ASSERT_TRUE(until([&] { return c.is_woken(last); }));
  EXPECT_EQ(b.lost, std::vector{next});
  lock(c, last);
}

TEST_F(counted, a_session_that_is_over_takes_the_places_of_its_holds_along) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  hand_over_in_line(holder, next, last);
  const auto place = first_in_line();
  const auto holds = zoo.owner(hold_of(place));
  ASSERT_NE(holds, zoo.owner(place));
  server.greets = [&](std::int64_t session) { return session == holds ? 0 : server.timeout_ms; };
  zoo.end(holds);
  server.hang_up();
  const auto time_passes = [&] { clock.t += 1ms; };
  ASSERT_TRUE(until([&] { return time_passes(), !is_there(place); }));
  EXPECT_EQ(b.lost, std::vector{next});
}

TEST_F(counted, a_hold_that_another_client_evicts_goes_with_its_place) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  hand_over_in_line(holder, next, last);
  const auto was = call<fate>([&](auto reply) { a.value->evict({next, "name"}, "test", std::move(reply)); });
  ASSERT_TRUE(was && std::holds_alternative<fate>(was->result));
  EXPECT_EQ(std::get<fate>(was->result), fate::holding);
  ASSERT_TRUE(until([&] { return c.is_woken(last); }));
  expect({{"multi", 1}}, [&] { lock(c, last); });
}

// Its place alone went, and the hold stood.
TEST_F(counted, a_place_that_is_claimed_while_another_client_evicts_it_goes_with_its_hold) {
  const auto holder = ids.next(), next = ids.next();
  lock(a, holder);
  wait(b, next);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(next); }));
  server.says = [&, place = first_in_line(), done = false](wire::op what, const wire::reader&) mutable {
    const bool takes_away = what == wire::op::multi || what == wire::op::remove;
    if (takes_away && !std::exchange(done, true)) zoo.hold(place, hold_of(place));
    return std::optional<own_server::words>{};
  };
  const auto was = call<fate>([&](auto reply) { a.value->evict({next, "name"}, "test", std::move(reply)); });
  ASSERT_TRUE(was && std::holds_alternative<fate>(was->result));
  EXPECT_EQ(std::get<fate>(was->result), fate::holding);
  EXPECT_TRUE(zoo.children(line).empty());
}

TEST_F(counted, a_hold_that_is_converted_has_no_place_any_more) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  hand_over_in_line(holder, next, last);
  const auto place = first_in_line();
  EXPECT_TRUE(granted(convert(b, next, mode::shared)));
  EXPECT_FALSE(is_there(place));
  quiet();
  wait(c, last);
  c.woken.clear();
  release(b, next);
  ASSERT_TRUE(until([&] { return c.is_woken(last); }));
  lock(c, last);
}

TEST_F(counted, a_hold_whose_place_goes_while_it_is_converted_is_converted) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  hand_over_in_line(holder, next, last);
  before_the_reading_of(line, [&, place = first_in_line()] { zoo.remove(place); });
  const auto got = convert(b, next, mode::shared);
  EXPECT_TRUE(granted(got)) << failure_in(got);
}

// What is asked is written into the node of a hold. Whoever has its turn, and does not know it yet, has only a place.
TEST_F(counted, whoever_has_not_claimed_yet_is_not_asked) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  lock(a, holder);
  wait(b, next);
  wait(c, last);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(next); }));
  const auto asked = call<std::uint32_t>([&](auto reply) { a.value->ask("name", "please", std::move(reply)); });
  ASSERT_TRUE(asked && std::holds_alternative<std::uint32_t>(asked->result));
  EXPECT_EQ(std::get<std::uint32_t>(asked->result), 0U);
  quiet();
  EXPECT_FALSE(c.is_woken(last));
  lock(b, next);
}

// It stood behind all of them, and everybody waited for as long as it took to put them in line.
TEST_F(counted, a_release_waited_behind_a_thousand_places_of_its_client) {
  const auto holder = ids.next();
  lock(a, holder);
  auto places = std::make_shared<int>(0);
  for (int i = 0; i < 1000; ++i) a.value->acquire(request(ids.next()), [places](outcome<answer>&&) { ++*places; });
  EXPECT_TRUE(release(a, holder));
  EXPECT_LE(*places, 2);
}

TEST_F(counted, whoever_leaves_the_middle_of_the_line_does_not_hand_on) {
  const auto holder = ids.next(), middle = ids.next(), last = ids.next();
  acquire(a, holder);
  acquire(b, middle);
  acquire(c, last);
  release(b, middle);
  quiet();
  EXPECT_FALSE(c.is_woken(last));
  EXPECT_TRUE(queued(acquire(c, last)));
  release(a, holder);
  ASSERT_TRUE(until([&] { return c.is_woken(last); }));
  EXPECT_TRUE(granted(acquire(c, last)));
}

TEST_F(counted, a_place_that_was_taken_away_when_its_turn_came_is_not_granted) {
  const auto holder = ids.next(), next = ids.next(), last = ids.next();
  acquire(a, holder);
  acquire(b, next);
  acquire(c, last);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(next); }));
  zoo.remove(first_in_line());
  EXPECT_TRUE(queued(acquire(b, next))) << "anew, behind the last";
  ASSERT_TRUE(until([&] { return c.is_woken(last); }));
  EXPECT_TRUE(granted(acquire(c, last)));
}

TEST_F(counted, a_name_that_is_empty_again_is_locked_by_a_look_as_before) {
  const auto holder = ids.next(), next = ids.next();
  acquire(a, holder);
  acquire(b, next);
  release(b, next);
  release(a, holder);
  const auto alone = ids.next(), again = ids.next();
  lock(b, alone);
  release(b, alone);
  expect({{"children", 1}, {"create", 1}, {"exists", 1}}, [&] { lock(b, again); });
}

}  // namespace

}  // namespace tyer::zookeeper::test
