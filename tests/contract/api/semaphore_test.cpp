// What is special about permits.
#include "contract/api/child.hpp"
#include "contract/api/counter_file.hpp"
#include "contract/api/fixture.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace contract {
namespace {

class semaphore : public fixture {
 protected:
  void SetUp() override {
    if (!can().permits) GTEST_SKIP() << no_such_lock;
  }

  static inline const tyer::lock_options options{.ttl = 60s, .local_handoffs = 0};

  tyer::client a = connect(), b = connect(), c = connect();
};

TEST_F(semaphore, as_many_as_there_are_and_no_more) {
  tyer::semaphore in_a{a, name(), 3, options}, in_b{b, name(), 3, options};
  EXPECT_EQ(in_a.max(), 3U);
  std::vector<tyer::hold> all;
  for (int i = 0; i < 3; ++i) all.push_back((i % 2 == 0 ? in_a : in_b).try_acquire());
  std::set<std::uint32_t> slots;
  for (const auto& h : all) {
    ASSERT_TRUE(h.valid());
    ASSERT_EQ(h.slot_numbers().size(), 1U);
    EXPECT_EQ(h.slot(), h.slot_numbers().front());
    EXPECT_EQ(h.mode(), tyer::lock_mode::permit);
    slots.insert(h.slot());
  }
  EXPECT_EQ(slots, (std::set<std::uint32_t>{0, 1, 2}));
  EXPECT_FALSE(took(in_a.try_acquire()));
  EXPECT_FALSE(took(in_b.try_acquire_for(500ms)));
  const auto freed = all[1].slot();
  all[1].release();
  auto next = in_b.try_acquire();
  ASSERT_TRUE(next);
  EXPECT_EQ(next.slot(), freed);
}

TEST_F(semaphore, other_holds_have_no_slots) {
  auto h = tyer::mutex{a, name()}.acquire();
  EXPECT_TRUE(h.slot_numbers().empty());
  EXPECT_EQ(code_of([&] { static_cast<void>(h.slot()); }), errc::not_held);
  const tyer::hold none;
  EXPECT_EQ(code_of([&] { static_cast<void>(none.slot()); }), errc::not_held);
}

TEST_F(semaphore, many_threads_of_two_clients_keep_the_bound_and_have_slots_of_their_own) {
  constexpr std::uint32_t bound = 3;
  constexpr int threads_each = 6, turns = 15;
  tyer::semaphore in_a{a, name(), bound, {.ttl = 60s}}, in_b{b, name(), bound, {.ttl = 60s}};
  std::atomic<std::uint32_t> inside{0}, most{0};
  std::array<std::atomic<int>, bound> in_slot{};
  const auto work = [&](tyer::semaphore& s, std::uint32_t k) {
    for (int i = 0; i < turns; ++i) {
      auto h = s.permits(k).acquire();
      ASSERT_EQ(h.slot_numbers().size(), k);
      const auto now = inside.fetch_add(k) + k;
      EXPECT_LE(now, bound);
      for (auto seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {}
      for (const auto slot : h.slot_numbers()) {
        ASSERT_LT(slot, bound);
        EXPECT_EQ(in_slot[slot].fetch_add(1), 0);
      }
      std::this_thread::yield();
      for (const auto slot : h.slot_numbers()) in_slot[slot].fetch_sub(1);
      inside.fetch_sub(k);
      if (i % 2 == 0) h.release();
    }
  };
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < threads_each; ++i) {
      all.emplace_back([&, i] { work(in_a, i == 0 ? 2 : 1); });
      all.emplace_back([&, i] { work(in_b, i == 0 ? 3 : 1); });
    }
  }
  EXPECT_GT(most.load(), 1U) << "they were never there together";
}

TEST_F(semaphore, many_processes_keep_the_bound) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  const counter_file counts;
  std::vector<std::unique_ptr<child>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<child>(child_order{.name = name(),
                                                      .kind = i == 0 ? "permits:2/3" : "permits:1/3",
                                                      .ttl = 20s,
                                                      .turns = 40,
                                                      .file = counts.path()}));
  }
  for (const auto& one : all) {
    const auto said = one->line(patience);
    ASSERT_TRUE(said);
    ASSERT_TRUE(said->starts_with("worked ")) << *said;
    EXPECT_LE(std::stoi(said->substr(7)), 3);
  }
}

TEST_F(semaphore, several_at_once_all_or_none) {
  tyer::semaphore in_a{a, name(), 3, options}, in_b{b, name(), 3, options};
  auto two = in_a.permits(2).try_acquire();
  ASSERT_EQ(two.slot_numbers().size(), 2U);
  EXPECT_NE(two.slot_numbers()[0], two.slot_numbers()[1]);
  EXPECT_FALSE(took(in_b.permits(2).try_acquire()));
  auto one = in_b.try_acquire();
  EXPECT_TRUE(one);
  EXPECT_FALSE(took(in_a.try_acquire()));
  two.release();
  EXPECT_FALSE(took(in_b.permits(3).try_acquire()));
  EXPECT_TRUE(took(in_b.permits(2).try_acquire()));
}

TEST_F(semaphore, who_wants_many_is_not_overtaken_by_those_who_want_few) {
  tyer::semaphore in_a{a, name(), 3, options}, in_b{b, name(), 3, options}, in_c{c, name(), 3, options};
  auto one = in_a.acquire(), another = in_a.acquire();
  auto many = acquire_later(in_b.permits(3));
  ASSERT_TRUE(queue_has(1));
  EXPECT_FALSE(took(in_c.try_acquire()));  // there is one, but it is not for those who come later
  auto few = acquire_later(in_c);
  ASSERT_TRUE(queue_has(2));
  one.release();
  EXPECT_EQ(many.done.wait_for(0s), std::future_status::timeout);
  EXPECT_EQ(few.done.wait_for(0s), std::future_status::timeout);
  another.release();
  auto all = soon(many.done).hold;
  EXPECT_EQ(all.slot_numbers().size(), 3U);
  EXPECT_EQ(few.done.wait_for(0s), std::future_status::timeout);
  all.release();
  EXPECT_TRUE(took(soon(few.done).hold));
}

TEST_F(semaphore, who_wanted_many_and_gave_up_is_not_in_the_way) {
  tyer::semaphore in_a{a, name(), 3, options}, in_b{b, name(), 3, options}, in_c{c, name(), 3, options};
  auto one = in_a.acquire();
  auto many = acquire_later(in_b.permits(3));
  ASSERT_TRUE(queue_has(1));
  auto few = acquire_later(in_c);
  ASSERT_TRUE(queue_has(2));
  many.handle->cancel();
  EXPECT_EQ(soon(many.done).why.code, errc::cancelled);
  EXPECT_TRUE(took(soon(few.done).hold));
}

TEST_F(semaphore, tries_of_one_client_at_the_same_moment_all_get_in) {
  constexpr int callers = 8;
  tyer::semaphore s{a, name(), callers, {.ttl = 60s}};
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> ready{0}, in{0};
    std::vector<tyer::hold> holds(callers);
    {
      std::vector<std::jthread> all;
      for (auto& mine : holds) {
        all.emplace_back([&] {
          ++ready;
          while (ready < callers) std::this_thread::yield();
          mine = s.try_acquire();
          if (mine) ++in;
        });
      }
    }
    EXPECT_EQ(in.load(), callers);
  }
}

TEST_F(semaphore, the_permits_of_a_process_that_dies_come_back) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  tyer::semaphore in_a{a, name(), 3, options};
  child holder{{.name = name(), .kind = "permits:2/3"}};
  ASSERT_TRUE(holder.line_with("held", patience));
  auto one = in_a.try_acquire();
  ASSERT_TRUE(one);
  auto waiting = acquire_later(in_a.permits(2));
  ASSERT_TRUE(queue_has(1));
  holder.kill();
  const stopwatch watch;
  const auto got = soon(waiting.done);
  EXPECT_EQ(got.hold.slot_numbers().size(), 2U);
  EXPECT_LT(watch.elapsed(), child_order{}.ttl + slack);
  EXPECT_TRUE(one.valid());
}

TEST_F(semaphore, another_number_of_permits_is_refused_in_words_that_name_the_one_in_use) {
  tyer::semaphore three{a, name(), 3, options}, five{b, name(), 5, options};
  auto h = three.acquire();
  EXPECT_EQ(code_of([&] { static_cast<void>(five.acquire()); }), errc::permits_differ);
  EXPECT_EQ(code_of([&] { static_cast<void>(five.try_acquire()); }), errc::permits_differ);
  EXPECT_NE(words_of([&] { static_cast<void>(five.acquire()); }).find('3'), std::string::npos)
      << words_of([&] { static_cast<void>(five.acquire()); });
  EXPECT_TRUE(h.valid());
  h.release();
  auto now = five.try_acquire();  // when nobody uses it, the next one decides
  EXPECT_TRUE(now);
  EXPECT_EQ(code_of([&] { static_cast<void>(three.try_acquire()); }), errc::permits_differ);
}

TEST_F(semaphore, so_many_permits_there_are_not) {
  tyer::semaphore s{a, name(), 3, options};
  EXPECT_EQ(code_of([&] { static_cast<void>(s.permits(0)); }), errc::invalid_option);
  EXPECT_EQ(code_of([&] { static_cast<void>(s.permits(4)); }), errc::invalid_option);
  EXPECT_NE(words_of([&] { static_cast<void>(s.permits(4)); }).find('3'), std::string::npos);
  EXPECT_TRUE(took(s.permits(3).try_acquire()));
  for (const std::uint32_t none : {0U, 65'537U, 4'294'967'295U}) {
    EXPECT_EQ(code_of([&] { (tyer::semaphore{a, name(), none}); }), errc::invalid_option) << none;
  }
  EXPECT_EQ((tyer::semaphore{a, name(), 65'536}.max()), 65'536U);
}

TEST_F(semaphore, hand_off_keeps_the_slot_and_gives_a_larger_token) {
  tyer::semaphore in_a{a, name(), 2, {.ttl = 60s}}, in_b{b, name(), 2, options};
  auto both = in_b.permits(2).acquire();
  auto first = acquire_later(in_a), second = acquire_later(in_a), third = acquire_later(in_a);
  ASSERT_TRUE(queue_has(1));
  both.release();
  auto one = soon(first.done).hold, two = soon(second.done).hold;
  EXPECT_NE(one.slot(), two.slot());
  EXPECT_EQ(third.done.wait_for(0s), std::future_status::timeout);
  const auto slot = one.slot();
  const auto token = one.token();
  one.release();
  auto next = soon(third.done).hold;
  EXPECT_EQ(next.slot(), slot);
  EXPECT_GT(next.token(), token);
  EXPECT_TRUE(two.valid());
}

TEST_F(semaphore, each_slot_has_tokens_that_grow) {
  tyer::semaphore in_a{a, name(), 2, options}, in_b{b, name(), 2, options};
  std::array<std::uint64_t, 2> last{};
  for (int i = 0; i < 10; ++i) {
    auto one = in_a.acquire(), two = in_b.acquire();
    for (auto* h : {&one, &two}) {
      EXPECT_GT(h->token(), last[h->slot()]);
      last[h->slot()] = h->token();
    }
    if (i % 2 == 0) one.release();
    two.release();
  }
}

TEST_F(semaphore, a_name_is_one_thing_at_a_time) {
  tyer::semaphore s{a, name(), 3, options};
  auto permit = s.acquire();
  tyer::mutex m{b, name(), options};
  tyer::failure why;
  EXPECT_FALSE(took(m.try_acquire(why)));
  permit.release();
  auto alone = m.try_acquire_for(patience);
  EXPECT_TRUE(alone);
  EXPECT_FALSE(took(s.try_acquire(why)));
}

}  // namespace
}  // namespace contract
