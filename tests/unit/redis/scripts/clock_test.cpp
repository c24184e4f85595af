// The server's clock is set back, or forward, while locks are held.
#include "unit/redis/own_server.hpp"
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

struct server_with_a_clock {
  own_server mine{"--clock-shift"};
};

class redis_scripts_clock : server_with_a_clock, public redis_scripts {
 protected:
  redis_scripts_clock() : redis_scripts(mine.uri()) {}

  void set_back_by_an_hour() { mine.shift_clock(-3600); }
  void set_forward_by_an_hour() { mine.shift_clock(3600); }
  void as_before() { mine.shift_clock(0); }

  struct kind {
    const char* name;
    how with;
  };
  static std::vector<kind> kinds() {
    return {{"exclusive", {.ttl = brief}},
            {"delay", {.ttl = brief / 2, .delay = brief / 2}},
            {"shared", {.ttl = brief, .as = engine::mode::shared}},
            {"shared delay", {.ttl = brief / 2, .as = engine::mode::shared, .delay = brief / 2}},
            {"permit", {.ttl = brief, .as = engine::mode::permit}}};
  }

  void expect_served(const std::function<bool()>& served) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!served()) {
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "not within ten seconds";
        break;
      }
      std::this_thread::sleep_for(5ms);
    }
  }
  bool bob_gets_it() { return is_part(acquire(bob, {.place = 3s})); }
};

TEST_F(redis_scripts_clock, a_dead_holder_is_waited_for_no_longer_than_its_lease) {
  for (const auto& [name, with] : kinds()) {
    for (const bool kept : {false, true}) {
      for (const bool tried : {false, true}) {
        as_before();
        server.ask({"FLUSHALL"});
        const auto since = std::chrono::steady_clock::now();
        acquire(ann, with);
        if (!tried) acquire(bob, {.place = 3s});
        set_back_by_an_hour();
        if (kept) {
          EXPECT_EQ(keep_hold(ann, with.ttl), "h") << name;
        }
        expect_served([&] { return tried ? is_part(attempt(bob)) : bob_gets_it(); });
        const auto waited = std::chrono::steady_clock::now() - since;  // the server's clock runs as fast as before
        EXPECT_GE(waited, brief * 3 / 4) << name << ": who lives was promised that much";
      }
    }
  }
}

TEST_F(redis_scripts_clock, a_waiter_that_only_keeps_its_place_is_served_too) {
  for (const auto& [name, with] : kinds()) {
    as_before();
    server.ask({"FLUSHALL"});
    acquire(ann, with);
    acquire(bob, {.place = 3s});
    set_back_by_an_hour();
    expect_served([&] { return keep_waiter(bob, 3s) == "h"; });
  }
}

TEST_F(redis_scripts_clock, a_ghost_does_not_come_to_life_and_is_over_in_time) {
  for (const auto as : {engine::mode::exclusive, engine::mode::shared}) {
    as_before();
    server.ask({"FLUSHALL"});
    acquire(ann, {.as = as, .delay = brief});
    EXPECT_EQ(release_unclean(ann), "h");
    set_back_by_an_hour();
    EXPECT_EQ(attempt(bob)[0], 'b');
    EXPECT_EQ(keep_hold(ann), "g");
    EXPECT_TRUE(shown().empty());
    expect_served([&] { return bob_gets_it(); });
  }
}

TEST_F(redis_scripts_clock, a_holder_that_lives_keeps_its_hold) {
  for (auto [name, with] : kinds()) {
    with.ttl = 2s;
    as_before();
    server.ask({"FLUSHALL"});
    acquire(ann, with);
    acquire(bob, {.place = 2s});
    set_back_by_an_hour();
    for (int i = 0; i < 48; ++i) {
      EXPECT_EQ(keep_hold(ann, with.ttl), "h") << name;
      EXPECT_EQ(keep_waiter(bob, 2s), "w") << name;
      std::this_thread::sleep_for(50ms);
    }
    EXPECT_EQ(shown().at(1), ann) << name;
    EXPECT_LE(std::stoi(shown().at(3)), 2000) << name;
  }
}

TEST_F(redis_scripts_clock, dead_waiters_cost_together_no_more_than_one_place) {
  acquire(ann);
  for (int i = 0; i < 100; ++i) acquire("E-" + std::to_string(100000 + i) + "--------", {.place = 300ms, .most = 1000});
  acquire(bob, {.place = 3s, .most = 1000});
  set_back_by_an_hour();
  EXPECT_EQ(release(ann), "h");
  expect_served([&] { return keep_waiter(bob, 3s) == "h"; });
}

// The hold alone does not show that the clock was set back: it was there before the clock was set forward.
TEST_F(redis_scripts_clock, a_dead_writer_costs_the_readers_behind_it_no_more_than_its_place) {
  share(ann, {.ttl = 10h});
  set_forward_by_an_hour();
  acquire(dee, {.place = 300ms});
  share(bob, {.place = 3s});
  as_before();
  expect_served([&] { return keep_waiter(bob, 3s) == "h"; });
}

TEST_F(redis_scripts_clock, a_conversion_promises_no_more_than_the_lease) {
  acquire(ann, {.ttl = 5s});
  set_back_by_an_hour();
  const auto converted = convert(ann, engine::mode::shared);
  ASSERT_EQ(converted[0], 't');
  EXPECT_LE(std::stoi(converted.substr(converted.find(' ') + 1)), 5000);
}

TEST_F(redis_scripts_clock, tokens_do_not_go_back) {
  const auto first = part_of(acquire(ann, {.live = 10s}));
  release(ann);
  set_back_by_an_hour();
  const auto second = part_of(acquire(bob, {.live = 10s}));
  EXPECT_GT(second, first);
  release(bob);
  set_forward_by_an_hour();
  const auto third = part_of(acquire(ann, {.live = 10s}));
  EXPECT_GT(third, second);
  release(ann);
  as_before();
  EXPECT_GT(part_of(acquire(bob, {.live = 10s})), third);
}

TEST_F(redis_scripts_clock, set_forward_all_leases_end_and_waiters_are_served) {
  acquire(ann, {.live = 60s});
  acquire(bob, {.live = 60s});
  set_forward_by_an_hour();
  EXPECT_EQ(keep_hold(ann), "g") << "the server knows no other time";
  EXPECT_EQ(keep_waiter(bob), "g");
  EXPECT_PRED1(is_part, acquire(bob));
}

}  // namespace tyer::test
