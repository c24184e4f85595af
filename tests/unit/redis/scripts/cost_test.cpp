// What the scripts cost the server: each redis.call is about a microsecond.
#include "unit/redis/scripts/fixture.hpp"

#include <algorithm>
#include <limits>

namespace tyer::test {

class redis_script_costs : public redis_scripts {
 protected:
  using counts = std::map<std::string, std::int64_t>;

  counts cost(const std::function<void()>& act) {
    server.ask({"CONFIG", "RESETSTAT"});
    act();
    auto c = server.calls();
    for (const char* own : {"evalsha", "config|resetstat", "info"}) c.erase(own);
    return c;
  }
  void share_with(int others) {
    for (int i = 0; i < others; ++i) share("E-" + std::to_string(100000 + i) + "--------");
  }
};

TEST_F(redis_script_costs, uncontended) {
  acquire(ann);
  release(ann);
  EXPECT_EQ(cost([&] { acquire(ann); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}));
  EXPECT_EQ(cost([&] { attempt(bob); }), (counts{{"time", 1}, {"get", 1}}));
  EXPECT_EQ(cost([&] { lift(ann, redis::exact_max / 2); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}));
  EXPECT_EQ(cost([&] { keep_hold(ann, 20s); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}));
  EXPECT_EQ(cost([&] { release(ann); }), (counts{{"get", 1}, {"set", 1}}));
}

TEST_F(redis_script_costs, contended) {
  acquire(ann);
  EXPECT_EQ(cost([&] { acquire(bob); }),
            (counts{{"time", 1}, {"get", 1}, {"hsetnx", 1}, {"zrange", 1}, {"zadd", 1}, {"set", 1}, {"pexpire", 2}}));
  EXPECT_EQ(cost([&] { acquire(cid); }),
            (counts{{"time", 1}, {"get", 1}, {"hsetnx", 1}, {"zrange", 1}, {"hlen", 1}, {"zadd", 1}}));
  EXPECT_EQ(cost([&] { keep_waiter(cid); }),
            (counts{{"time", 1}, {"get", 1}, {"hget", 1}, {"zscore", 1}, {"hset", 1}}));
  EXPECT_EQ(
      cost([&] { release(ann); }),
      (counts{
          {"get", 1}, {"time", 1}, {"zrange", 1}, {"hget", 1}, {"zrem", 1}, {"hdel", 1}, {"set", 1}, {"publish", 1}}));
  EXPECT_EQ(cost([&] { acquire(bob); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}))
      << "a claim costs what a lock costs";
}

TEST_F(redis_script_costs, with_a_lock_delay) {
  EXPECT_EQ(cost([&] { acquire(ann, {.delay = 1s}); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}));
  EXPECT_EQ(cost([&] { keep_hold(ann, 20s); }), (counts{{"time", 1}, {"get", 1}, {"set", 1}}));
  EXPECT_EQ(cost([&] { release(ann); }), (counts{{"get", 1}, {"time", 1}, {"set", 1}}));
}

TEST_F(redis_script_costs, of_a_reader_do_not_grow_with_the_number_of_readers) {
  EXPECT_EQ(cost([&] { share(ann); }),
            (counts{{"time", 1}, {"get", 1}, {"hlen", 1}, {"hset", 1}, {"set", 1}, {"pexpire", 1}}));
  for (const int others : {1, 1000}) {
    share_with(others);
    EXPECT_EQ(cost([&] { share(bob); }), (counts{{"time", 1}, {"get", 1}, {"hget", 1}, {"hset", 1}, {"set", 1}}));
    EXPECT_EQ(cost([&] { share(bob); }), (counts{{"time", 1}, {"get", 1}, {"hget", 1}, {"hset", 1}}));
    EXPECT_EQ(cost([&] { keep_hold(bob); }), (counts{{"time", 1}, {"get", 1}, {"hget", 1}, {"hset", 1}}));
    EXPECT_EQ(cost([&] { attempt(cid); }), (counts{{"time", 1}, {"get", 1}, {"hget", 1}}));
    EXPECT_EQ(cost([&] { release(bob); }), (counts{{"get", 1}, {"time", 1}, {"hget", 1}, {"hdel", 1}, {"set", 1}}));
  }
}

TEST_F(redis_script_costs, of_waiting_beside_readers) {
  share(ann);
  acquire(bob);
  const counts head{{"time", 1}, {"get", 1}, {"hget", 1}, {"zscore", 1}, {"hset", 1}, {"zrange", 1}};
  EXPECT_EQ(cost([&] { keep_waiter(bob); }), head);
  auto behind = head;
  ++behind["hget"];
  share(cid);
  EXPECT_EQ(cost([&] { keep_waiter(cid); }), behind) << "it looks whether the head lives";
  share(dee);
  const counts both{{"time", 1}, {"get", 1}, {"hget", 3}, {"zscore", 2}, {"hset", 2}, {"zrange", 1}};
  const auto keep_both = [&] { call(scripts::keep_waiters, {"2", key, key, "3000", "86400000", cid + dee}); };
  EXPECT_EQ(cost(keep_both), both) << "once for all of a name";
}

TEST_F(redis_script_costs, of_permits) {
  permits(ann, 1, 100);
  EXPECT_EQ(cost([&] { permits(bob, 7, 100); }),
            (counts{{"time", 1}, {"get", 1}, {"hget", 1}, {"hset", 1}, {"set", 1}}));
  EXPECT_EQ(cost([&] { release(bob); }), (counts{{"get", 1}, {"time", 1}, {"hget", 1}, {"hdel", 1}, {"set", 1}}));
}

// Each of them has to be told, but the queue and the holders are read and written once for all.
TEST_F(redis_script_costs, of_a_hand_over_to_many) {
  acquire(ann);
  for (int i = 0; i < 50; ++i) share("E-" + std::to_string(100000 + i) + "--------");
  EXPECT_EQ(cost([&] { release(ann); }), (counts{{"get", 1},
                                                 {"time", 1},
                                                 {"zrange", 3},
                                                 {"hget", 1},
                                                 {"hmget", 3},
                                                 {"hlen", 1},
                                                 {"zrem", 1},
                                                 {"hdel", 1},
                                                 {"del", 2},
                                                 {"hset", 1},
                                                 {"set", 1},
                                                 {"pexpire", 1},
                                                 {"publish", 50}}));
}

// The server's own count, of the quickest of many: the machine may have been busy with something else.
TEST_F(redis_script_costs, of_who_is_refused_do_not_grow_with_the_queue) {
  const auto refused_us = [&](std::uint32_t waiting) {
    server.ask({"FLUSHALL"});
    acquire(ann);
    for (std::uint32_t i = 0; i < waiting; ++i)
      acquire("E-" + std::to_string(100000 + i) + "--------", {.place = 1h, .most = waiting});
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < 50; ++i) {
      server.ask({"CONFIG", "RESETSTAT"});
      EXPECT_EQ(acquire(bob, {.most = waiting}), "o");
      const auto text = server.ask({"INFO", "commandstats"}).text;
      const auto at = text.find("usec=", text.find("cmdstat_evalsha:"));
      least = std::min<std::int64_t>(least, std::stoll(text.substr(at + 5)));
    }
    return least;
  };
  const auto few = refused_us(20), many = refused_us(4000);
  EXPECT_LT(many, 5 * few) << few << " us with 20 in the queue";
}

}  // namespace tyer::test
