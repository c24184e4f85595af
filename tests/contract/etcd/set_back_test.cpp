// etcd's data is set back to what a snapshot has: revisions run backwards, and the cluster looks the same as before.
#include "contract/engine/harness.hpp"
#include "contract/etcd/deployment.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

namespace tyer::contract {
namespace {

struct set_back : engine_contract {
  ~set_back() override { std::remove(file_.c_str()); }

  void save() {
    std::remove(file_.c_str());
    ordered("save " + file_);
  }
  // Everybody is connected again when it returns.
  void restore(const std::string& bump = {}) {
    std::size_t before[] = {a.count(event::kind::up), b.count(event::kind::up), c.count(event::kind::up)};
    ordered("restore " + file_ + ' ' + bump);
    std::size_t* were = before;
    for (client* one : {&a, &b, &c}) {
      one->pump_until([one, n = *were++] { return one->count(event::kind::up) > n; }, "up()");
    }
  }
  // So many revisions are used up.
  void let_pass(int writes) {
    for (int i = 0; i < writes; ++i) EXPECT_TRUE(c.could_lock(c.wants("other")));
  }

 private:
  static void ordered(const std::string& command) { ::contract::said_by("'" TYER_OPERATOR "' " + command); }

  const std::string file_ = ::testing::TempDir() + "tyer-snapshot-" + std::to_string(::getpid());
};

TEST_F(set_back, a_hold_from_before_the_snapshot_goes_on) {
  const auto w = a.wants("order");
  const auto part = a.lock(w).part;
  save();
  let_pass(5);
  restore();
  EXPECT_EQ(a.keep(w, fate::holding, w.ttl), fate::holding);
  EXPECT_EQ(a.listed(w)->part, part);
  b.find_busy(b.wants("order"));
  EXPECT_EQ(a.release(w), fate::holding);
}

TEST_F(set_back, a_hold_from_after_it_is_found_to_be_gone) {
  save();
  const auto w = a.wants("order");
  a.lock(w);
  a.pump_until(a.now() + 500ms);  // it is watched now
  a.keep(w, fate::holding, w.ttl);
  restore();
  EXPECT_EQ(a.keep(w, fate::holding, w.ttl), fate::gone);
}

TEST_F(set_back, tokens_run_backwards_but_for_whoever_has_seen_larger_ones) {
  const auto early = a.wants("order");
  const auto first = a.lock(early).part;
  a.release(early);
  save();
  let_pass(10);
  const auto late = a.wants("order");
  const auto before = a.lock(late).part;
  restore();
  // One who knows nothing.
  const auto unaware = b.wants("order");
  const auto lower = b.lock(unaware).part;
  EXPECT_GT(lower, first);
  EXPECT_LT(lower, before);
  b.release(unaware);
  // One who does: from there on all have larger ones, for as long as somebody has or had it since.
  auto aware = a.wants("order");
  aware.seen = before;
  if (!can().above_seen) {
    EXPECT_EQ(a.find_failure(aware).kind, why::refused);
    return;
  }
  EXPECT_GT(a.lock(aware).part, before);
  EXPECT_EQ(a.release(aware), fate::holding);
}

TEST_F(set_back, with_a_bump_tokens_go_on_growing) {
  save();
  let_pass(10);
  const auto w = a.wants("order");
  const auto before = a.lock(w).part;
  restore("1000000");
  EXPECT_EQ(a.keep(w, fate::holding, w.ttl), fate::gone);
  EXPECT_GT(b.lock(b.wants("order")).part, before);
}

// It was: watches went on from a revision that the server would reach only much later.
TEST_F(set_back, one_who_waits_and_one_who_observes_are_told_what_happens_afterwards) {
  const auto holder = b.wants("order");
  b.lock(holder);
  const auto w = a.waits("order");
  a.enqueue(w);
  save();
  let_pass(20);
  if (a.can().shared) {  // the place is written again, at a revision that will not be there
    EXPECT_EQ(a.keep(w, fate::waiting, 2 * w.waiter_ttl), fate::waiting);
  }
  a.raw().watch("order", true);
  a.round_trip();
  restore();
  EXPECT_EQ(a.keep(w, fate::waiting, w.waiter_ttl), fate::waiting);
  a.pump_until(a.now() + 200ms);
  EXPECT_EQ(a.keep(w, fate::waiting, w.waiter_ttl), fate::waiting);
  const auto changes = a.count(event::kind::changed);
  EXPECT_EQ(b.release(holder), fate::holding);
  a.await(event::kind::wake, w.who);
  a.pump_until([&] { return a.count(event::kind::changed) > changes; }, "changed()");
  a.lock(w);
}

}  // namespace
}  // namespace tyer::contract
