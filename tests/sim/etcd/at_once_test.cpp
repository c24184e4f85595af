// Several who come, leave or let go at the same time: each has decided by what it read, which the others were about to change.
#include "sim/etcd/handover.hpp"

#include <memory>
#include <vector>

namespace tyer::sim::etcd {
namespace {

constexpr duration at_once = 30ms;  // nobody looks out so early

struct etcd_at_once : etcd_hand_over {
  one_client c{time, fake, all}, d{time, fake, all};

  one reads(one_client& by) { return takes(by, mode::shared); }
  one takes(one_client& by, mode how, std::uint32_t take = 1, std::uint32_t capacity = 1) {
    const one h{&by, by.next_id()};
    EXPECT_NE(granted_in(ask_for(h, how, take, capacity)), nullptr);
    return h;
  }
  one queues(one_client& by, mode how, std::uint32_t take = 1, std::uint32_t capacity = 1) {
    const one w{&by, by.next_id()};
    EXPECT_NE(queued_in(ask_for(w, how, take, capacity)), nullptr);
    return w;
  }
  outcome<answer> ask_for(const one& o, mode how, std::uint32_t take, std::uint32_t capacity) {
    auto r = o.by->wants(o.who, true, how);
    r.take = take;
    r.capacity = capacity;
    return o.by->call<answer>([&](auto reply) { o.by->raw().acquire(r, std::move(reply)); });
  }
  outcome<answer> converts(const one& o, mode to) {
    return o.by->call<answer>(
        [&](auto reply) { o.by->raw().convert({o.who, "order"}, to, timeout, std::move(reply)); });
  }
  std::size_t number_of(const one_client& of) const {
    return static_cast<std::size_t>(std::ranges::find(all, &of) - all.begin());
  }
  // Each reads before the other has written.
  void let_go_at_once(const std::vector<one>& these, duration within = at_once) {
    std::size_t done = 0;
    for (const auto& each : these) {
      fake.acting = number_of(*each.by);
      each.by->raw().release({each.who, "order"}, true, [&](outcome<fate>&& o) {
        EXPECT_NE(std::get_if<fate>(&o.result), nullptr);
        ++done;
      });
    }
    ASSERT_TRUE(a.run_until([&] { return done == these.size(); }, within));
  }
  bool is_told(const one& w) {
    return a.run_until([&] { return was_told(*w.by, w.who); }, at_once);
  }
};

// --- who lets go at once ---

// It was: each saw the other, and neither handed over; the writer found out when it looked, up to three seconds later.
TEST_F(etcd_at_once, two_readers_that_let_go_left_a_writer_waiting) {
  const auto first = reads(a), second = reads(b), writer = queues(c, mode::exclusive);
  let_go_at_once({first, second});
  EXPECT_TRUE(is_told(writer));
  EXPECT_TRUE(has_turn(writer));
  let_go(writer);
  expect_nothing_left();
}

TEST_F(etcd_at_once, two_who_gave_permits_back_left_one_waiting_that_wants_both) {
  const auto first = takes(a, mode::permit, 1, 2), second = takes(b, mode::permit, 1, 2);
  const auto both = queues(c, mode::permit, 2, 2);
  let_go_at_once({first, second});
  EXPECT_TRUE(is_told(both));
}

TEST_F(etcd_at_once, two_writers_that_left_the_queue_left_a_reader_waiting_beside_readers) {
  const auto holder = reads(a), w1 = queues(b, mode::exclusive), w2 = queues(c, mode::exclusive);
  const auto reader = queues(d, mode::shared);
  let_go_at_once({w1, w2});
  EXPECT_TRUE(is_told(reader));
  EXPECT_EQ(let_go(holder), fate::holding);
}

TEST_F(etcd_at_once, a_writer_that_left_the_queue_during_a_downgrade_left_a_reader_waiting) {
  const auto holder = takes(a, mode::exclusive), writer = queues(b, mode::exclusive), reader = queues(c, mode::shared);
  bool writes = false;
  fake.decide = [&](const exchange& e) {
    if (e.client != 0 || e.method != "Txn") return journey{500us, 500us};
    writes = true;
    return journey{5ms, 500us};
  };
  bool converted = false;
  fake.acting = 0;
  a.raw().convert({holder.who, "order"}, mode::shared, timeout,
                  [&](outcome<answer>&& o) { converted = granted_in(o) != nullptr; });
  ASSERT_TRUE(a.run_until([&] { return writes; }));
  EXPECT_EQ(let_go(writer), fate::waiting);
  ASSERT_FALSE(converted) << "it was quicker";
  EXPECT_TRUE(is_told(reader));
  EXPECT_TRUE(converted);
}

TEST_F(etcd_at_once, two_readers_that_let_go_left_one_waiting_that_upgrades) {
  const auto first = reads(a), second = reads(b), upgrades = reads(c);
  ASSERT_NE(queued_in(converts(upgrades, mode::exclusive)), nullptr);
  let_go_at_once({first, second});
  EXPECT_TRUE(is_told(upgrades));
  EXPECT_NE(granted_in(converts(upgrades, mode::exclusive)), nullptr);
}

TEST_F(etcd_at_once, a_reader_that_had_let_go_was_told_that_nobody_knows_since_the_turn_behind_it_was_not_answered) {
  const auto reader = reads(a), writer = queues(b, mode::exclusive);
  int writes = 0;
  fake.decide = [&](const exchange& e) {
    const bool turn = e.client == 0 && e.method == "Txn" && ++writes == 2;
    return journey{.there = 500us, .back = 500us, .request_lost = turn};
  };
  EXPECT_EQ(let_go(reader), fate::holding);
  EXPECT_EQ(writes, 2);
  EXPECT_TRUE(b.run_until([&] { return was_told(b, writer.who); })) << "it looks out itself";
}

// It was: of more readers than are read of a room one was taken for one that leaves nobody a turn, also if it had waited to be upgraded.
TEST_F(etcd_at_once, one_of_many_readers_that_gave_its_upgrade_up_left_a_reader_waiting_beside_them) {
  std::vector<one> readers;
  for (int i = 0; i < 20; ++i) readers.push_back(reads(a));
  const auto upgrades = reads(b);
  ASSERT_NE(queued_in(converts(upgrades, mode::exclusive)), nullptr);
  const auto waiter = queues(c, mode::shared);
  EXPECT_EQ(let_go(upgrades), fate::holding);
  EXPECT_TRUE(is_told(waiter));
}

// Whoever has gone cannot be told, and its client neither: but the one that waits is, before the client has gone.
TEST_F(etcd_at_once, a_reader_that_lets_go_while_its_client_is_closed_tells_the_writer) {
  const auto reader = reads(a), writer = queues(c, mode::exclusive);
  fake.acting = 0;
  bool closed = false;
  a.raw().release({reader.who, "order"}, true, [](outcome<fate>&&) {});
  a.raw().close([&](outcome<seam::done>&&) { closed = true; });
  EXPECT_TRUE(is_told(writer));
  ASSERT_TRUE(a.run_until([&] { return closed; }));
}

// --- who lets go while others come ---

// It was: whoever came made all that let go try again.
TEST_F(etcd_at_once, a_reader_that_lets_go_was_refused_by_each_that_came) {
  const auto stays = reads(a), leaves = reads(b);
  int writes = 0;
  bool gone = false;
  fake.decide = [&](const exchange& e) {  // slow enough for another to come between each of its requests
    if (e.client != 1 || e.method != "Txn") return journey{500us, 500us};
    ++writes;
    return journey{5ms, 500us};
  };
  fake.acting = 1;
  b.raw().release({leaves.who, "order"}, true, [&](outcome<fate>&&) { gone = true; });
  for (int i = 0; i < 20 && !gone; ++i) reads(c);
  EXPECT_TRUE(gone);
  EXPECT_EQ(writes, 1) << "the deletion alone";
  EXPECT_EQ(let_go(stays), fate::holding);
}

// --- many at once ---

struct etcd_many_at_once : etcd_at_once {
  static constexpr std::size_t many = 60;
  etcd_many_at_once() {
    for (std::size_t i = 0; i < many; ++i) {
      crowd.push_back(std::make_unique<one_client>(time, fake, all));
      these.push_back({crowd.back().get(), crowd.back()->next_id()});
    }
  }
  seam::request wants(const one& o, std::uint32_t capacity) const {
    auto r = o.by->wants(o.who, true, capacity > 1 ? mode::permit : mode::exclusive);
    r.capacity = capacity;
    return r;
  }
  // Each asks, and again when it is told of its turn, until all of them have it.
  void all_come(std::uint32_t capacity) {
    std::vector<bool> asks(many, true), has(many);
    const auto everybody_has = [&] {
      for (std::size_t i = 0; i < many; ++i) {
        const auto& o = these[i];
        if (has[i] || !(asks[i] || std::erase(o.by->woken, o.who) != 0)) continue;
        asks[i] = false;
        fake.acting = number_of(*o.by);
        o.by->raw().acquire(wants(o, capacity), [&, i](outcome<answer>&& said) {
          has[i] = granted_in(said) != nullptr;
          asks[i] = failure_in(said) != nullptr;
        });
      }
      return std::ranges::all_of(has, [](bool h) { return h; });
    };
    EXPECT_TRUE(a.run_until(everybody_has, 2s));
  }
  void each_at_its_own_pace() {
    fake.decide = [n = 0](const exchange&) mutable {
      const auto some = [&] { return 200us + std::chrono::microseconds{++n * 7919 % 9000}; };
      return journey{.there = some(), .back = some()};
    };
  }
  std::vector<std::unique_ptr<one_client>> crowd;
  std::vector<one> these;
};

// It was: each was refused as often as another was let in; 200 of them took 16 s.
TEST_F(etcd_many_at_once, who_took_permits_wrote_as_often_as_the_square_of_their_number) {
  EXPECT_LT(cost([&] { all_come(many); }).at("Txn"), 8 * static_cast<int>(many));
  std::vector<std::uint32_t> slots;
  for (const auto& [key, kv] : data.all()) {
    const auto record = tyer::etcd::read_value(kv.value());
    ASSERT_TRUE(record);
    slots.insert(slots.end(), record->slots().begin(), record->slots().end());
  }
  std::ranges::sort(slots);
  EXPECT_EQ(slots.size(), many);
  EXPECT_EQ(std::ranges::unique(slots).size(), 0u) << "a permit was given twice";
}

// It was so still where their requests took more or less time: whoever had its place told the turns of all before it, and all but one
// of them were refused. 80 of them took up to 18 s on a real server, and most of 150 had no answer in time.
TEST_F(etcd_many_at_once, who_took_permits_each_at_its_own_pace_wrote_as_often_as_the_square_of_their_number) {
  each_at_its_own_pace();
  EXPECT_LT(cost([&] { all_come(many); }).at("Txn"), 8 * static_cast<int>(many));
}

TEST_F(etcd_many_at_once, who_gave_permits_back_each_at_its_own_pace_wrote_as_often_as_the_square_of_their_number) {
  all_come(many);
  std::vector<one> others;
  for (std::size_t i = 0; i < many; ++i) others.push_back(queues(i % 2 == 0 ? c : d, mode::permit, 1, many));
  each_at_its_own_pace();
  EXPECT_LT(cost([&] { let_go_at_once(these, 200ms); }).at("Txn"), 4 * static_cast<int>(many));
  for (const auto& o : others) EXPECT_TRUE(is_told(o));
}

TEST_F(etcd_many_at_once, who_gave_permits_back_refused_each_other) {
  all_come(many);
  const auto none = cost([&] { let_go_at_once(these); });
  EXPECT_EQ(none, (messages{{"Txn", static_cast<int>(many)}})) << "one each";
  expect_nothing_left();
}

TEST_F(etcd_many_at_once, who_gave_permits_back_left_as_many_others_waiting_that_came_after_them) {
  all_come(many);
  std::vector<one> others;
  for (int i = 0; i < 20; ++i) others.push_back(queues(c, mode::permit, 1, many));
  let_go_at_once(these);
  for (const auto& o : others) EXPECT_TRUE(is_told(o));
}

// It was: each read all of the queue, and those who left beside each other refused each other.
TEST_F(etcd_many_at_once, who_left_the_queue_read_all_of_it_and_refused_each_other) {
  const auto h = takes(a, mode::exclusive);
  for (const auto& o : these) ASSERT_NE(queued_in(ask_for(o, mode::exclusive, 1, 1)), nullptr);
  const auto last = queues(b, mode::exclusive);
  const auto spent = cost([&] { let_go_at_once(these); });
  EXPECT_FALSE(spent.contains("Range"));
  EXPECT_LE(spent.at("Txn"), static_cast<int>(many) + 20) << "one each, and who looks out meanwhile";
  EXPECT_EQ(let_go(h), fate::holding);
  EXPECT_TRUE(has_turn(last));
}

// --- one that joined before a writer ---

// The hold is younger than the place of the writer: to look only for those who came after it is to forget that one.
TEST_F(etcd_at_once, an_upgraded_reader_that_had_overtaken_a_writer_let_go_without_handing_over) {
  const auto first = reads(a);
  const auto late = b.next_id();
  int writes = 0;
  bool joined = false;
  fake.decide = [&](const exchange& e) {  // its second write is refused, since another is quicker; the third joins
    if (e.client != 1 || e.method != "Txn") return journey{500us, 500us};
    ++writes;
    return journey{writes == 2 || writes == 3 ? duration{10ms} : duration{500us}, 500us};
  };
  fake.acting = 1;
  b.raw().acquire(b.wants(late, true, mode::shared), [&](outcome<answer>&& o) { joined = granted_in(o) != nullptr; });
  ASSERT_TRUE(a.run_until([&] { return writes == 2; }));
  const auto other = reads(d);
  ASSERT_TRUE(a.run_until([&] { return writes == 3; }));
  const auto writer = queues(c, mode::exclusive);
  ASSERT_TRUE(a.run_until([&] { return joined; }, at_once));
  let_go(other);
  let_go(first);
  ASSERT_NE(granted_in(converts({&b, late}, mode::exclusive)), nullptr);
  EXPECT_EQ(let_go({&b, late}), fate::holding);
  EXPECT_TRUE(is_told(writer));
  EXPECT_TRUE(has_turn(writer));
}

// --- a floor that somebody has written by hand ---

struct etcd_strange_floor : etcd_at_once {
  void write_floor(const std::string& value) {
    pb::TxnRequest t;
    auto& p = *t.add_success()->mutable_request_put();
    p.set_key(tyer::etcd::keys{prefix}.floor("order"));
    p.set_value(value);
    pb::TxnResponse answer;
    data.transact(t, answer);
  }
  // What a reader is told whose first write is refused, and how often it wrote.
  std::pair<outcome<answer>, int> comes_beside_others() {
    int writes = 0;
    bool slow = true;
    fake.decide = [&](const exchange& e) {
      if (e.client != 1 || e.method != "Txn") return journey{500us, 500us};
      ++writes;
      return journey{slow && writes == 2 ? duration{10ms} : duration{500us}, 500us};
    };
    std::optional<outcome<answer>> said;
    fake.acting = 1;
    b.raw().acquire(b.wants(b.next_id(), true, mode::shared), [&](outcome<answer>&& o) { said = std::move(o); });
    EXPECT_TRUE(a.run_until([&] { return writes == 2 || said; }));
    const auto other = d.next_id();
    if (!said) d.acquire(other, true, mode::shared);
    EXPECT_TRUE(a.run_until([&] { return said.has_value(); }));
    return {std::move(*said), writes};
  }
};

TEST_F(etcd_strange_floor, of_nought_made_a_reader_write_until_its_deadline) {
  reads(a);
  write_floor("0");
  const auto [said, writes] = comes_beside_others();
  EXPECT_NE(granted_in(said), nullptr);
  EXPECT_LT(writes, 6);
}

TEST_F(etcd_strange_floor, that_is_no_number_was_taken_for_none) {
  reads(a);
  for (const auto* value : {"", "soon", "12 ", "-1", "99999999999999999999"}) {
    write_floor(value);
    const auto [said, writes] = comes_beside_others();
    ASSERT_NE(failure_in(said), nullptr) << value;
    EXPECT_EQ(failure_in(said)->kind, seam::why::name_conflict) << value;
    EXPECT_LT(writes, 3) << value;
  }
}

}  // namespace
}  // namespace tyer::sim::etcd
