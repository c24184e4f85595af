// What each operation costs in requests, and who is next, against a server that counts. Time stands still: whatever is sent belongs to
// the operation.
#include "core/clock.hpp"
#include "core/id.hpp"
#include "core/uri.hpp"
#include "engine/table.hpp"
#include "unit/zookeeper/small_zookeeper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tyer::zookeeper::test {

namespace {

using namespace std::chrono_literals;
using engine::answer;
using engine::fate;
using engine::id;
using engine::mode;
template <class T>
using outcome = engine::outcome<T>;

struct still_clock final : core::clock {
  lease_clock::time_point t = lease_clock::now();
  lease_clock::time_point now() const noexcept override { return t; }
  bool flows() const noexcept override { return false; }
};

struct client final : engine::events {
  void wake(const id& who) override { woken.push_back(who); }
  void suspect(const id&) override {}
  void gone(const id& who) override { lost.push_back(who); }
  void asked(const id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const engine::server_facts&) override { is_up = true; }
  void down(const engine::failure&) override {}

  bool is_woken(const id& who) const { return std::ranges::find(woken, who) != woken.end(); }

  bool is_up = false;
  std::vector<id> woken, lost;
  std::unique_ptr<engine::engine> value;
};

struct counted : ::testing::Test {
  void SetUp() override {
    for (client& c : all) start(c);
    ASSERT_TRUE(until([&] { return std::ranges::all_of(all, &client::is_up); }));
    for (client& c : all) {  // the sessions for holds and for places
      const auto holder = ids.next(), place = ids.next();
      acquire(c, holder, mode::exclusive, "warm");
      acquire(c, place, mode::exclusive, "warm");
      release(c, place, "warm");
      release(c, holder, "warm");
    }
    quiet();
  }

  void start(client& c, const std::string& query = {}) {
    auto uri = core::parse_uri("zk://" + server.host() + query);
    ASSERT_FALSE(uri.error) << uri.error.words;
    auto made = ::tyer_engine_zookeeper(uri.value, {"tyer:", &ids, &clock, 5s, {}});
    ASSERT_FALSE(made.error) << made.error.words;
    c.value = std::move(made.value);
    c.value->open(c);
  }

  template <class Condition>
  bool until(Condition so) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!so() && std::chrono::steady_clock::now() < end) step();
    return so();
  }
  void step() {
    server.work();
    for (client& c : all) {
      if (c.value) c.value->run(clock.now());
    }
  }
  // Nothing has been asked for a while.
  void quiet() {
    for (int rounds = 0; rounds < 20; ++rounds) {
      const auto before = zoo.asked;
      step();
      if (zoo.asked != before) rounds = 0;
    }
  }
  // What was asked, as soon as it is what is expected.
  template <class F>
  void expect(const requests& expected, F&& f) {
    quiet();
    zoo.asked.clear();
    f();
    until([&] { return zoo.asked == expected; });
    quiet();
    EXPECT_EQ(zoo.asked, expected);
  }

  template <class T, class F>
  std::optional<outcome<T>> call(F&& f) {
    std::optional<outcome<T>> got;
    f([&](outcome<T>&& o) { got.emplace(std::move(o)); });
    EXPECT_TRUE(until([&] { return got.has_value(); }));
    return got;
  }
  static engine::request request(const id& who, mode how = mode::exclusive, std::string_view name = "name") {
    engine::request r;
    r.what = {who, name, how};
    r.ttl = 4s;
    r.waiter_ttl = 1s;
    r.not_after = 5s;
    r.enqueue = true;
    return r;
  }
  std::optional<outcome<answer>> acquire(client& c, const engine::request& r) {
    return call<answer>([&](auto reply) { c.value->acquire(r, std::move(reply)); });
  }
  std::optional<outcome<answer>> acquire(client& c, const id& who, mode how = mode::exclusive,
                                         std::string_view name = "name") {
    return acquire(c, request(who, how, name));
  }
  static std::uint64_t part_in(const std::optional<outcome<answer>>& o) {
    const auto* a = o ? std::get_if<answer>(&o->result) : nullptr;
    const auto* g = a != nullptr ? std::get_if<engine::granted>(a) : nullptr;
    return g != nullptr ? g->part : 0;
  }
  std::optional<outcome<answer>> convert(client& c, const id& who, mode to) {
    return call<answer>([&](auto reply) { c.value->convert({who, "name"}, to, 5s, std::move(reply)); });
  }
  static std::string failure_in(const std::optional<outcome<answer>>& o) {
    const auto* f = o ? std::get_if<engine::failure>(&o->result) : nullptr;
    return f != nullptr ? f->code.message() + ": " + f->words : "";
  }
  // A transaction that is not carried out for a reason that has nothing to do with its nodes.
  void refuse_transactions(std::size_t of) {
    server.says = [of](wire::op what, const wire::reader&) -> std::optional<own_server::words> {
      if (what != wire::op::multi) return std::nullopt;
      wire::writer w;
      for (std::size_t i = 0; i < of; ++i) {
        const std::int32_t error = i == 0 ? wire::quota_exceeded : wire::runtime_inconsistency;
        w.number(-1).flag(false).number(error).number(error);
      }
      return own_server::words{wire::ok, w.number(-1).flag(true).number(-1).take()};
    };
  }
  void steps(int n = 2000) {
    for (; n > 0; --n) step();
  }
  std::optional<outcome<fate>> release(client& c, const id& who, std::string_view name = "name") {
    return call<fate>([&](auto reply) { c.value->release({who, name}, true, std::move(reply)); });
  }
  bool granted(const std::optional<outcome<answer>>& o) {
    const auto* a = o ? std::get_if<answer>(&o->result) : nullptr;
    return a != nullptr && std::holds_alternative<engine::granted>(*a);
  }
  bool queued(const std::optional<outcome<answer>>& o) {
    const auto* a = o ? std::get_if<answer>(&o->result) : nullptr;
    return a != nullptr && std::holds_alternative<engine::queued>(*a);
  }
  // The next has it when the one before lets go.
  void hand_over(client& from, const id& before, client& to, const id& next) {
    release(from, before);
    ASSERT_TRUE(until([&] { return to.is_woken(next); }));
    EXPECT_TRUE(granted(acquire(to, next)));
  }
  void wait(client& one, const id& who) { EXPECT_TRUE(queued(acquire(one, who))); }
  void lock(client& one, const id& who) { EXPECT_TRUE(granted(acquire(one, who))); }
  std::string first_in_line() const {
    auto all = zoo.children(line);
    const auto number = [](const std::string& node) { return node.substr(node.rfind('-')); };
    return line + '/' + *std::ranges::min_element(all, {}, number);
  }

  const std::string line = "/tyer/q/tyer%3Aname";
  own_server server;
  small_zookeeper zoo{server};
  still_clock clock;
  core::random_ids ids;
  std::deque<client> all = std::deque<client>(3);
  client &a = all[0], &b = all[1], &c = all[2];
};

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

// It was twelve for each change of owner: a second look for the own place, a question for the first holder's ttl, a watch of itself, and a
// look when the one in its way had gone.
TEST_F(counted, a_lock_that_is_handed_on_costs_six_requests) {
  std::vector<id> who;
  for (int i = 0; i < 6; ++i) who.push_back(ids.next());
  lock(a, who[0]);
  const requests with_a_look{{"children", 2}, {"create", 1}, {"data", 1}},
      place{{"children", 1}, {"create", 1}, {"data", 1}};
  expect(with_a_look, [&] { wait(b, who[1]); });  // who has waited here before needs no look
  expect(with_a_look, [&] { wait(c, who[2]); });
  // The one behind looks for the new holder under the name it has now. The first was granted at once, so its name does not tell that it
  // held: the next asks whether it has moved, and looks.
  expect({{"delete", 1}, {"data", 2}, {"children", 1}, {"multi", 1}}, [&] { hand_over(a, who[0], b, who[1]); });
  expect(with_a_look, [&] { wait(a, who[3]); });
  const requests hand_on{{"delete", 1}, {"multi", 1}, {"data", 1}};
  expect(hand_on, [&] { hand_over(b, who[1], c, who[2]); });
  expect(place, [&] { wait(b, who[4]); });
  expect(hand_on, [&] { hand_over(c, who[2], a, who[3]); });
  expect(place, [&] { wait(c, who[5]); });
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
  zoo.before_reading = [&, place = first_in_line(), done = false](wire::op what, const std::string& path) mutable {
    if (what != wire::op::get_data || path != place || std::exchange(done, true)) return;
    zoo.move(place, place + 'h');
  };
  wait(c, last);
  quiet();
  EXPECT_FALSE(c.is_woken(last));
  wait(c, last);
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
  const auto holds = zoo.owner(first_in_line());
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
  expect({{"sync", 2}, {"children", 1}}, keep);       // it does not watch itself yet
  expect({{"data", 2}}, [&] { clock.t += 2100ms; });  // now it does, and so does the hold
  expect({{"set", 1}, {"sync", 1}}, keep);
}

}  // namespace

}  // namespace tyer::zookeeper::test
