// etcd refuses to write (NOSPACE): nobody is told that it holds what it does not, or has lost what it has.
//
// Leases are kept and keys deleted as before; so holds live on and can be given back, and nobody new gets one.
#include "contract/engine/harness.hpp"
#include "contract/etcd/deployment.hpp"

#include <functional>
#include <future>
#include <string>
#include <utility>

namespace tyer::contract {
namespace {

struct no_space : engine_contract {
  ~no_space() override { free(); }

  // It takes its time; meanwhile somebody may have something to keep.
  void fill(const std::function<void()>& meanwhile = [] {}) {
    full_ = true;
    auto filled = std::async(std::launch::async, [] { ordered("fill"); });
    while (filled.wait_for(10ms) != std::future_status::ready) meanwhile();
    filled.get();
  }
  void free() {
    if (std::exchange(full_, false)) ordered("free");
  }

  // For longer than it would last by itself.
  static void expect_kept(client& of, const want& w, fate as, milliseconds ttl) {
    const auto end = of.now() + 2 * std::max<milliseconds>(ttl, 2s);
    while (of.now() < end) {
      ASSERT_EQ(of.keep(w, as, ttl), as);
      of.pump_until(of.now() + ttl / 3);
    }
  }

 private:
  static void ordered(const std::string& command) { ::contract::said_by("'" TYER_OPERATOR "' " + command); }

  bool full_ = false;
};

TEST_F(no_space, a_hold_is_kept_and_given_back) {
  auto w = a.wants("order");
  w.ttl = 3s;
  a.lock(w);
  fill([&] { ASSERT_EQ(a.keep(w, fate::holding, w.ttl), fate::holding); });
  expect_kept(a, w, fate::holding, w.ttl);
  EXPECT_EQ(a.release(w), fate::holding);
  EXPECT_EQ(a.listed(w), std::nullopt);
}

TEST_F(no_space, a_place_is_kept_and_given_back) {
  a.lock(a.wants("order"));
  const auto w = b.waits("order");
  b.enqueue(w);
  fill();
  expect_kept(b, w, fate::waiting, 2s);
  EXPECT_EQ(b.release(w), fate::waiting);
  EXPECT_EQ(b.listed(w), std::nullopt);
}

// It was: the hand-over is a write, so it was refused, and with it the release.
TEST_F(no_space, a_hold_that_others_wait_for_is_given_back) {
  const auto holder = a.wants("order");
  a.lock(holder);
  const auto w = b.waits("order");
  b.enqueue(w);
  const auto behind = c.waits("order");
  c.enqueue(behind);
  fill();
  EXPECT_EQ(a.release(holder), fate::holding);
  EXPECT_EQ(a.listed(holder), std::nullopt);
  // The next is told, cannot be granted it, and has not lost its place.
  b.await(event::kind::wake, w.who);
  EXPECT_EQ(b.find_failure(w).kind, why::over_limit);
  EXPECT_NE(b.keep(w, fate::waiting, w.waiter_ttl), fate::gone);
  free();
  b.wait_turn(w);
  EXPECT_EQ(b.release(w), fate::holding);
  c.wait_turn(behind);
}

TEST_F(no_space, a_hold_that_others_wait_for_can_be_broken) {
  const auto holder = a.wants("order");
  a.lock(holder);
  const auto w = b.waits("order");
  b.enqueue(w);
  fill();
  EXPECT_EQ(c.evict(holder), fate::holding);
  EXPECT_EQ(a.keep(holder, fate::holding, holder.ttl), fate::gone);
  free();
  b.wait_turn(w);
}

TEST_F(no_space, who_asks_is_told_why_and_leaves_nothing_behind) {
  fill();
  const auto w = a.wants("order");
  const auto failed = a.find_failure(w);
  EXPECT_EQ(failed.kind, why::over_limit);
  EXPECT_NE(failed.words.find("space"), failed.words.npos) << failed.words;
  EXPECT_EQ(a.find_failure(a.waits("order")).kind, why::over_limit);
  EXPECT_EQ(a.release(w), fate::gone);
  free();
  EXPECT_TRUE(b.could_lock(b.wants("order")));
}

TEST_F(no_space, a_hold_that_cannot_be_converted_stays_what_it_was) {
  if (!can().convert) GTEST_SKIP() << "this layout has no conversions";
  const auto w = a.wants("order", mode::shared);
  a.lock(w);
  fill();
  const auto o = a.convert(w, mode::exclusive);
  ASSERT_TRUE(std::holds_alternative<engine::failure>(o.result));
  EXPECT_EQ(std::get<engine::failure>(o.result).kind, why::over_limit);
  EXPECT_EQ(a.keep(w, fate::holding, w.ttl), fate::holding);
  free();
  EXPECT_TRUE(b.could_lock(b.wants("order", mode::shared)));
  b.find_busy(b.wants("order"));
}

}  // namespace
}  // namespace tyer::contract
