// Each request of an operation is lost, refused, broken off, repeated or late, one after the other, and what the engine says
// of it must be true.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

struct misfortune {
  const char* name;
  journey way;
};
std::vector<misfortune> misfortunes() {
  constexpr duration there = 500us, back = 500us;
  return {{"the request is lost", {.there = there, .back = back, .request_lost = true}},
          {"the answer is lost", {.there = there, .back = back, .answer_lost = true}},
          {"it is refused", {.there = there, .back = back, .refused = true}},
          {"it is broken off", {.there = there, .back = back, .broken_off = true}},
          {"it is repeated", {.there = there, .back = back, .repeated = true}},
          {"the request is late", {.there = timeout + 500ms, .back = back}},
          {"the answer is late", {.there = there, .back = timeout + 500ms}}};
}

struct etcd_misfortune : etcd_scripted {
  // The n-th call from now on has this misfortune, and all that follow it none.
  void strike(int n, const journey& way) {
    fake.decide = [this, n, way, seen = 0](const exchange& e) mutable {
      const bool mine = e.client == 0 && e.method != "Status";
      if (mine && seen++ == n) {
        struck = true;
        return way;
      }
      return journey{500us, 500us};
    };
    struck = false;
  }
  // Until the caller has a verdict, as a runtime would; every answer on the way there must be true.
  outcome<answer> acquire_at_last(const id& who) {
    for (int tries = 0; tries < 20; ++tries) {
      auto o = a.acquire(who, true);
      if (failure_in(o) == nullptr) return o;
      EXPECT_TRUE(failure_in(o)->kind == seam::why::unknown || failure_in(o)->kind == seam::why::not_sent)
          << failure_in(o)->words;
      a.run_for(50ms);
    }
    ADD_FAILURE() << "never a verdict";
    return {};
  }
  fate release_at_last(const id& who) {
    for (int tries = 0; tries < 20; ++tries) {
      const auto o = a.release(who);
      if (const auto* f = std::get_if<fate>(&o.result)) return *f;
      a.run_for(50ms);
    }
    ADD_FAILURE() << "never a verdict";
    return fate::gone;
  }

  bool struck = false;
};

TEST_F(etcd_misfortune, of_any_request_of_a_lock_leaves_it_held_once_or_free) {
  for (const auto& m : misfortunes()) {
    for (int n = 0; n < 4; ++n) {
      SCOPED_TRACE(std::string{m.name} + ", of request " + std::to_string(n));
      strike(n, m.way);
      const auto who = a.next_id();
      const auto o = acquire_at_last(who);
      const auto* g = granted_in(o);
      ASSERT_NE(g, nullptr);
      EXPECT_EQ(judge.left(data.all()), 1u);
      EXPECT_LE(o.sent, time.now());
      EXPECT_NE(release_at_last(who), fate::waiting);
      b.run_for(100ms);
      EXPECT_EQ(judge.left(data.all()), 0u);
      a.run_for(20s);  // whatever was late has come
      EXPECT_EQ(judge.left(data.all()), 0u) << "something came back";
    }
  }
}

TEST_F(etcd_misfortune, of_any_request_of_a_release_gives_the_lock_to_the_next) {
  for (const auto& m : misfortunes()) {
    for (int n = 0; n < 3; ++n) {
      SCOPED_TRACE(std::string{m.name} + ", of request " + std::to_string(n));
      fake.decide = [](const exchange&) { return journey{500us, 500us}; };
      const auto first = a.next_id(), next = b.next_id();
      ASSERT_NE(granted_in(acquire_at_last(first)), nullptr);
      const auto queued = b.acquire(next, true);
      ASSERT_TRUE(std::holds_alternative<seam::queued>(std::get<answer>(queued.result)));
      strike(n, m.way);
      release_at_last(first);
      ASSERT_TRUE(b.run_until([&] { return std::ranges::find(b.woken, next) != b.woken.end(); })) << "nobody woke it";
      EXPECT_NE(granted_in(b.acquire(next, true)), nullptr);
      b.release(next);
      a.run_for(20s);
      EXPECT_EQ(judge.left(data.all()), 0u);
    }
  }
}

TEST_F(etcd_misfortune, of_any_request_that_keeps_a_hold_is_not_taken_for_a_verdict) {
  for (const auto& m : misfortunes()) {
    SCOPED_TRACE(m.name);
    const auto who = a.next_id();
    ASSERT_NE(granted_in(acquire_at_last(who)), nullptr);
    a.run_for(ttl / 3);
    strike(0, m.way);
    const auto o = a.keep(who);
    if (const auto* kept = std::get_if<seam::kept>(&o.result)) {
      EXPECT_EQ(kept->fates.front(), fate::holding);
    }
    EXPECT_EQ(judge.left(data.all()), 1u);
    fake.decide = [](const exchange&) { return journey{500us, 500us}; };
    release_at_last(who);
  }
}

}  // namespace
}  // namespace tyer::sim::etcd
