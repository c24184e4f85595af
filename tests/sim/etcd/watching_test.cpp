// Watches, where the server has forgotten what they are to begin with.
#include "sim/etcd/handover.hpp"

namespace tyer::sim::etcd {
namespace {

struct etcd_watching : etcd_scripted, ::testing::WithParamInterface<one_client::layout> {
  // Its hold is watched. Others write, the server forgets all but the newest, and the connection breaks.
  void hold_and_be_cut() {
    ASSERT_NE(granted_in(c.acquire(who)), nullptr);
    c.run_for(500ms);
    auto r = b.wants(b.next_id());
    r.what.name = "another";
    b.call<answer>([&](auto reply) { b.raw().acquire(r, std::move(reply)); });
    data.compact();
    const auto before = c.ups();
    fake.cut(2);
    ASSERT_TRUE(c.run_until([&] { return c.ups() > before; }));
  }
  bool is_told_when_it_is_asked() {
    c.call<std::uint32_t>([&](auto reply) { c.raw().ask("order", "soon", std::move(reply)); });
    return c.run_until([&] { return c.questioned == std::vector{who}; }, 1s);
  }
  one_client c{time, fake, all, {}, 20s, GetParam()};
  const id who = c.next_id();
};

// It was: a key that was not written since was watched from its last write again and again, each time to hear that this is
// forgotten, and read each time between.
TEST_P(etcd_watching, of_a_hold_from_what_was_compacted_was_asked_for_without_end) {
  hold_and_be_cut();
  c.run_for(500ms);
  const auto after = cost([&] { c.run_for(1s); });
  EXPECT_TRUE(after.empty()) << after.begin()->first << ' ' << after.begin()->second;
  EXPECT_TRUE(is_told_when_it_is_asked());
}

// It was: if that read failed, the hold was not watched any more.
TEST_P(etcd_watching, of_a_hold_did_not_come_back_after_a_read_that_failed) {
  bool failed = false;
  fake.decide = [&](const exchange& e) {
    pb::TxnRequest t;
    const bool own = e.client == 2 && e.method == "Txn" && t.ParseFromString(e.request) && t.success_size() == 1 &&
                     data.all().contains(t.success(0).request_range().key());
    return journey{.there = 500us, .back = 500us, .refused = own && !std::exchange(failed, true)};
  };
  hold_and_be_cut();
  c.run_for(1s);
  ASSERT_TRUE(failed);
  EXPECT_TRUE(is_told_when_it_is_asked());
}

INSTANTIATE_TEST_SUITE_P(in, etcd_watching, ::testing::Values(one_client::layout::tyers, one_client::layout::gos),
                         [](const auto& of) { return of.param == one_client::layout::gos ? "gos" : "tyers"; });

// It was: each was read by itself, and all of them at once.
TEST_F(etcd_scripted, holds_whose_watches_began_before_a_compaction_were_read_one_by_one) {
  data.on_write = nullptr;
  constexpr int many = 250;
  for (int i = 0; i < many; ++i) {
    const auto name = "many/" + std::to_string(i);
    auto r = a.wants(a.next_id());
    r.what.name = name;
    ASSERT_NE(granted_in(a.call<answer>([&](auto reply) { a.raw().acquire(r, std::move(reply)); })), nullptr);
  }
  a.run_for(500ms);
  b.acquire(b.next_id());
  data.compact();
  const auto before = a.ups();
  const auto spent = cost([&] {
    fake.cut(0);
    ASSERT_TRUE(a.run_until([&] { return a.ups() > before; }));
    a.run_for(500ms);
  });
  EXPECT_LE(spent.at("Range"), 1) << "the one that finds the server";
  EXPECT_LE(spent.at("Txn"), 10);
  EXPECT_TRUE(a.lost.empty());
}

// --- what is told of the own key before the answer that gives it ---

// It was: the end was told to nobody, since it had not been told yet that it has the lock; then it was, and for a third of its ttl
// it did not know better.
TEST_F(etcd_hand_over, that_was_claimed_and_taken_away_before_the_answer_to_that_was_heard_is_over) {
  const auto h = holds(a), next = waits(b);
  let_go(h);
  ASSERT_TRUE(a.run_until([&] { return was_told(b, next.who); }, 1s));
  fake.decide = [](const exchange& e) { return journey{500us, e.client == 1 ? duration{50ms} : duration{500us}}; };
  std::optional<outcome<answer>> said;
  fake.acting = 1;
  b.raw().acquire(b.wants(next.who, true), [&](outcome<answer>&& o) { said = std::move(o); });
  a.run_for(5ms);
  const auto was = a.call<fate>([&](auto reply) { a.raw().evict({next.who, "order"}, "by hand", std::move(reply)); });
  EXPECT_EQ(std::get<fate>(was.result), fate::holding);
  ASSERT_TRUE(a.run_until([&] { return !b.lost.empty(); }, 20ms));
  ASSERT_FALSE(said);
  b.lost.clear();
  ASSERT_TRUE(a.run_until([&] { return said.has_value(); }, 1s));
  if (granted_in(*said) == nullptr) return;  // it knows
  EXPECT_TRUE(a.run_until([&] { return !b.lost.empty(); }, 20ms)) << "it believes that it holds";
}

// --- those of observers ---

struct etcd_observing : etcd_scripted {
  void write_some() {
    for (int i = 0; i < 5; ++i) {
      const auto who = b.next_id();
      ASSERT_NE(granted_in(b.acquire(who)), nullptr);
      b.release(who);
    }
  }
};

// It was: whoever observed a name before its client was connected was told all that had ever happened there.
TEST_F(etcd_observing, before_the_first_connection_began_with_all_that_the_server_remembers) {
  write_some();
  const auto before = data.revision();
  std::vector<std::int64_t> begins;
  fake.on_call = [&](const exchange& e) {
    pb::WatchRequest r;
    if (e.client == 2 && e.method == "Watch" && r.ParseFromString(e.request) && r.has_create_request())
      begins.push_back(r.create_request().start_revision());
  };
  one_client c{time, fake, all, {}, duration{0}};
  c.raw().watch("order", true);
  ASSERT_TRUE(c.run_until([&] { return c.ups() > 0; }));
  c.run_for(100ms);
  EXPECT_EQ(begins, std::vector{before + 1});
}

// It was: a client that only observes knew the revision of its connection alone, and began there again and again.
TEST_F(etcd_observing, of_another_name_after_a_compaction_was_asked_for_without_end) {
  a.raw().watch("another", true);
  a.run_for(100ms);
  write_some();
  data.compact();
  a.raw().watch("order", true);
  a.run_for(100ms);
  const auto after = cost([&] { a.run_for(1s); });
  EXPECT_TRUE(after.empty()) << after.begin()->first << ' ' << after.begin()->second;
}

}  // namespace
}  // namespace tyer::sim::etcd
