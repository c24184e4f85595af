// The way to the servers: what is said of one that cannot be reached, how long one may take, and which belong together.
#include "sim/etcd/one_client.hpp"

#include <utility>

namespace tyer::sim::etcd {
namespace {

void two_servers(tyer::etcd::config& c) { c.servers.push_back({c.servers.front().host, 1}); }
bool says_two(const std::string& words) { return words.find("different clusters") != words.npos; }

TEST_F(etcd_scripted, callers_were_not_told_why_no_server_can_be_reached) {
  fake.set_up(0, false);
  a.run_for(200ms);
  const auto o = a.acquire(a.next_id());
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::not_sent);
  EXPECT_NE(failure_in(o)->words.find("fake: refused"), std::string::npos) << failure_in(o)->words;
}

// It was: each probe that had no answer in time threw the channel away, and with it the address that it was about to know.
TEST_F(etcd_scripted, a_name_server_slower_than_a_probe_kept_the_client_out_for_ever) {
  fake.connecting = true;
  fake.cut(0);
  fake.decide = [&](const exchange& e) {
    return journey{.there = 500us, .back = 500us, .request_lost = fake.connecting && e.client == 0};
  };
  a.run_for(100ms);
  const auto before = fake.connections;
  a.run_for(8s);
  EXPECT_LE(fake.connections - before, 1u);
  a.run_for(20s);
  EXPECT_GE(fake.connections - before, 1u) << "but not for ever: it may be the wall clock that it waits for";
  fake.connecting = false;
  EXPECT_TRUE(a.run_until([&] { return a.ups() == 2; }, 3s));
}

// A disk that stalls: with one server to go to, leaving it gave up whatever was under way and gained nothing.
TEST_F(etcd_scripted, the_only_server_was_left_for_a_stall_of_a_quarter_of_the_ttl) {
  const auto held = a.next_id();
  auto r = a.wants(held);
  r.ttl = 2s;
  ASSERT_NE(granted_in(a.call<answer>([&](auto reply) { a.raw().acquire(r, std::move(reply)); })), nullptr);
  a.run_for(r.ttl / 3);
  fake.pause();
  time.in(500ms, [this] { fake.resume(); });
  const seam::target t{held, "order"};
  const auto o = a.call<seam::kept>([&](auto reply) { a.raw().keep({&t, 1}, fate::holding, r.ttl, std::move(reply)); });
  const auto* kept = std::get_if<seam::kept>(&o.result);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->fates, std::vector{fate::holding});
  EXPECT_TRUE(a.downs.empty()) << a.downs.front();
}

// The lease of a place lasts two seconds. For the place alone, which had a sixth of its own half second, the server was left.
TEST_F(etcd_scripted, a_server_was_left_since_it_was_slow_to_keep_a_place) {
  ASSERT_NE(granted_in(a.acquire(a.next_id())), nullptr);
  one_client c{time, fake, all, two_servers};
  const auto who = c.next_id();
  auto r = c.wants(who, true);
  r.ttl = 1500ms;
  r.waiter_ttl = 500ms;
  ASSERT_NE(queued_in(c.call<answer>([&](auto reply) { c.raw().acquire(r, std::move(reply)); })), nullptr);
  c.run_for(r.waiter_ttl / 3);
  fake.pause();
  time.in(250ms, [this] { fake.resume(); });
  const seam::target t{who, "order"};
  const auto o =
      c.call<seam::kept>([&](auto reply) { c.raw().keep({&t, 1}, fate::waiting, r.waiter_ttl, std::move(reply)); });
  const auto* kept = std::get_if<seam::kept>(&o.result);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->fates, std::vector{fate::waiting});
  EXPECT_TRUE(c.downs.empty()) << c.downs.front();
}

// A machine that has too much to do. All that was under way was given up for a server that was no faster, again and again.
struct etcd_slow_servers : etcd_scripted {
  static constexpr milliseconds short_ttl = 1200ms;
  one_client c{time, fake, all, two_servers};
  seam::target held{c.next_id(), "order"};
  bool hung = false;

  void SetUp() override {
    fake.decide = [this](const exchange&) {
      return journey{.there = short_ttl / 8, .back = short_ttl / 8, .request_lost = hung};
    };
    auto r = c.wants(held.who);
    r.ttl = short_ttl;
    ASSERT_NE(granted_in(c.call<answer>([&](auto reply) { c.raw().acquire(r, std::move(reply)); })), nullptr);
    c.downs.clear();
    c.run_for(short_ttl / 10);
  }
  outcome<seam::kept> keep() {
    return c.call<seam::kept>(
        [&](auto reply) { c.raw().keep({&held, 1}, fate::holding, short_ttl, std::move(reply)); });
  }
};

TEST_F(etcd_slow_servers, were_left_for_answers_that_took_a_quarter_of_the_ttl) {
  for (int i = 0; i < 5; ++i) {
    const auto o = keep();
    const auto* kept = std::get_if<seam::kept>(&o.result);
    ASSERT_NE(kept, nullptr) << i;
    EXPECT_EQ(kept->fates, std::vector{fate::holding});
    c.run_for(short_ttl / 10);
  }
  EXPECT_TRUE(c.downs.empty()) << c.downs.front();
}

// Behind a new connection nothing is watched yet. The lease was renewed first and its key read after that, and on slow servers
// there was no time left for both.
TEST_F(etcd_slow_servers, had_to_answer_twice_one_after_the_other_to_keep_a_hold) {
  fake.latency = [](std::size_t) { return short_ttl / 8; };
  const auto before = time.now();
  const auto o = keep();
  EXPECT_TRUE(std::holds_alternative<seam::kept>(o.result));
  EXPECT_LE(time.now() - before, short_ttl / 4 + 10ms) << "one round trip";
}

// It was: a read to see whether it is there, then who it is, then the lease, then the key.
TEST_F(etcd_slow_servers, had_to_answer_four_times_one_after_the_other_before_a_hold_was_kept_at_another) {
  fake.latency = [](std::size_t) { return short_ttl / 8; };
  bool broken = false;
  fake.decide = [&](const exchange& e) {
    const bool breaks = e.method == "Txn" && !std::exchange(broken, true);
    return journey{.there = short_ttl / 8, .back = short_ttl / 8, .broken_off = breaks};
  };
  const auto ups = c.ups();
  EXPECT_TRUE(std::holds_alternative<seam::failure>(keep().result));
  const auto left = time.now();
  EXPECT_TRUE(c.run_until([&] { return c.ups() > ups; }));
  const auto o = keep();
  EXPECT_TRUE(std::holds_alternative<seam::kept>(o.result));
  EXPECT_LE(time.now() - left, 2 * short_ttl / 4 + 20ms) << "two round trips";
}

TEST_F(etcd_scripted, slow_servers_had_to_answer_twice_one_after_the_other_to_keep_a_hold_in_gos_layout) {
  one_client c{time, fake, all, {}, 20s, one_client::layout::gos};
  const auto who = c.next_id();
  ASSERT_NE(granted_in(c.acquire(who)), nullptr);
  fake.decide = [](const exchange&) { return journey{100ms, 100ms}; };
  fake.latency = [](std::size_t) { return duration{100ms}; };
  const auto before = time.now();
  const auto o = c.keep(who);
  ASSERT_TRUE(std::holds_alternative<seam::kept>(o.result));
  EXPECT_EQ(std::get<seam::kept>(o.result).fates, std::vector{fate::holding});
  EXPECT_LE(time.now() - before, 210ms) << "one round trip";
}

TEST_F(etcd_slow_servers, are_left_when_they_are_silent_for_a_third_of_the_ttl) {
  const auto before = time.now();
  hung = true;
  c.raw().keep({&held, 1}, fate::holding, short_ttl, [](outcome<seam::kept>&&) {});
  EXPECT_TRUE(c.run_until([&] { return !c.downs.empty(); }));
  EXPECT_LE(time.now() - before, short_ttl / 3 + 60ms);
}

// Nor to tell it of its turn.
TEST_F(etcd_scripted, a_place_whose_lease_lasts_long_enough_was_kept_once_more_when_its_turn_came) {
  const auto first = a.next_id();
  ASSERT_NE(granted_in(a.acquire(first)), nullptr);
  one_client c{time, fake, all, two_servers};
  auto r = c.wants(c.next_id(), true);
  r.ttl = 1500ms;
  r.waiter_ttl = 500ms;
  ASSERT_NE(queued_in(c.call<answer>([&](auto reply) { c.raw().acquire(r, std::move(reply)); })), nullptr);
  c.run_for(400ms);
  const auto of_its_turn = cost([&] {
    a.release(first);
    EXPECT_TRUE(c.run_until([&] { return std::ranges::count(c.woken, r.what.who) > 0; }, 100ms));
    c.run_for(5ms);
  });
  EXPECT_FALSE(of_its_turn.contains("LeaseKeepAlive"));
}

TEST_F(etcd_scripted, servers_of_two_clusters_are_refused_with_words) {
  fake.clusters = {1, 2, 1};
  one_client c{time, fake, all, two_servers, 2s};
  c.run_for(1s);
  const auto o = c.acquire(c.next_id());
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::refused);
  EXPECT_NE(failure_in(o)->words.find("different clusters"), std::string::npos) << failure_in(o)->words;
  fake.clusters = {1, 1, 1};
  const auto before = c.ups();
  EXPECT_TRUE(c.run_until([&] { return c.ups() > before; }, 5s)) << "mended";
  EXPECT_NE(granted_in(c.acquire(c.next_id())), nullptr);
}

// Nobody looked at it any more: two clients had the same lock, each at its own.
TEST_F(etcd_scripted, a_server_of_another_cluster_that_was_away_at_the_beginning_was_never_asked) {
  fake.clusters = {1, 2, 1};
  fake.set_up(1, false);
  one_client c{time, fake, all, two_servers};
  c.run_for(5s);
  ASSERT_TRUE(std::ranges::none_of(c.downs, says_two));
  fake.set_up(1, true);
  EXPECT_TRUE(c.run_until([&] { return std::ranges::any_of(c.downs, says_two); }, 40s, 5ms));
  const auto o = c.acquire(c.next_id());
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::refused);
}

// Whose servers are known is not asked again and again.
TEST_F(etcd_scripted, servers_of_one_cluster_are_asked_once_who_they_are) {
  one_client c{time, fake, all, two_servers};
  c.run_for(1s);
  EXPECT_EQ(cost([&] { c.run_for(120s); })["Status"], 0);
}

// What it had said before it was silent counted: so the first that was back was refused for being another.
TEST_F(etcd_scripted, a_cluster_that_was_restored_while_it_was_silent_was_taken_for_two) {
  one_client c{time, fake, all, two_servers};
  auto r = c.wants(c.next_id());
  r.ttl = ttl / 3;  // a third of that is less than a request may take
  ASSERT_NE(granted_in(c.call<answer>([&](auto reply) { c.raw().acquire(r, std::move(reply)); })), nullptr);
  fake.pause();
  c.raw().keep({&r.what, 1}, fate::holding, r.ttl, [](outcome<seam::kept>&&) {});
  ASSERT_TRUE(c.run_until([&] { return !c.downs.empty(); }));
  fake.clusters = {7, 7, 7};
  fake.resume();
  EXPECT_TRUE(c.run_until([&] { return c.ups() == 2; }, 5s));
  EXPECT_TRUE(std::ranges::none_of(c.downs, says_two));
}

// --- a learner ---

// Since 3.6 it says so with the code of what will never do: whoever asked for a lock meanwhile was refused for good, and what
// was to be released stayed.
TEST_F(etcd_scripted, a_learner_refused_for_good_whoever_asked_while_the_others_were_away) {
  fake.learners[0] = true;
  one_client c{time, fake, all, two_servers};
  ASSERT_EQ(c.ups(), 1);
  fake.set_up(1, false);
  c.run_for(200ms);
  const auto o = c.acquire(c.next_id());
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::not_sent);
  fake.set_up(1, true);
  EXPECT_TRUE(c.run_until([&] { return c.ups() == 2; }, 5s));
  EXPECT_NE(granted_in(c.acquire(c.next_id())), nullptr);
}

// Behind an address of several, or since it was added anew: it is with the client from then on.
TEST_F(etcd_scripted, a_server_that_is_a_learner_now_was_not_left) {
  one_client c{time, fake, all, two_servers};
  c.run_for(100ms);
  fake.learners[0] = true;
  const auto o = c.acquire(c.next_id());
  ASSERT_NE(failure_in(o), nullptr);
  EXPECT_EQ(failure_in(o)->kind, seam::why::not_sent);
  EXPECT_TRUE(c.run_until([&] { return c.ups() == 2; }, 5s));
  EXPECT_NE(granted_in(c.acquire(c.next_id())), nullptr);
}

// All of it made anew, while one server is away: what that one said before does not count.
TEST_F(etcd_scripted, a_cluster_that_was_made_anew_is_no_second_one) {
  one_client c{time, fake, all, two_servers};
  c.run_for(100ms);
  fake.set_up(0, false);
  fake.set_up(1, false);
  c.run_for(2s);
  fake.clusters = {7, 7, 7};
  fake.set_up(1, true);
  EXPECT_TRUE(c.run_until([&] { return c.ups() == 2; }, 3s));
}

}  // namespace
}  // namespace tyer::sim::etcd
