// How long keys live: whatever the tombstone's time, nothing that stands in them is cut short.
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

class redis_scripts_life : public redis_scripts {
 protected:
  // A call as the engine makes it, with the shortest tombstone.
  std::string call_with(const script& s, redis::commands::words words) {
    return call(s, std::vector<std::string>{words.begin(), words.end()}).text;
  }
  std::string take(const std::string& who, const how& h) {
    engine::request r;
    r.what = {core::id::from(who), "n", h.as};
    r.take = h.take;
    r.capacity = h.capacity;
    r.ttl = h.ttl;
    r.waiter_ttl = h.place;
    r.lock_delay = h.delay;
    r.enqueue = true;
    return call_with(scripts::acquire, c_.acquire(r, never));
  }
  std::string keep(const script& s, const std::string& who, milliseconds ttl) {
    const engine::target t{core::id::from(who), "n"};
    return call_with(s, c_.keep({&t, 1}, ttl));
  }

  redis::commands c_{redis::keys{"tyer:"}, 1s, 100};
};

TEST_F(redis_scripts_life, a_lock_delay_is_not_cut_short_by_a_small_tombstone) {
  for (const auto as : {engine::mode::exclusive, engine::mode::shared, engine::mode::permit}) {
    server.ask({"FLUSHALL"});
    take(ann, {.ttl = 1s, .as = as, .delay = 10s});
    EXPECT_GT(pttl(key), 11'000);
    server.ask({"PEXPIRE", key, "1000"});  // as if most of it were over, by the clock of the state too
    server.ask({"SETRANGE", key, "4", "\1\1\1\1"});
    EXPECT_EQ(keep(scripts::keep_holds, ann, 1s), "h");
    EXPECT_GT(pttl(key), 11'000);
    if (as != engine::mode::exclusive) {
      EXPECT_GT(pttl(holders), 11'000);
    }
  }
}

TEST_F(redis_scripts_life, a_queue_does_not_die_under_those_who_keep_their_places) {
  constexpr auto ttl = 3s, place = 2s;  // a machine that stands still for a second takes neither
  for (const auto as : {engine::mode::exclusive, engine::mode::shared}) {
    server.ask({"FLUSHALL"});
    take(ann, {.ttl = ttl, .place = place, .as = as});
    take(bob, {.ttl = ttl, .place = place});
    take(cid, {.ttl = ttl, .place = place});
    const auto end = server_time() + 6s;
    while (server_time() < end) {
      ASSERT_EQ(keep(scripts::keep_holds, ann, ttl), "h");
      ASSERT_EQ(keep(scripts::keep_waiters, cid, place), "w");
      ASSERT_EQ(keep(scripts::keep_waiters, bob, place), "w");
      for (const auto& k : {key, queue, waiters}) ASSERT_GT(pttl(k), 1000) << k;
      std::this_thread::sleep_for(20ms);
    }
    EXPECT_EQ(release(ann), "h");
    EXPECT_EQ(keep(scripts::keep_waiters, bob, place), "h") << "first come, first served";
    EXPECT_GT(pttl(key), 500);
  }
}

TEST_F(redis_scripts_life, a_queue_outlives_a_holder_with_a_short_lease) {
  take(ann, {.ttl = 100ms, .place = 100ms});
  take(bob, {.ttl = 60s, .place = 20s});
  take(cid, {.ttl = 60s, .place = 20s});
  for (const auto& k : {key, queue, waiters}) EXPECT_GT(pttl(k), 20'000) << k;
  outlast(100ms);
  EXPECT_EQ(keep(scripts::keep_waiters, bob, 20s), "h");
  for (const auto& k : {key, queue, waiters}) EXPECT_GT(pttl(k), 20'000) << k;
}

TEST_F(redis_scripts_life, every_key_of_a_name_dies) {
  take(ann, {.ttl = 1s, .as = engine::mode::shared});
  take(bob, {});
  for (const auto& k : {key, queue, waiters, holders}) EXPECT_GT(pttl(k), 0) << k;
}

// tyer run --once-per leaves a hold of up to a day behind, which nobody renews.
TEST_F(redis_scripts_life, a_hold_that_nobody_renews_lasts_as_long_as_it_was_taken_for) {
  take(ann, {.ttl = 24h});
  EXPECT_GT(pttl(key), 86'400'000);
  take(bob, {.ttl = 10s});
  EXPECT_GT(pttl(key), 86'400'000);
}

TEST_F(redis_scripts_life, dead_waiters_do_not_count_when_there_are_too_many) {
  acquire(ann);
  for (int i = 0; i < 10; ++i) acquire(make_id('E', i), {.place = 1ms, .most = 10});
  outlast(1ms);
  EXPECT_EQ(acquire(bob, {.most = 10})[0], 'q');
  EXPECT_EQ(server.ask({"ZCARD", queue}).number, 1);
  EXPECT_EQ(acquire(cid, {.most = 1}), "o") << "who lives does";
  EXPECT_EQ(server.ask({"HLEN", waiters}).number, 1);
}

TEST_F(redis_scripts_life, a_dead_waiter_among_thousands_is_found_by_those_who_are_refused) {
  acquire(ann);
  const auto nth = [](int i) { return "E-" + std::to_string(100000 + i) + "--------"; };
  for (int i = 0; i < 1500; ++i) acquire(nth(i), {.place = i == 700 ? 1ms : 1h, .most = 1500});
  outlast(1ms);
  int tries = 1;
  while (acquire(bob, {.most = 1500}) == "o" && tries < 5000) ++tries;
  EXPECT_LT(tries, 5000) << "one of 75 looks finds it, by chance";
  EXPECT_EQ(acquire(cid, {.most = 1500}), "o") << "it counted for one";
}

TEST_F(redis_scripts_life, a_thousand_dead_waiters_are_forgotten_in_one_go) {
  acquire(ann);
  for (int i = 0; i < 1000; ++i) acquire("E-" + std::to_string(100000 + i) + "--------", {.place = 1ms, .most = 1000});
  outlast(1ms);
  EXPECT_EQ(acquire(bob, {.most = 1000})[0], 'q');
  EXPECT_EQ(server.ask({"HLEN", waiters}).number, 1);
}

// By the clock of the state and by that of the server, so much of the time to live is left.
TEST_F(redis_scripts_life, a_token_that_is_written_is_remembered_for_the_whole_tombstone_ttl) {
  using engine::mode;
  c_ = redis::commands{redis::keys{"tyer:"}, 16s, 100};
  const auto leave = [&](milliseconds left) {
    const auto dies = static_cast<std::uint32_t>((server_time() + left) / 1s);
    std::string packed;
    for (int shift = 24; shift >= 0; shift -= 8) packed += static_cast<char>(dies >> shift);
    server.ask({"SETRANGE", key, "4", packed});
    server.ask({"PEXPIRE", key, std::to_string(left.count())});
  };
  const std::map<std::string, std::function<void()>> grants{
      {"exclusive", [&] { take(bob, {.ttl = 100ms}); }},
      {"with a lock delay", [&] { take(bob, {.ttl = 100ms, .delay = 100ms}); }},
      {"shared", [&] { take(bob, {.ttl = 100ms, .as = mode::shared}); }},
      {"permit", [&] { take(bob, {.ttl = 100ms, .as = mode::permit}); }},
      {"lifted",
       [&] { take(bob, {.ttl = 100ms}), lift(bob, static_cast<std::uint64_t>(server_time() / 1us) + 15'900'000); }},
  };
  for (const auto& [name, grant] : grants) {
    for (milliseconds left = 14500ms; left < 20s; left += 100ms) {
      server.ask({"FLUSHALL"});
      take(ann, {.ttl = 100ms});
      release(ann);
      leave(left);
      const auto began = server_time();
      grant();
      const auto lives = pttl(key) + (server_time() - began) / 1ms + 1;
      EXPECT_GE(lives, 16'000) << name << ", when " << left.count() << " ms were left";
    }
  }
}

// MIGRATE gives a key as long to live as it had, counted by the clock of the server that takes it; the state says when that is
// by the clock of the one that gave it, which may be ahead.
TEST_F(redis_scripts_life, a_name_that_came_from_a_server_whose_clock_is_ahead_does_not_die_while_it_is_held) {
  constexpr auto ttl = 2s;
  c_ = redis::commands{redis::keys{"tyer:"}, 4s, 100};
  for (const auto as : {engine::mode::exclusive, engine::mode::shared}) {
    server.ask({"FLUSHALL"});
    take(ann, {.ttl = ttl, .place = ttl, .as = as});
    take(bob, {.ttl = ttl, .place = ttl});
    auto dies = static_cast<std::uint32_t>((server_time() + milliseconds{pttl(key)}) / 1s) + 2;
    std::string packed;
    for (int shift = 24; shift >= 0; shift -= 8) packed += static_cast<char>(dies >> shift);
    server.ask({"SETRANGE", key, "4", packed});
    const auto end = server_time() + 9s;
    while (server_time() < end) {
      ASSERT_EQ(keep(scripts::keep_holds, ann, ttl), "h");
      ASSERT_EQ(keep(scripts::keep_waiters, bob, ttl), "w");
      for (const auto& k : {key, queue, waiters}) ASSERT_GT(pttl(k), 0) << k;
      std::this_thread::sleep_for(20ms);
    }
  }
}

}  // namespace tyer::test
