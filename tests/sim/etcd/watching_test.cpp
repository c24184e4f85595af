// Watches, where the server has forgotten what they are to begin with.
#include "sim/etcd/one_client.hpp"

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
    pb::RangeRequest r;
    const bool own =
        e.client == 2 && e.method == "Range" && r.ParseFromString(e.request) && data.all().contains(r.key());
    return journey{.there = 500us, .back = 500us, .refused = own && !std::exchange(failed, true)};
  };
  hold_and_be_cut();
  c.run_for(1s);
  ASSERT_TRUE(failed);
  EXPECT_TRUE(is_told_when_it_is_asked());
}

INSTANTIATE_TEST_SUITE_P(in, etcd_watching, ::testing::Values(one_client::layout::tyers, one_client::layout::gos),
                         [](const auto& of) { return of.param == one_client::layout::gos ? "gos" : "tyers"; });

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
