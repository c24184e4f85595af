// Who watches whom, and what it costs: those who come and go behind one are none of its business, and those of many names do not all
// look in the same moment.
#include "sim/etcd/handover.hpp"

#include <memory>
#include <string>
#include <vector>

namespace tyer::sim::etcd {
namespace {

struct etcd_looks_ahead : etcd_hand_over {
  one_client c{time, fake, all};

  int looks_of(std::size_t client, const std::function<void()>& meanwhile) {
    int looks = 0;
    fake.on_call = [&](const exchange& e) { looks += e.client == client && e.method == "Txn" ? 1 : 0; };
    meanwhile();
    fake.on_call = nullptr;
    return looks;
  }
};

// It was: the first of the queue watched all keys of the name, and looked each time that one behind it gave up.
TEST_F(etcd_looks_ahead, the_first_of_the_queue_looked_whenever_one_behind_it_gave_up) {
  const auto h = holds(a), head = waits(b);
  a.run_for(600ms);  // it watches
  const int looks = looks_of(1, [&] {
    for (int i = 0; i < 20; ++i) {
      let_go(waits(c));
      a.run_for(20ms);
    }
  });
  EXPECT_EQ(looks, 0);
  EXPECT_EQ(let_go(h), fate::holding);
  EXPECT_TRUE(has_turn(head));
}

// Two hold, and both die; the one that was watched is the first of them.
TEST_F(etcd_looks_ahead, the_last_of_several_readers_that_die_is_found_by_the_writer_behind_them) {
  auto d = std::make_unique<one_client>(time, fake, all), e = std::make_unique<one_client>(time, fake, all);
  ASSERT_NE(granted_in(d->acquire(d->next_id(), true, mode::shared)), nullptr);
  const auto stays = e->next_id();
  ASSERT_NE(granted_in(e->acquire(stays, true, mode::shared)), nullptr);
  const auto writer = waits(b);
  a.run_for(600ms);
  d->destroy();
  for (int i = 0; i < 40; ++i) {
    e->keep(stays);
    b.keep(writer.who, fate::waiting);
    a.run_for(250ms);
  }
  EXPECT_FALSE(was_told(b, writer.who));
  e->destroy();
  EXPECT_TRUE(has_turn_while_it_keeps_its_place(writer, 20s));
}

// Whichever of them goes makes room, so it watches all of them.
TEST_F(etcd_looks_ahead, any_of_several_who_hold_permits_and_die_is_found_by_the_one_behind_them) {
  auto d = std::make_unique<one_client>(time, fake, all);
  const auto takes = [](one_client& by, const id& who) {
    auto r = by.wants(who, true, mode::permit);
    r.capacity = 2;
    return by.call<answer>([&](auto reply) { by.raw().acquire(r, std::move(reply)); });
  };
  const auto stays = a.next_id(), waiter = b.next_id();
  ASSERT_NE(granted_in(takes(a, stays)), nullptr);
  ASSERT_NE(granted_in(takes(*d, d->next_id())), nullptr);
  ASSERT_NE(queued_in(takes(b, waiter)), nullptr);
  a.run_for(600ms);
  d->destroy();
  for (int i = 0; i < 60 && !was_told(b, waiter); ++i) {
    a.keep(stays);
    b.keep(waiter, fate::waiting);
    a.run_for(250ms);
  }
  EXPECT_TRUE(was_told(b, waiter));
}

// It was: whoever waits behind another watches that one's key, also when that one has its permit, and any of the others may make room.
TEST_F(etcd_looks_ahead, one_that_died_with_a_permit_was_not_seen_by_who_had_waited_behind_another_that_has_one_now) {
  auto d = std::make_unique<one_client>(time, fake, all);
  const auto takes = [](one_client& by, const id& who) {
    auto r = by.wants(who, true, mode::permit);
    r.capacity = 2;
    return by.call<answer>([&](auto reply) { by.raw().acquire(r, std::move(reply)); });
  };
  const auto leaves = a.next_id(), next = b.next_id(), waiter = c.next_id();
  ASSERT_NE(granted_in(takes(a, leaves)), nullptr);
  ASSERT_NE(granted_in(takes(*d, d->next_id())), nullptr);
  ASSERT_NE(queued_in(takes(b, next)), nullptr);
  ASSERT_NE(queued_in(takes(c, waiter)), nullptr);
  a.run_for(600ms);  // both watch
  a.release(leaves);
  ASSERT_TRUE(a.run_until([&] { return was_told(b, next); }));
  ASSERT_NE(granted_in(takes(b, next)), nullptr);
  d->destroy();
  for (int i = 0; i < 60 && !was_told(c, waiter); ++i) {
    b.keep(next);
    c.keep(waiter, fate::waiting);
    a.run_for(250ms);
  }
  EXPECT_TRUE(was_told(c, waiter));
}

// It was: only who waits in the queue looked again; an upgrade had to be asked for once more, as late as the hold that had gone would
// have ended.
TEST_F(etcd_looks_ahead, an_upgrade_was_not_told_of_one_that_died_if_the_look_after_its_watch_was_refused) {
  auto d = std::make_unique<one_client>(time, fake, all);
  const auto mine = b.next_id();
  ASSERT_NE(granted_in(b.acquire(mine, true, mode::shared)), nullptr);
  ASSERT_NE(granted_in(d->acquire(d->next_id(), true, mode::shared)), nullptr);
  const auto said =
      b.call<answer>([&](auto reply) { b.raw().convert({mine, "order"}, mode::exclusive, timeout, std::move(reply)); });
  ASSERT_NE(queued_in(said), nullptr);
  a.run_for(600ms);
  int refused = 0;
  fake.decide = [&](const exchange& e) {
    pb::TxnRequest t;
    const bool look = e.client == 1 && e.method == "Txn" && refused < 2 && t.ParseFromString(e.request) &&
                      t.compare().empty() && t.success_size() == 2;
    refused += look ? 1 : 0;
    return journey{.there = 500us, .back = 500us, .busy = look};
  };
  d->destroy();
  for (int i = 0; i < 60 && !was_told(b, mine); ++i) {
    b.keep(mine);
    a.run_for(250ms);
  }
  EXPECT_TRUE(was_told(b, mine));
  EXPECT_GT(refused, 0);
}

// It was: behind each new connection all of them looked at once, before anything else that the client had to say.
TEST_F(etcd_looks_ahead, those_of_many_names_looked_all_at_once_behind_a_new_connection) {
  data.on_write = nullptr;
  constexpr int many = 500;
  std::vector<std::string> names;
  for (int i = 0; i < many; ++i) names.push_back("many/" + std::to_string(i));
  int held = 0, queued = 0;
  for (auto* by : {&a, &b}) {
    fake.acting = by == &a ? 0 : 1;
    for (const auto& name : names) {
      auto r = by->wants(by->next_id(), true);
      r.what.name = name;
      by->raw().acquire(r, [&](outcome<answer>&& o) {
        held += granted_in(o) != nullptr ? 1 : 0;
        queued += queued_in(o) != nullptr ? 1 : 0;
      });
    }
    ASSERT_TRUE(a.run_until([&] { return (by == &a ? held : queued) == many; })) << held << ' ' << queued;
  }
  a.run_for(1s);
  int looks = 0, under_way = 0, most = 0;
  fake.decide = [&](const exchange& e) {
    if (e.client == 1 && e.method == "Txn") {
      ++looks;
      most = std::max(most, ++under_way);
      time.in(2ms, [&] { --under_way; });
    }
    return journey{1ms, 1ms};
  };
  const auto before = b.ups();
  fake.cut(1);
  ASSERT_TRUE(a.run_until([&] { return b.ups() > before; }));
  a.run_for(1s);
  EXPECT_GE(looks, many) << "every one of them looks";
  EXPECT_LE(most, 64);
  fake.decide = [](const exchange&) { return journey{500us, 500us}; };
}

}  // namespace
}  // namespace tyer::sim::etcd
