// Holds of one lease are kept by one message, and none of them is read while it is watched.
#include "contract/engine/harness.hpp"
#include "etcd/server.hpp"

#include <cstdlib>

namespace tyer::contract {

struct etcd_keeping : engine_contract {
  // All of them locked, and kept until the server is not asked for them one by one any more.
  std::vector<want> watched(client& of, int n, milliseconds ttl = 60s) {
    std::vector<want> all;
    for (int i = 0; i < n; ++i) {
      auto& w = all.emplace_back(of.wants("order/" + std::to_string(i)));
      w.ttl = ttl;
      of.lock(w);
    }
    const auto end = of.now() + patience;
    for (auto before = reads();; before = reads()) {
      for (const auto f : of.keep_all(all, fate::holding, ttl)) EXPECT_EQ(f, fate::holding);
      if (reads() == before) return all;
      if (of.now() >= end) throw surprise("they are still read");
      of.pump_until(of.now() + 50ms);
    }
  }

  std::uint64_t reads() const { return server.requests("Txn") + server.requests("Range"); }
  std::uint64_t keep_alives() const { return server.requests("LeaseKeepAlive"); }

  const bench::etcd_server server{std::getenv("TYER_URI")};
};

TEST_F(etcd_keeping, a_hold_is_read_until_its_watch_is_confirmed) {
  const auto w = a.wants("order");
  a.lock(w);
  const auto before = reads();
  EXPECT_EQ(a.keep(w, fate::holding, 60s), fate::holding);
  EXPECT_EQ(reads(), before + 1);
}

TEST_F(etcd_keeping, holds_of_one_lease_are_kept_by_one_message) {
  const milliseconds ttl = 9s;  // of which half does not pass before the question how far the watches are
  const auto all = watched(a, 50, ttl);
  a.pump_until(a.now() + ttl / 3);  // when a runtime would keep them, and longer ago than an answer may be dated
  const auto before = server.requests();
  const auto alive = keep_alives();
  // As a runtime does it: in batches, some at once and some after the first was answered.
  int answered = 0;
  for (std::size_t i = 0; i < all.size(); i += 10) {
    std::vector<engine::target> batch;
    for (std::size_t n = i; n < i + 10; ++n) batch.push_back(all[n].target());
    a.raw().keep(batch, fate::holding, ttl, [&](auto&& o) {
      ++answered;
      EXPECT_EQ(std::get<engine::kept>(o.result).fates, std::vector<fate>(10, fate::holding));
    });
    if (i >= 20) a.pump_until([&] { return answered == static_cast<int>(i / 10) + 1; }, "the answers");
  }
  EXPECT_EQ(keep_alives(), alive + 1);
  EXPECT_EQ(server.requests(), before + 1);
}

TEST_F(etcd_keeping, an_answer_is_dated_with_the_message_that_was_confirmed) {
  const milliseconds ttl = 3s;
  const auto all = watched(a, 2, ttl);
  a.pump_until(a.now() + ttl / 3);
  const auto keep = [&](const want& w) {
    const auto t = w.target();
    return a.call<engine::kept>([&](auto reply) { a.raw().keep({&t, 1}, fate::holding, ttl, std::move(reply)); },
                                ttl / 6);
  };
  const auto first = keep(all[0]).sent;
  a.pump_until(a.now() + 50ms);
  EXPECT_EQ(keep(all[1]).sent, first);
  a.pump_until(first + ttl / 6 + 1ms);
  EXPECT_GT(keep(all[1]).sent, first + ttl / 6);  // too old to be counted from
}

TEST_F(etcd_keeping, a_hold_deleted_by_an_operator_while_it_is_kept_without_reading_is_told_gone) {
  const auto all = watched(a, 2);
  EXPECT_EQ(b.evict(all[0]), fate::holding);
  a.await(event::kind::gone, all[0].who);
  EXPECT_EQ(a.keep_all(all, fate::holding, 60s), (std::vector{fate::gone, fate::holding}));
}

TEST_F(etcd_keeping, a_hold_that_nobody_kept_is_gone_though_it_was_watched) {
  const auto all = watched(a, 2, 2s);
  // Nobody keeps it, as if the process had stood still: this client deletes its keys itself, and knows it.
  a.pump_until(a.now() + 2s + 50ms);
  EXPECT_EQ(a.keep_all(all, fate::holding, 2s), (std::vector{fate::gone, fate::gone}));
}

TEST_F(etcd_keeping, many_who_lock_at_once_share_a_message) {
  const auto w = a.wants("first");
  a.lock(w);  // there is a lease now
  const auto before = server.requests();
  int granted = 0;
  for (int i = 0; i < 20; ++i) {
    a.raw().acquire(a.wants("order/" + std::to_string(i)).request(), [&](auto&& o) {
      if (granted_in(o) != nullptr) ++granted;
    });
  }
  a.pump_until([&] { return granted == 20; }, "all grants");
  EXPECT_EQ(server.requests(), before + 20);
}

TEST_F(etcd_keeping, a_waiter_that_is_handed_the_lock_while_its_place_is_kept_without_reading_is_woken) {
  const auto holder = a.wants("order");
  a.lock(holder);
  const auto w = b.waits("order");
  b.enqueue(w);
  const auto end = b.now() + patience;
  for (auto before = reads();; before = reads()) {
    ASSERT_EQ(b.keep(w, fate::waiting, w.waiter_ttl), fate::waiting);
    if (reads() == before) break;
    ASSERT_LT(b.now(), end);
  }
  a.release(holder);
  b.await(event::kind::wake, w.who);
  EXPECT_EQ(b.keep(w, fate::waiting, w.waiter_ttl), fate::holding);
  b.lock(w);
}

// It was: so many stood in line for one name that the last of them had no time left, and the server was taken for gone.
TEST_F(etcd_keeping, a_request_that_waited_in_line_for_too_long_does_not_make_the_server_look_gone) {
  const auto holder = a.wants("order");
  a.lock(holder);
  client hasty{prefix, 1s};  // long enough that a busy machine answers within half of it
  std::size_t answered = 0, too_late = 0;
  constexpr std::size_t many = 6000;  // one after the other, each takes the server some tenths of a millisecond
  for (std::size_t i = 0; i < many; ++i) {
    hasty.raw().acquire(hasty.waits("order").request(), [&](auto&& o) {
      ++answered;
      if (std::holds_alternative<engine::failure>(o.result)) ++too_late;
    });
  }
  hasty.pump_until([&] { return answered == many; }, "all answers");
  EXPECT_GT(too_late, 0U);
  hasty.pump_until(hasty.now() + 100ms);
  EXPECT_EQ(hasty.count(event::kind::down), 0U);
}

}  // namespace tyer::contract
