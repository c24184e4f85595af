// A queue of different wishes: whoever fits together has its turn together, in order, whoever of them dies.
#include "contract/engine/harness.hpp"

namespace tyer::contract {

class mixed_queue_contract : public engine_contract {
 protected:
  // A waiter, and how much of four it takes: a reader as much as one permit, a writer everything.
  struct place {
    client* from;
    want w;
    std::uint32_t weight;
  };
  static constexpr std::uint32_t room = 4;

  place wishing(client& from, const std::string& name, mode how, std::uint32_t weight) {
    want w = how == mode::permit ? from.permits(name, weight, room) : from.wants(name, how);
    w.enqueue = true;
    return {&from, std::move(w), weight};
  }
  std::vector<place> readers_and_writers(const std::string& name) {
    return {wishing(a, name, mode::shared, 1), wishing(b, name, mode::shared, 1),
            wishing(c, name, mode::exclusive, room), wishing(a, name, mode::shared, 1),
            wishing(b, name, mode::shared, 1)};
  }
  std::vector<place> few_and_many(const std::string& name) {
    return {wishing(a, name, mode::permit, 1), wishing(b, name, mode::permit, 3), wishing(c, name, mode::permit, 4),
            wishing(a, name, mode::permit, 2), wishing(b, name, mode::permit, 1)};
  }

  // As a runtime does: on a busy machine all of this takes longer than a place or a hold lasts.
  static void keep(const std::vector<place>& queue, std::size_t from = 0) {
    for (; from < queue.size(); ++from) queue[from].from->keep(queue[from].w, fate::waiting, queue[from].w.waiter_ttl);
  }

  // The heads that fit together have it, the next one does not; then they give it back, and so on.
  static void expect_turns(const std::vector<place>& queue) {
    for (std::size_t first = 0; first < queue.size();) {
      std::uint32_t taken = 0;
      std::size_t last = first;
      for (; last < queue.size() && taken + queue[last].weight <= room; ++last) {
        taken += queue[last].weight;
        queue[last].from->wait_turn(queue[last].w);  // at once, but for the dead who are still being taken away
      }
      if (last < queue.size()) queue[last].from->enqueue(queue[last].w);
      keep(queue, last);
      for (; first < last; ++first) EXPECT_EQ(queue[first].from->release(queue[first].w), fate::holding);
    }
  }

  // One name for each place whose waiter dies, and one where nobody does; all wait at the same time.
  template <class Make>
  void expect_turns_whoever_dies(Make make) {
    constexpr std::size_t places = 5;
    std::vector<want> holders;
    std::vector<std::vector<place>> queues;
    for (std::size_t dead = 0; dead <= places; ++dead) {
      const auto& holder = holders.emplace_back(c.wants("order/" + std::to_string(dead)));
      c.lock(holder);
      auto& queue = queues.emplace_back(make(holder.name));
      if (dead < places) queue[dead].w.waiter_ttl = brief();
      for (const auto& p : queue) p.from->enqueue(p.w);
      if (dead < places) queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(dead));
    }
    a.pump_until(a.now() + brief() + 5ms);
    for (std::size_t i = 0; i < queues.size(); ++i) {
      SCOPED_TRACE("dead: " + std::to_string(i));
      for (std::size_t rest = i; rest < queues.size(); ++rest) {
        EXPECT_EQ(c.keep(holders[rest], fate::holding, holders[rest].ttl), fate::holding);
        keep(queues[rest]);
      }
      EXPECT_EQ(c.release(holders[i]), fate::holding);
      expect_turns(queues[i]);
      EXPECT_TRUE(a.could_lock(a.wants(holders[i].name)));
    }
  }
};

TEST_F(mixed_queue_contract, of_readers_and_writers) {
  if (!can().shared || !can().queue) return;
  expect_turns_whoever_dies([&](const std::string& name) { return readers_and_writers(name); });
}

TEST_F(mixed_queue_contract, of_few_and_many_permits) {
  if (!can().permits || !can().queue) return;
  expect_turns_whoever_dies([&](const std::string& name) { return few_and_many(name); });
}

// The head that dies while it waits for the others must not keep those behind it out.
TEST_F(mixed_queue_contract, a_writer_that_died_lets_the_readers_behind_it_in) {
  if (!can().shared || !can().queue) return;
  a.lock(a.wants("order", mode::shared));
  auto dead = b.waits("order");
  be_mortal(dead);
  b.enqueue(dead);
  auto reader = c.waits("order", mode::shared);
  reader.waiter_ttl = 10s;
  EXPECT_EQ(c.enqueue(reader).ahead, 1u);
  const auto before = c.now();
  c.wait_turn(reader);
  EXPECT_LT(c.now(), before + patience);
}

// A runtime that is told that its place was kept does not ask again for long, since the name was looked at.
TEST_F(mixed_queue_contract, who_only_kept_its_place_was_not_told_that_a_writer_before_it_had_died) {
  if (!can().shared || !can().queue) return;
  a.lock(a.wants("order", mode::shared));
  auto dead = b.waits("order");
  be_mortal(dead);
  b.enqueue(dead);
  auto reader = c.waits("order", mode::shared);
  reader.waiter_ttl = 2s;
  c.enqueue(reader);
  const auto end = c.now() + patience;
  while (!c.saw(event::kind::wake, reader.who) && c.keep(reader, fate::waiting, reader.waiter_ttl) == fate::waiting) {
    ASSERT_LT(c.now(), end);
    c.raw().run(c.now() + reader.waiter_ttl / 3);
  }
  c.lock(reader);
}

TEST_F(mixed_queue_contract, every_mode_has_its_turn) {
  if (!can().shared || !can().permits || !can().queue) return;
  const auto holder = c.wants("order");
  c.lock(holder);
  const std::vector<place> queue{wishing(a, "order", mode::permit, 2), wishing(b, "order", mode::shared, room),
                                 wishing(a, "order", mode::exclusive, room), wishing(c, "order", mode::permit, 3)};
  for (const auto& p : queue) p.from->enqueue(p.w);
  c.release(holder);
  expect_turns(queue);
}

}  // namespace tyer::contract
