// What each operation costs in requests.
#include "unit/zookeeper/counted.hpp"

namespace tyer::zookeeper::test {

namespace {

TEST_F(counted, requests_of_a_lock_that_nobody_else_wants) {
  const auto first = ids.next(), second = ids.next();
  expect({{"children", 1}, {"container", 1}, {"create", 1}, {"exists", 1}}, [&] { lock(a, first); });
  expect({{"delete", 1}}, [&] { release(a, first); });
  expect({{"children", 1}, {"create", 1}, {"exists", 1}}, [&] { lock(a, second); });
  expect({{"delete", 1}}, [&] { release(a, second); });
}

// A client with ?protocol= makes the place of the sessions, and none for these names: so nobody asked for that any more, and no lock was
// ever granted. So it was if an operator had taken it away.
TEST_F(counted, whoever_comes_after_a_client_of_another_protocol_finds_no_place_for_names) {
  zoo.remove("/tyer/q");
  const auto all = call<engine::page>([&](auto reply) { a.value->list("", "", 10, std::move(reply)); });
  ASSERT_TRUE(all && std::holds_alternative<engine::page>(all->result));
  EXPECT_TRUE(std::get<engine::page>(all->result).entries.empty());
  const auto first = ids.next();
  lock(a, first);
  EXPECT_EQ(zoo.children(line).size(), 1U);
}

// --- several of one client

// The older place had its turn as well, but its token was smaller than the one the client had seen meanwhile: so it was refused for ever,
// with the words for servers that were restored from a copy.
TEST_F(counted, a_reader_whose_client_has_another_one_that_was_quicker_was_refused) {
  const auto holder = ids.next(), slow = ids.next(), quick = ids.next(), writer = ids.next();
  lock(a, holder);
  EXPECT_TRUE(queued(acquire(b, slow, mode::shared)));
  EXPECT_TRUE(queued(acquire(b, quick, mode::shared)));
  wait(c, writer);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(slow) && b.is_woken(quick); }));
  const auto seen = part_in(acquire(b, quick, mode::shared));
  EXPECT_GT(seen, 0U);
  auto r = request(slow, mode::shared);
  r.seen = seen;
  const auto got = acquire(b, r);
  EXPECT_GT(part_in(got), seen) << failure_in(got);
  EXPECT_GT(part_in(acquire(b, r)), seen) << "asked once more";
  release(b, slow);
  release(b, quick);
  ASSERT_TRUE(until([&] { return c.is_woken(writer); }));
  EXPECT_GT(part_in(acquire(c, writer)), part_in(got));
}

TEST_F(counted, so_was_one_in_the_line_of_another_library) {
  all.resize(5);
  client &one = all[3], &two = all[4];
  start(one, "?protocol=curator-rw");
  start(two, "?protocol=curator-rw");
  ASSERT_TRUE(until([&] { return one.is_up && two.is_up; }));
  const auto holder = ids.next(), slow = ids.next(), quick = ids.next();
  lock(one, holder);
  EXPECT_TRUE(queued(acquire(two, slow, mode::shared)));
  EXPECT_TRUE(queued(acquire(two, quick, mode::shared)));
  release(one, holder);
  ASSERT_TRUE(until([&] { return two.is_woken(slow) && two.is_woken(quick); }));
  const auto seen = part_in(acquire(two, quick, mode::shared));
  EXPECT_GT(seen, 0U);
  auto r = request(slow, mode::shared);
  r.seen = seen;
  const auto got = acquire(two, r);
  EXPECT_GT(part_in(got), seen) << failure_in(got);
}

// --- what servers refuse

// Any error of its transaction was taken for the end of the hold: it was told lost, and its node stayed there, of nobody, for as long as
// the session.
TEST_F(counted, a_conversion_that_the_servers_refused_left_a_hold_of_nobody) {
  const auto writer = ids.next();
  lock(a, writer);
  refuse_transactions(3);
  const auto down = convert(a, writer, mode::shared);
  EXPECT_NE(failure_in(down).find("quota"), std::string::npos) << failure_in(down);
  server.says = nullptr;
  EXPECT_TRUE(granted(convert(a, writer, mode::shared)));
  refuse_transactions(2);
  const auto up = convert(a, writer, mode::exclusive);
  EXPECT_NE(failure_in(up).find("quota"), std::string::npos) << failure_in(up);
  server.says = nullptr;
  EXPECT_TRUE(granted(convert(a, writer, mode::exclusive)));
  EXPECT_TRUE(a.lost.empty());
}

// It was tried twenty times, with a look for each, and then said that others had been quicker.
TEST_F(counted, a_claim_that_the_servers_refused_was_said_to_have_been_slow) {
  const auto holder = ids.next(), next = ids.next();
  lock(a, holder);
  wait(b, next);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(next); }));
  refuse_transactions(2);
  zoo.asked.clear();
  const auto got = acquire(b, next);
  EXPECT_NE(failure_in(got).find("quota"), std::string::npos) << failure_in(got);
  EXPECT_LE(zoo.asked["children"], 1);
  server.says = nullptr;
  lock(b, next);
}

// The holder's node tells when it may be over. Who could not read it asked every millisecond.
TEST_F(counted, whoever_waits_for_one_that_it_may_not_read_asked_every_millisecond) {
  const auto holder = ids.next(), next = ids.next();
  lock(a, holder);
  server.says = [first = first_in_line()](wire::op what, wire::reader r) -> std::optional<own_server::words> {
    if (what != wire::op::get_data || r.text() != first) return std::nullopt;
    return own_server::words{wire::no_auth, {}};
  };
  const auto got = acquire(b, next);
  ASSERT_TRUE(queued(got));
  EXPECT_EQ(std::get<engine::queued>(std::get<answer>(got->result)).look_again, 1s);
}

TEST_F(counted, names_were_not_listed_where_others_have_nodes_that_we_may_not_read) {
  all.resize(4);
  client& one = all.back();
  start(one, "?protocol=curator");
  ASSERT_TRUE(until([&] { return one.is_up; }));
  lock(one, ids.next());
  zoo.make("/tyer:secret");
  server.says = [](wire::op what, wire::reader r) -> std::optional<own_server::words> {
    if (what != wire::op::get_children || r.text() != "/tyer:secret") return std::nullopt;
    return own_server::words{wire::no_auth, {}};
  };
  const auto some = call<engine::page>([&](auto reply) { one.value->list("", "", 10, std::move(reply)); });
  ASSERT_TRUE(some && std::holds_alternative<engine::page>(some->result));
  EXPECT_EQ(std::get<engine::page>(some->result).entries.size(), 1U);
}

TEST_F(counted, whoever_observes_the_holder_asked_for_each_that_waits) {
  lock(a, ids.next());
  wait(b, ids.next());
  wait(c, ids.next());
  const auto look = [&](bool waiters) {
    const auto o = call<engine::page>([&](auto reply) { c.value->look("name", waiters, std::move(reply)); });
    return std::get<engine::page>(o->result).entries.size();
  };
  expect({{"sync", 1}, {"children", 1}, {"data", 1}}, [&] { EXPECT_EQ(look(false), 1U); });
  expect({{"sync", 1}, {"children", 1}, {"data", 3}}, [&] { EXPECT_EQ(look(true), 3U); });
}

// --- sessions

// Whoever renewed found no node, made it, found that there is no place for it, and so on, as quickly as it could, until the session was
// over and its holds were lost.
TEST_F(counted, an_operator_who_took_the_nodes_of_sessions_away_ended_them) {
  const std::string above = "/tyer/s";
  const auto sessions = zoo.children(above);
  for (const auto& each : sessions) zoo.remove(above + '/' + each);
  zoo.remove(above);
  zoo.asked.clear();
  clock.t += 2700ms;  // more than half of what a renewal proves
  const auto renewals = static_cast<int>(sessions.size());
  EXPECT_TRUE(until([&] { return zoo.children(above) == sessions || zoo.asked["set"] > renewals; }));
  EXPECT_EQ(zoo.asked["set"], renewals);
  clock.t += 400ms;
  EXPECT_TRUE(until([&] { return zoo.asked["set"] >= 2 * renewals; }));
  clock.t += 2300ms;  // more than the rest of it
  quiet();
  EXPECT_EQ(zoo.asked["close"], 0);
}

// It was told as a refusal for good, "error 0".
TEST_F(counted, a_node_that_was_made_by_a_session_that_is_over_was_refused_with_no_error) {
  server.timeout_ms = 2000;
  auto r = request(ids.next());
  r.ttl = r.waiter_ttl = 400ms;
  EXPECT_TRUE(granted(acquire(a, r)));
  r.what.who = ids.next();
  r.what.name = "another";
  server.stops_at = wire::op::create_stat;
  std::optional<outcome<answer>> got;
  a.value->acquire(r, [&](outcome<answer>&& o) { got.emplace(std::move(o)); });
  steps();
  clock.t += 1100ms;  // the session has proven 1067
  steps();
  ASSERT_FALSE(got);
  server.stops_at.reset();
  ASSERT_TRUE(until([&] { return got.has_value(); }));
  ASSERT_TRUE(std::holds_alternative<engine::failure>(got->result));
  EXPECT_EQ(std::get<engine::failure>(got->result).kind, engine::why::unknown) << failure_in(got);
}

// The transaction that moves a place to a longer session was carried out, and its answer lost. When the place's own session ended before
// the other one was connected again, the place was forgotten: the node was a hold of nobody for as long as the client lived.
TEST_F(counted, a_claim_without_an_answer_was_forgotten_with_the_session_of_its_place) {
  const auto holder = ids.next(), next = ids.next();
  lock(a, holder);
  wait(b, next);
  release(a, holder);
  ASSERT_TRUE(until([&] { return b.is_woken(next); }));
  const auto places = zoo.owner(first_in_line());
  server.swallows = wire::op::multi;
  EXPECT_FALSE(granted(acquire(b, next)));
  const auto holds = zoo.owner(hold_of(first_in_line()));
  ASSERT_NE(holds, places);
  std::size_t forgotten = 0;
  server.greets = [&](std::int64_t session) -> std::int32_t {
    if (session == places) ++forgotten;
    return session == places ? 0 : session == holds ? -1 : server.timeout_ms;
  };
  zoo.end(places);
  server.hang_up();
  const auto time_passes = [&] { clock.t += 1ms; };
  ASSERT_TRUE(until([&] { return time_passes(), forgotten > 0; }));
  steps();
  server.greets = nullptr;
  // The other one comes back, and nobody asks for the place any more. A session that has nothing is closed after ten seconds.
  const auto end = clock.t + 9s;
  EXPECT_TRUE(until([&] { return time_passes(), zoo.children(line).empty(); }));
  EXPECT_LT(clock.t, end);
}

// --- keeping

// There was a look, and a sync before it.
TEST_F(counted, what_nobody_kept_is_taken_away_by_one_request) {
  const auto holder = ids.next(), next = ids.next();
  acquire(a, holder);
  acquire(b, next);
  quiet();
  zoo.asked.clear();
  clock.t += 1100ms;  // a place lasts for a second
  until([&] { return zoo.children(line).size() == 1; });
  EXPECT_EQ(zoo.asked["delete"], 1);
  EXPECT_EQ(zoo.asked["children"] + zoo.asked["sync"], 0);
}

// It proves what the renewal does, whose answer was late; and is never dated so early that the caller thinks it is of another keep.
TEST_F(counted, a_keep_that_joins_a_renewal_is_dated_by_it_and_a_sixth_of_its_ttl_before_the_call_at_most) {
  const auto who = ids.next();
  lock(a, who);
  quiet();
  server.stops_at = wire::op::set_data;
  clock.t += 2700ms;  // more than half of what a renewal proves
  steps();
  const auto left = clock.t;
  clock.t += 1200ms;
  const auto asked = clock.t;
  const engine::target t{who, "name"};
  std::optional<outcome<engine::kept>> got;
  a.value->keep({&t, 1}, fate::holding, 3s, [&](outcome<engine::kept>&& o) { got.emplace(std::move(o)); });
  steps();
  ASSERT_FALSE(got);
  server.stops_at.reset();
  ASSERT_TRUE(until([&] { return got.has_value(); }));
  const auto& k = std::get<engine::kept>(got->result);
  EXPECT_EQ(k.fates.front(), fate::holding);
  EXPECT_GE(got->sent, asked - 500ms);
  EXPECT_LE(got->sent + k.ttl, left + proven_ttl(milliseconds{server.timeout_ms}, 0ms));
}

// It was renewed once more when the answer came, and dated with that.
TEST_F(counted, a_keep_of_what_was_proven_when_it_was_called_counts_from_then_however_late_the_answer) {
  const auto who = ids.next();
  lock(a, who);
  quiet();
  clock.t += 2200ms;  // what is proven lasts for 3.1 s more
  quiet();
  zoo.asked.clear();
  server.stops_at = wire::op::sync;
  const auto called = clock.t;
  const engine::target t{who, "name"};
  std::optional<outcome<engine::kept>> got;
  a.value->keep({&t, 1}, fate::holding, 3600ms, [&](outcome<engine::kept>&& o) { got.emplace(std::move(o)); });
  steps();
  clock.t += 300ms;
  server.stops_at.reset();
  ASSERT_TRUE(until([&] { return got.has_value(); }));
  EXPECT_LE(got->sent, called);
  EXPECT_EQ(zoo.asked["set"], 0);
}

TEST_F(counted, places_are_kept_without_a_question_for_each) {
  const auto holder = ids.next(), next = ids.next();
  acquire(a, holder);
  acquire(b, next);
  const auto keep = [&] {
    const engine::target t{next, "name"};
    const auto o = call<engine::kept>([&](auto reply) { b.value->keep({&t, 1}, fate::waiting, 5s, std::move(reply)); });
    ASSERT_TRUE(o && std::holds_alternative<engine::kept>(o->result));
    EXPECT_EQ(std::get<engine::kept>(o->result).fates.front(), fate::waiting);
  };
  expect({{"sync", 1}, {"children", 1}}, keep);       // it does not watch itself yet
  expect({{"data", 2}}, [&] { clock.t += 2100ms; });  // now it does, and so does the hold
  expect({{"set", 1}, {"sync", 1}}, keep);
}

// Each had asked to be told of its own node.
TEST_F(counted, places_of_one_client_in_a_name_are_kept_by_one_look_for_a_while) {
  lock(a, ids.next());
  std::vector<id> some;
  for (int i = 0; i < 10; ++i) wait(b, some.emplace_back(ids.next()));
  std::vector<engine::target> all_of_them;
  for (const auto& who : some) all_of_them.push_back({who, "name"});
  const auto keep = [&] {
    const auto o =
        call<engine::kept>([&](auto reply) { b.value->keep(all_of_them, fate::waiting, 30s, std::move(reply)); });
    EXPECT_EQ(std::get<engine::kept>(o->result).fates, (std::vector<fate>(some.size(), fate::waiting)));
  };
  keep();
  quiet();
  expect({{"data", 2}}, [&] { clock.t += 2100ms; });  // the hold, and the first, which came alone
  keep();
  quiet();
  expect({{"sync", 1}, {"children", 1}}, keep);
}

}  // namespace

}  // namespace tyer::zookeeper::test
