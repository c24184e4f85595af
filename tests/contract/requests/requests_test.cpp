// How many requests an operation costs, counted by the server: what an engine sends, not what a script does inside of it
// (unit/redis/scripts/cost_test.cpp). Figures that grow are a regression; one that falls is pinned anew.
//
//                            redis   etcd   postgres   mysql
//   acquire what is free         1      1          1       1
//   release                      1      1          1       1
//   hand over, and its claim     2      3          4      12     etcd: who is next, the hand-over, and the claim; postgres: a bell
//                                                                too; mysql: with what looks for the bell, every 10 ms at first
//   renew one                    1      1          1       1     once it is watched
//   renew a thousand             5      1          1       1     once they are watched; a keep() has at most keep_batch
//   convert                      1      2          2       2     all but Redis read first
//   ask                          1      2          2       2
//   confirm                      1      2          1       1     etcd: its lease, and the hold's key
#include "contract/engine/harness.hpp"
#include "contract/requests/counter.hpp"

#include <algorithm>
#include <span>

namespace tyer::contract {

struct figures {
  std::uint64_t acquire, release, hand_over_max, keep_one, keep_thousand, convert, ask, confirm;
};

figures figures_of(request_counter::family f) {
  switch (f) {
    case request_counter::family::redis: return {1, 1, 2, 1, 5, 1, 1, 1};
    case request_counter::family::etcd: return {1, 1, 3, 1, 1, 2, 2, 2};
    case request_counter::family::postgres: return {1, 1, 4, 1, 1, 2, 2, 1};
    case request_counter::family::mysql: return {1, 1, 12, 1, 1, 2, 2, 1};
  }
  return {};
}

struct requests_contract : engine_contract {
  const request_counter counter;
  const figures expected = figures_of(counter.of());

  void SetUp() override {
    const auto warm = a.wants("warm");  // scripts are loaded, leases granted
    a.lock(warm);
    a.release(warm);
    const auto held = a.wants("warm");
    a.lock(held);
    b.enqueue(b.waits("warm"));
  }

  template <class F>
  std::uint64_t cost(F act) {
    const auto before = counter.requests();
    act();
    return counter.requests() - before;
  }
  // An engine also sends what no call asked for: it renews a lease, or looks after one who waits. That falls into some
  // of these turns and not into all of them.
  static constexpr int turns = 5;
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  std::vector<want> hold(std::size_t n) {
    std::vector<want> all;
    std::size_t granted = 0;
    for (std::size_t i = 0; i < n; ++i) {
      all.push_back(a.wants("order/" + std::to_string(i)));
      a.raw().acquire(all.back().request(), [&](auto&& o) { granted += granted_in(o) != nullptr ? 1 : 0; });
    }
    a.pump_until([&] { return granted == n; }, "all grants");
    return all;
  }
  void keep(const std::vector<want>& all, milliseconds ttl) {
    std::vector<engine::target> targets;
    for (const auto& w : all) targets.push_back(w.target());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < targets.size(); i += can().keep_batch) {
      const auto some = std::span{targets}.subspan(i, std::min(can().keep_batch, targets.size() - i));
      a.raw().keep(some, fate::holding, ttl, [&](auto&& o) {
        for (const auto f : value_of(std::move(o)).fates) kept += f == fate::holding ? 1 : 0;
      });
    }
    a.pump_until([&] { return kept == all.size(); }, "all of them kept");
  }
  // What a renewal costs once it has been renewed before: an engine may have to begin to watch what it keeps.
  std::uint64_t cost_of_keeping(const std::vector<want>& all) {
    constexpr milliseconds ttl = 6s;
    auto least = cost([&] { keep(all, ttl); });
    for (int i = 0; i < 3; ++i) {
      a.pump_until(a.now() + ttl / 5);  // longer ago than an answer may be dated
      least = std::min(least, cost([&] { keep(all, ttl); }));
    }
    return least;
  }
};

TEST_F(requests_contract, of_a_lock_that_nobody_else_wants) {
  std::uint64_t acquire = never, release = never;
  for (int i = 0; i < turns; ++i) {
    const auto w = a.wants("order");
    acquire = std::min(acquire, cost([&] { a.lock(w); }));
    release = std::min(release, cost([&] { a.release(w); }));
  }
  EXPECT_EQ(acquire, expected.acquire);
  EXPECT_EQ(release, expected.release);
}

TEST_F(requests_contract, of_a_hand_over) {
  std::uint64_t sent = never;
  for (int i = 0; i < turns; ++i) {
    const auto first = a.wants("order"), next = b.waits("order");
    a.lock(first);
    b.enqueue(next);
    b.pump_until(b.now() + 50ms);
    sent = std::min(sent, cost([&] {
                      a.release(first);
                      b.await(event::kind::wake, next.who);
                      b.lock(next);
                    }));
    b.release(next);
  }
  EXPECT_LE(sent, expected.hand_over_max);
  EXPECT_GE(sent, 2u);
}

TEST_F(requests_contract, of_renewing_one) { EXPECT_EQ(cost_of_keeping(hold(1)), expected.keep_one); }

TEST_F(requests_contract, of_renewing_a_thousand) { EXPECT_EQ(cost_of_keeping(hold(1000)), expected.keep_thousand); }

TEST_F(requests_contract, of_a_conversion) {
  const auto w = a.wants("order");
  a.lock(w);
  std::uint64_t down = never, up = never;
  for (int i = 0; i < turns; ++i) {
    down = std::min(down, cost([&] { value_of(a.convert(w, mode::shared)); }));
    up = std::min(up, cost([&] { value_of(a.convert(w, mode::exclusive)); }));
  }
  EXPECT_EQ(down, expected.convert);
  EXPECT_EQ(up, expected.convert);
}

TEST_F(requests_contract, of_a_confirmation) {
  const auto w = a.wants("order");
  a.lock(w);
  std::uint64_t sent = never;
  for (int i = 0; i < turns; ++i) {
    sent = std::min(sent, cost([&] {
                      bool stands = false;
                      a.raw().confirm(w.target(), 6s, [&](auto&& o) {
                        stands = value_of(std::move(o)).fates.front() == fate::holding;
                      });
                      a.pump_until([&] { return stands; }, "the confirmation");
                    }));
  }
  EXPECT_EQ(sent, expected.confirm);
}

TEST_F(requests_contract, of_a_question) {
  a.lock(a.wants("order"));
  std::uint64_t ask = never;
  for (int i = 0; i < turns; ++i) ask = std::min(ask, cost([&] { EXPECT_EQ(b.ask("order", "please"), 1u); }));
  EXPECT_EQ(ask, expected.ask);
}

}  // namespace tyer::contract
