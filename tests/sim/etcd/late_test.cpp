// A write arrives 3 to 15 s late, long after whoever asked for it has given up: never two holders, and nothing stays for ever.
// Two holders at once are found by the judge, at every write.
#include "sim/etcd/one_client.hpp"

namespace tyer::sim::etcd {
namespace {

using layout = one_client::layout;

bool puts(const pb::TxnRequest& t) {
  return std::ranges::any_of(t.success(), [](const auto& o) { return o.has_request_put(); });
}
bool deletes(const pb::TxnRequest& t) {
  return std::ranges::any_of(t.success(), [](const auto& o) {
    return o.has_request_delete_range() || (o.has_request_txn() && deletes(o.request_txn()));
  });
}

// Two clients: the writes of the first are late.
struct scene : etcd_scripted {
  explicit scene(layout l) {
    for (auto* c : {&from_, &other_}) {
      *c = std::make_unique<one_client>(time, fake, all, one_client::more{}, 20s, l);
    }
  }
  void TestBody() override {}

  void delay(int count, duration by, bool (*such)(const pb::TxnRequest&)) {
    fake.decide = [this, by, such, count](const exchange& e) {
      pb::TxnRequest t;
      const bool now = e.client == 2 && e.method == "Txn" && t.ParseFromString(e.request) && such(t) && late < count;
      late += now ? 1 : 0;
      return journey{.there = now ? by : duration{500us}, .back = 500us};
    };
  }
  // Others keep the leases, as it were: no key goes by itself.
  void pass(duration d) {
    for (const auto end = time.now() + d; time.now() < end; a.run_for(50ms)) data.renew_leases();
  }
  // The other takes the lock and lets go of it, again and again.
  int lock_for(duration d) {
    int grants = 0;
    for (const auto end = time.now() + d; time.now() < end; pass(50ms)) {
      const auto who = other().next_id();
      const auto o = other().acquire(who);
      if (granted_in(o) != nullptr) {
        ++grants;
        pass(200ms);
      }
      other().release(who);
    }
    return grants;
  }
  void expect_nothing_left() {
    pass(ttl + 15s + 5s);
    EXPECT_EQ(data.all().size(), 0u) << "something was left for ever";
  }
  static fate said(const outcome<seam::kept>& o) {
    const auto* k = std::get_if<seam::kept>(&o.result);
    return k != nullptr ? k->fates.front() : fate::unknown;
  }
  static bool has_verdict(const outcome<fate>& o) { return std::holds_alternative<fate>(o.result); }

  one_client& from() { return *from_; }
  one_client& other() { return *other_; }
  int late = 0;

 private:
  std::unique_ptr<one_client> from_, other_;
};

// Others are busy with the name when it arrives, or leave it alone until then.
enum class meanwhile : std::uint8_t { busy, quiet };

void in_every_scene(const std::function<void(scene&, duration by, meanwhile)>& play) {
  for (const auto form : {layout::tyers, layout::gos}) {
    for (const auto others : {meanwhile::busy, meanwhile::quiet}) {
      for (const duration by : {3s, 5s, 8s, 11s, 15s}) {
        SCOPED_TRACE(std::to_string(by / 1s) + " s late, " + (others == meanwhile::busy ? "others busy" : "quiet") +
                     (form == layout::gos ? ", Go's layout" : ""));
        scene s{form};
        play(s, by, others);
      }
    }
  }
}

TEST(etcd_late, a_lock_that_was_free_is_taken_away_again) {
  in_every_scene([](scene& s, duration by, meanwhile others) {
    const auto who = s.from().next_id();
    s.delay(2, by, puts);
    EXPECT_NE(failure_in(s.from().acquire(who)), nullptr);
    ASSERT_GT(s.late, 0);
    s.from().release(who);
    if (others == meanwhile::quiet) s.pass(by + 1s);
    EXPECT_GT(s.lock_for(by + 2s), 5) << "it was in the way of others";
    s.expect_nothing_left();
  });
}

TEST(etcd_late, a_place_in_the_queue_is_taken_away_again) {
  in_every_scene([](scene& s, duration by, meanwhile others) {
    const auto holder = s.other().next_id(), who = s.from().next_id();
    ASSERT_NE(granted_in(s.other().acquire(holder)), nullptr);
    s.delay(2, by, puts);
    EXPECT_NE(failure_in(s.from().acquire(who, true)), nullptr);
    ASSERT_GT(s.late, 0);
    s.from().release(who);
    const auto until = s.time.now() + by + 1s;
    while (others == meanwhile::quiet && s.time.now() < until) {
      ASSERT_EQ(scene::said(s.other().keep(holder)), fate::holding);
      s.pass(500ms);
    }
    s.other().release(holder);
    EXPECT_GT(s.lock_for(by + 2s), 5) << "it was in the way of others";
    s.expect_nothing_left();
  });
}

// And is asked for once more meanwhile, until it is there: then it is held, once.
TEST(etcd_late, a_place_that_is_asked_for_again_is_one_hold) {
  in_every_scene([](scene& s, duration by, meanwhile) {
    const auto who = s.from().next_id();
    s.delay(1, by, puts);
    EXPECT_NE(failure_in(s.from().acquire(who, true)), nullptr);
    ASSERT_EQ(s.late, 1);
    const auto end = s.time.now() + 20s;
    bool granted = false;
    for (; !granted && s.time.now() < end; s.pass(50ms)) {
      const auto o = s.from().acquire(who, true);
      granted = granted_in(o) != nullptr;
    }
    ASSERT_TRUE(granted);
    const auto until = s.time.now() + by + 1s;
    for (; s.time.now() < until; s.pass(500ms)) {
      ASSERT_EQ(scene::said(s.from().keep(who)), fate::holding);
      const auto o = s.other().acquire(s.other().next_id());
      ASSERT_EQ(granted_in(o), nullptr) << "two holders";
    }
    EXPECT_TRUE(scene::has_verdict(s.from().release(who)));
    s.expect_nothing_left();
  });
}

TEST(etcd_late, a_release_takes_nothing_from_whoever_came_since) {
  in_every_scene([](scene& s, duration by, meanwhile) {
    const auto who = s.from().next_id(), next = s.other().next_id();
    ASSERT_NE(granted_in(s.from().acquire(who)), nullptr);
    s.other().acquire(next, true);  // it waits
    s.delay(1, by, deletes);
    EXPECT_FALSE(scene::has_verdict(s.from().release(who)));
    ASSERT_EQ(s.late, 1);
    bool released = false;
    for (int tries = 0; !released && tries < 20; ++tries, s.pass(50ms)) {
      s.other().keep(next, fate::waiting);
      released = scene::has_verdict(s.from().release(who));
    }
    ASSERT_TRUE(released);
    const auto has = s.other().acquire(next, true);
    ASSERT_NE(granted_in(has), nullptr);
    const auto until = s.time.now() + by + 1s;
    for (; s.time.now() < until; s.pass(500ms)) {
      ASSERT_EQ(scene::said(s.other().keep(next)), fate::holding) << "it was taken away";
      const auto o = s.from().acquire(s.from().next_id());
      ASSERT_EQ(granted_in(o), nullptr) << "two holders";
    }
    s.other().release(next);
    s.expect_nothing_left();
  });
}

// A longer ttl is written; else a renewal writes nothing.
TEST(etcd_late, a_keep_gives_nothing_back_that_is_over) {
  in_every_scene([](scene& s, duration by, meanwhile others) {
    const auto who = s.from().next_id();
    ASSERT_NE(granted_in(s.from().acquire(who)), nullptr);
    s.delay(1, by, puts);
    const seam::target t{who, "order"};
    const auto o = s.from().call<seam::kept>(
        [&](auto reply) { s.from().raw().keep({&t, 1}, fate::holding, 5 * ttl, std::move(reply)); });
    EXPECT_TRUE(std::holds_alternative<seam::failure>(o.result));
    ASSERT_EQ(s.late, 1);
    if (others == meanwhile::quiet) s.pass(by + 1s);
    EXPECT_GT(s.lock_for(std::max<duration>(by, ttl) + 5s), 5) << "it was in the way of others";
    EXPECT_EQ(scene::said(s.from().keep(who)), fate::gone);
    s.expect_nothing_left();
  });
}

}  // namespace
}  // namespace tyer::sim::etcd
