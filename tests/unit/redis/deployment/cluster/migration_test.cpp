// Slots that move while names in them are held: nothing is lost, and nothing is granted twice.
#include "unit/redis/deployment/cluster/a_cluster.hpp"
#include "unit/redis/engine_client.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace std::chrono_literals;
using namespace tyer::test;
using tyer::core::id;
using tyer::engine::fate;
using tyer::engine::mode;
using tyer::engine::why;

struct cluster_migration : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(a.ready());
    ASSERT_TRUE(b.ready());
  }

  std::string fresh(const std::string& name) { return name + ' ' + tyer::core::to_hex(a.ids.next().view()); }

  using fates = std::vector<fate>;
  static fates of(const tyer::engine::outcome<tyer::engine::kept>& o) {
    const auto* k = std::get_if<tyer::engine::kept>(&o.result);
    return k != nullptr ? k->fates : fates{};
  }
  // Asks again as the runtime does, until it is answered.
  template <class Call>
  auto insist(engine_client& c, Call call) {
    auto o = call();
    c.until([&] {
      if (why_not(o) == why::not_sent) o = call();
      return why_not(o) != why::not_sent;
    });
    if (const auto* f = std::get_if<tyer::engine::failure>(&o.result)) ADD_FAILURE() << f->words;
    return o;
  }
  tyer::engine::outcome<tyer::engine::answer> share(engine_client& c, const id& who, const std::string& name) {
    auto r = engine_client::request(who, name);
    r.what.how = mode::shared;
    return c.acquire(r);
  }

  a_cluster outside{server_uri()};
  engine_client a{server_uri()}, b{server_uri()};
};

TEST_F(cluster_migration, a_hold_goes_along) {
  const auto name = fresh("migration/along");
  const auto who = a.ids.next();
  const auto got = a.acquire(who, name);
  ASSERT_NE(granted(got), nullptr);
  const auto part = granted(got)->part;
  ASSERT_NE(granted(b.acquire(b.ids.next(), fresh("migration/old map"))), nullptr);
  moving_slot slot{outside, name};
  slot.finish();
  EXPECT_EQ(of(insist(a, [&] { return a.keep(who, name, fate::holding); })), fates{fate::holding});
  EXPECT_EQ(insist(b, [&] { return b.acquire(b.ids.next(), name, false); }).result.index(), 0U);
  EXPECT_EQ(granted(insist(a, [&] { return a.acquire(who, name); }))->part, part) << "it is the same hold";
  EXPECT_EQ(std::get<0>(insist(a, [&] { return a.release(who, name); }).result), fate::holding);
  const auto next = insist(b, [&] { return b.acquire(b.ids.next(), name); });
  ASSERT_NE(granted(next), nullptr);
  EXPECT_GT(granted(next)->part, part);
}

// For as long as it takes: an uncontended exclusive hold is renewed wherever its state is.
TEST_F(cluster_migration, an_exclusive_hold_is_renewed_on_the_way) {
  const auto name = fresh("migration/renewed");
  const auto who = a.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  moving_slot slot{outside, name};
  EXPECT_EQ(of(a.keep(who, name, fate::holding)), fates{fate::holding}) << "before it moves";
  EXPECT_NE(granted(a.acquire(who, name)), nullptr);
  slot.move("");
  ASSERT_FALSE(why_not(insist(a, [&] { return a.keep(who, name, fate::holding); }))) << "connected to the new master";
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(of(a.keep(who, name, fate::holding)), fates{fate::holding}) << "after it moved";
  EXPECT_NE(granted(a.acquire(who, name)), nullptr);
  const auto busy = insist(b, [&] { return b.acquire(b.ids.next(), name, false); });
  EXPECT_EQ(granted(busy), nullptr);
  EXPECT_FALSE(why_not(busy));
  EXPECT_EQ(std::get<0>(a.release(who, name).result), fate::holding);
  const auto other = b.ids.next();
  EXPECT_NE(granted(b.acquire(other, name)), nullptr);
  slot.finish();
  EXPECT_EQ(of(insist(b, [&] { return b.keep(other, name, fate::holding); })), fates{fate::holding});
}

TEST_F(cluster_migration, nobody_queues_where_no_queue_can_be_made_but_everybody_does_afterwards) {
  const auto name = fresh("migration/no queue");
  const auto who = a.ids.next(), other = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  moving_slot slot{outside, name};
  const auto early = b.acquire(other, name);
  EXPECT_FALSE(why_not(early)) << "busy";
  EXPECT_EQ(granted(early), nullptr);
  EXPECT_EQ(queued(early), nullptr);
  slot.move("");
  const auto there = insist(b, [&] { return b.acquire(other, name); });
  EXPECT_NE(queued(there), nullptr) << "whoever takes the slot may make keys";
  EXPECT_EQ(std::get<0>(insist(a, [&] { return a.release(who, name); }).result), fate::holding);
  EXPECT_NE(granted(b.acquire(other, name)), nullptr) << "handed over";
  slot.finish();
  EXPECT_EQ(of(insist(b, [&] { return b.keep(other, name, fate::holding); })), fates{fate::holding});
}

// The order in which keys go is the operator's: the state before its queue, or behind it.
struct torn_queue : cluster_migration, testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(torn_queue, nothing_is_done_while_it_is_torn) {
  const auto name = fresh("migration/torn");
  const auto who = a.ids.next(), first = b.ids.next(), second = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  ASSERT_NE(queued(b.acquire(first, name)), nullptr);
  ASSERT_NE(queued(b.acquire(second, name)), nullptr);
  moving_slot slot{outside, name};
  EXPECT_EQ(of(b.keep(first, name, fate::waiting)), fates{fate::waiting}) << "all is still there";
  for (std::size_t i = 0; i < 2; ++i) {
    slot.move(GetParam()[i]);
    EXPECT_EQ(of(insist(a, [&] { return a.keep(who, name, fate::holding); })), fates{fate::holding});
    EXPECT_EQ(why_not(a.release(who, name)), why::not_sent);
    a.until([&] { return why_not(b.keep(first, name, fate::waiting)) == why::not_sent; });
    const auto again = insist(b, [&] { return b.acquire(second, name); });
    EXPECT_EQ(granted(again), nullptr);
    EXPECT_EQ(queued(again), nullptr) << "busy";
  }
  slot.move(GetParam()[2]);
  EXPECT_EQ(of(insist(b, [&] { return b.keep(second, name, fate::waiting); })), fates{fate::waiting});
  EXPECT_EQ(std::get<0>(insist(a, [&] { return a.release(who, name); }).result), fate::holding);
  EXPECT_EQ(granted(b.acquire(second, name)), nullptr) << "it is the other's turn";
  EXPECT_NE(granted(b.acquire(first, name)), nullptr);
  slot.finish();
  EXPECT_EQ(std::get<0>(insist(b, [&] { return b.release(first, name); }).result), fate::holding);
  EXPECT_NE(granted(insist(b, [&] { return b.acquire(second, name); })), nullptr);
}
INSTANTIATE_TEST_SUITE_P(orders, torn_queue,
                         testing::Values(std::vector<std::string>{"", "q", "w"}, std::vector<std::string>{"q", "", "w"},
                                         std::vector<std::string>{"w", "q", ""}));

TEST_F(cluster_migration, readers) {
  const auto name = fresh("migration/readers");
  const auto one = a.ids.next(), two = b.ids.next();
  ASSERT_NE(granted(share(a, one, name)), nullptr);
  moving_slot slot{outside, name};
  EXPECT_EQ(of(a.keep(one, name, fate::holding)), fates{fate::holding}) << "both keys are still there";
  slot.move("");
  EXPECT_EQ(why_not(a.acquire(a.ids.next(), name, false)), why::not_sent)
      << "it is not known here whether somebody reads";
  EXPECT_EQ(why_not(a.keep(one, name, fate::holding)), why::not_sent) << "and not gone";
  EXPECT_EQ(why_not(a.release(one, name)), why::not_sent);
  slot.move("h");
  EXPECT_EQ(of(insist(a, [&] { return a.keep(one, name, fate::holding); })), fates{fate::holding});
  EXPECT_NE(granted(insist(b, [&] { return share(b, two, name); })), nullptr);
  slot.finish();
  EXPECT_EQ(of(insist(a, [&] { return a.keep(one, name, fate::holding); })), fates{fate::holding});
  EXPECT_EQ(of(insist(b, [&] { return b.keep(two, name, fate::holding); })), fates{fate::holding});
}

// Whose queue cannot be reached just now is extended all the same: whose turn it is has time, the hold has not.
TEST_F(cluster_migration, a_hold_with_waiters_is_renewed_when_its_keys_are_to_live_longer) {
  const auto name = fresh("migration/old keys");
  const auto who = a.ids.next(), first = b.ids.next();
  ASSERT_NE(granted(a.acquire(who, name)), nullptr);
  ASSERT_NE(queued(b.acquire(first, name)), nullptr);
  moving_slot slot{outside, name};
  const tyer::engine::target mine[]{{who, name}};
  const auto keep = [&](std::chrono::milliseconds ttl) {
    return a.wait<tyer::engine::kept>([&](auto back) { a.value->keep(mine, fate::holding, ttl, std::move(back)); });
  };
  EXPECT_EQ(of(keep(1h)), fates{fate::holding}) << "all is still there, but no key can be made";
  slot.move("q");
  EXPECT_EQ(of(keep(2h)), fates{fate::holding}) << "half of the queue has gone";
  EXPECT_EQ(why_not(keep(4h)), why::not_sent) << "its keys would end before the hold";
  slot.move("");
  EXPECT_EQ(of(insist(a, [&] { return keep(3h); })), fates{fate::holding})
      << "the state has gone, half of the queue has not";
  slot.move("w");
  EXPECT_EQ(of(insist(a, [&] { return keep(8h); })), fates{fate::holding});
  slot.finish();
  EXPECT_GT(outside.at(slot.to).ask({"PTTL", "tyer:{" + name + "}q"}).number, 8 * 3'600'000);
  EXPECT_EQ(std::get<0>(insist(a, [&] { return a.release(who, name); }).result), fate::holding);
  EXPECT_NE(granted(insist(b, [&] { return b.acquire(first, name); })), nullptr) << "nobody has lost his place";
}

TEST_F(cluster_migration, new_names_begin_where_the_slot_goes) {
  const auto name = fresh("migration/new");
  moving_slot slot{outside, name};
  const auto one = a.ids.next(), two = b.ids.next();
  ASSERT_NE(granted(insist(a, [&] { return share(a, one, name); })), nullptr);
  ASSERT_NE(granted(insist(b, [&] { return share(b, two, name); })), nullptr);
  EXPECT_FALSE(outside.at(slot.from).ask({"EXISTS", "tyer:{" + name + "}"}).number == 1);
  slot.finish();
  EXPECT_EQ(of(insist(a, [&] { return a.keep(one, name, fate::holding); })), fates{fate::holding});
  EXPECT_EQ(of(insist(b, [&] { return b.keep(two, name, fate::holding); })), fates{fate::holding});
}

TEST_F(cluster_migration, one_name_on_its_way_does_not_hold_up_the_others) {
  const auto name = fresh("migration/held up"), fine = fresh("migration/fine");
  const auto one = a.ids.next(), two = a.ids.next();
  ASSERT_NE(granted(share(a, one, name)), nullptr);
  ASSERT_NE(granted(a.acquire(two, fine)), nullptr);
  moving_slot slot{outside, name};
  slot.move("h");
  const tyer::engine::target both[]{{one, name}, {two, fine}};
  const auto kept =
      a.wait<tyer::engine::kept>([&](auto back) { a.value->keep(both, fate::holding, 10s, std::move(back)); });
  EXPECT_EQ(of(kept), (fates{fate::unknown, fate::holding}));
  slot.finish();
}

// The importing master hangs: what it answers for one name, the renewals of all others at the healthy one waited for.
TEST_F(cluster_migration, a_hung_master_that_takes_a_slot_holds_up_nobody_else) {
  const auto name = fresh("migration/gone ahead");
  const auto from = outside.master_of(slot_of(name));
  auto fine = fresh("migration/stayed");
  while (outside.master_of(slot_of(fine)) != from) fine = fresh("migration/stayed");
  const auto one = a.ids.next(), two = a.ids.next();
  ASSERT_NE(granted(a.acquire(one, name)), nullptr);
  ASSERT_NE(granted(a.acquire(two, fine)), nullptr);
  EXPECT_EQ(a.value->group(name), a.value->group(fine));
  moving_slot slot{outside, name};
  slot.move("");

  // Both in one request, as the runtime sends what is of one group.
  outside.at(slot.to).ask({"CLIENT", "PAUSE", "1500", "ALL"});
  const tyer::engine::target both[]{{one, name}, {two, fine}};
  const auto kept =
      a.wait<tyer::engine::kept>([&](auto back) { a.value->keep(both, fate::holding, 10s, std::move(back)); });
  EXPECT_EQ(of(kept), (fates{fate::unknown, fate::holding})) << "it waited until the other one answered";
  EXPECT_NE(a.value->group(name), a.value->group(fine)) << "from now on they are sent apart";
  EXPECT_EQ(of(insist(a, [&] { return a.keep(one, name, fate::holding); })), fates{fate::holding});
  slot.finish();
  insist(a, [&] { return a.keep(one, name, fate::holding); });
  EXPECT_LT(a.value->group(name), 0x80000000U) << "and its new master's is its group";
}

TEST_F(cluster_migration, with_replicas_the_node_that_granted_is_asked_for_them) {
  const auto name = fresh("migration/replicas");
  engine_client c{server_uri() + "?replicas=1", patient};
  ASSERT_TRUE(c.ready());
  const auto who = c.ids.next();
  ASSERT_NE(granted(c.acquire(who, name)), nullptr);
  moving_slot slot{outside, name};
  slot.move("");
  EXPECT_EQ(of(insist(c, [&] { return c.keep(who, name, fate::holding); })), fates{fate::holding});
  slot.finish();
}

}  // namespace
