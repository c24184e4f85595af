// One of the keys of a name is lost (evicted, deleted by hand) and the others are not: whoever waits is served.
#include "unit/redis/scripts/fixture.hpp"

namespace tyer::test {

class redis_scripts_lost_key : public redis_scripts {
 protected:
  struct kind {
    const char* name;
    how with;
  };
  static std::vector<kind> kinds() {
    return {{"exclusive", {.ttl = 100ms, .place = 500ms}},
            {"delay", {.ttl = 100ms, .place = 500ms, .delay = 50ms}},
            {"shared", {.ttl = 100ms, .place = 500ms, .as = engine::mode::shared}},
            {"permit", {.ttl = 100ms, .place = 500ms, .as = engine::mode::permit}}};
  }

  // What a client does that waits: it keeps its place, and asks only if that tells it to. True: it has the lock.
  bool look(const std::string& who, const how& with) {
    const auto fate = keep_waiter(who, with.place);
    EXPECT_NE(fate, "d");
    if (fate == "w") return false;
    const auto answer = acquire(who, with);
    return is_part(answer) || answer[0] == 's';
  }

  // Two behind one. On a busy machine its lease may be over before both have come.
  void queue_up(how held, const how& waits, const std::string& what) {
    do {
      server.ask({"FLUSHALL"});
      held.ttl *= 2;
      ASSERT_LT(held.ttl, 10s) << what;
      acquire(ann, held);
    } while (acquire(bob, waits)[0] != 'q' || acquire(cid, waits)[0] != 'q');
  }

  // Both waiters had their turn, in whatever order, though nobody but they touches the name.
  void expect_both_served(const how& with, const std::string& what) {
    std::vector<std::string> waiting{bob, cid};
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!waiting.empty() && std::chrono::steady_clock::now() < end) {
      std::erase_if(waiting, [&](const std::string& who) {
        if (!look(who, with)) return false;
        release(who);
        return true;
      });
      std::this_thread::sleep_for(20ms);
    }
    EXPECT_TRUE(waiting.empty()) << what << ": " << waiting.size() << " wait for ever";
  }
};

TEST_F(redis_scripts_lost_key, nobody_waits_for_ever) {
  for (const auto& [name, held] : kinds()) {
    for (const auto& [waiter, waits] : kinds()) {
      if (held.as == engine::mode::shared && waits.as == held.as) continue;  // then nobody waits
      for (const auto& lost : {key, queue, waiters, holders}) {
        const auto what = std::string{waiter} + " behind " + name + ", without " + lost;
        queue_up(held, waits, what);
        server.ask({"DEL", lost});
        expect_both_served(waits, what);
      }
    }
  }
}

TEST_F(redis_scripts_lost_key, who_waits_is_overtaken_only_until_it_keeps_its_place) {
  acquire(ann);
  acquire(bob);
  acquire(cid);
  EXPECT_EQ(release(bob), "w") << "the second does not know that it is the first now";
  server.ask({"DEL", key});
  EXPECT_PRED1(is_part, attempt(dee)) << "nobody holds it as far as the server knows";
  EXPECT_EQ(keep_waiter(cid), "w");
  EXPECT_EQ(release(dee), "h");
  EXPECT_EQ(attempt(dee)[0], 'b') << "now it is known that somebody waits";
  EXPECT_EQ(keep_waiter(cid), "h");
  EXPECT_PRED1(is_part, acquire(cid));
}

TEST_F(redis_scripts_lost_key, a_lost_state_is_made_again_with_a_time_to_live) {
  acquire(ann);
  acquire(bob);
  server.ask({"DEL", key});
  EXPECT_EQ(keep_waiter(bob), "h");
  EXPECT_GT(pttl(key), 0);
}

TEST_F(redis_scripts_lost_key, lost_places_are_taken_again_in_their_order) {
  acquire(ann);
  acquire(bob);
  acquire(cid);
  server.ask({"DEL", waiters});
  EXPECT_EQ(keep_waiter(cid), "g");
  acquire(cid);
  EXPECT_GT(pttl(waiters), 0);
  acquire(bob);
  EXPECT_EQ(release(ann), "h");
  EXPECT_EQ(keep_waiter(bob), "h");
  EXPECT_EQ(keep_waiter(cid), "w");
}

TEST_F(redis_scripts_lost_key, a_ticket_that_was_lost_is_taken_again) {
  acquire(ann);
  acquire(bob);
  server.ask({"DEL", queue});
  acquire(dee);
  EXPECT_EQ(keep_waiter(bob), "g") << "it would wait for ever";
  EXPECT_EQ(acquire(bob)[0], 'q');
  EXPECT_EQ(keep_waiter(bob), "w");
  EXPECT_GT(pttl(queue), 0);
}

// Nobody who looks along the queue finds a place without a ticket.
TEST_F(redis_scripts_lost_key, dead_waiters_whose_tickets_were_lost_do_not_count_for_ever) {
  for (const auto& [name, held] : kinds()) {
    server.ask({"FLUSHALL"});
    acquire(ann, {.as = held.as, .delay = held.delay});
    for (int i = 0; i < 5; ++i) acquire(make_id('E', i), {.most = 5});
    ASSERT_EQ(server.ask({"HLEN", waiters}).number, 5) << name;
    server.ask({"DEL", queue});
    EXPECT_EQ(acquire(bob, {.most = 2})[0], 'q') << name;
    EXPECT_EQ(acquire(cid, {.most = 2})[0], 'q') << name;
    EXPECT_EQ(server.ask({"HLEN", waiters}).number, 2) << name;
    EXPECT_GT(pttl(waiters), 0) << name;
    EXPECT_EQ(keep_waiter(make_id('E', 1)), "g") << "who lives asks again";
    EXPECT_EQ(acquire(make_id('E', 1))[0], 'q') << name;
    release(ann);
    EXPECT_EQ(keep_waiter(cid), "w") << name;
    EXPECT_EQ(keep_waiter(bob), "h") << name;
  }
}

TEST_F(redis_scripts_lost_key, nothing_is_left_of_a_queue_that_is_over) {
  const std::map<std::string, std::function<void()>> endings{
      {"the last has its turn", [&] { acquire(bob), release(ann); }},
      {"the last goes", [&] { acquire(bob), release(bob), release(ann); }},
      {"nobody is left", [&] { release(ann); }},
  };
  for (const auto& [name, end] : endings) {
    server.ask({"FLUSHALL"});
    acquire(ann);
    for (int i = 0; i < 5; ++i) acquire(make_id('E', i));
    server.ask({"DEL", queue});
    end();
    EXPECT_FALSE(exists(waiters)) << name;
    EXPECT_FALSE(exists(queue)) << name;
  }
}

}  // namespace tyer::test
