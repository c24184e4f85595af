// The engine over nodes that are inside this process: real threads, and servers that a test stops and robs.
#include "engines/compose/redlock/redlock.hpp"

#include "engines/memory/memory.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace tyer::redlock {
namespace {

using namespace std::chrono_literals;
using engine::busy;
using engine::granted;

class redlock_test : public ::testing::Test, private seam::events {
 protected:
  static constexpr auto patience = 10s;

  redlock_test() {
    std::vector<unstarted_node> parts;
    for (int i = 0; i < 5; ++i) {
      stores.push_back(std::make_shared<memory::store>(clock));
      parts.push_back({"node-" + std::to_string(i), memory::make_engine(stores.back(), environment())});
    }
    it = std::make_unique<redlock_engine>(std::move(parts), 50ms, environment(), std::make_shared<seam::inbox>());
    it->open(*this);
    pump([&] { return ups > 0; });
  }
  seam::environment environment() { return {"", &ids, &clock, 1s, {}}; }

  void pump(const std::function<bool()>& ready) {
    const auto end = clock.now() + patience;
    while (!ready()) {
      ASSERT_LT(clock.now(), end) << "in vain";
      it->run(std::min(end, clock.now() + 10ms));
    }
  }
  template <class T, class F>
  std::variant<T, failure> call(F start) {
    std::optional<std::variant<T, failure>> said;
    start(reply<T>{[&](outcome<T>&& o) { said = std::move(o.result); }});
    pump([&] { return said.has_value(); });
    return *said;
  }
  std::variant<answer, failure> acquire(const id& who, bool enqueue = false) {
    const seam::request r{
        .what = {who, "order"}, .ttl = 60s, .waiter_ttl = 1s, .not_after = 1s, .enqueue = enqueue, .owner = "test"};
    return call<answer>([&](auto back) { it->acquire(r, std::move(back)); });
  }
  granted lock(const id& who) { return std::get<granted>(std::get<answer>(acquire(who))); }
  granted lock_everywhere(const id& who) {
    const auto g = lock(who);
    pump([&] { return holds() == stores.size(); });
    return g;
  }
  bool is_busy(const id& who) {
    const auto said = acquire(who);
    const auto* a = std::get_if<answer>(&said);
    return a != nullptr && std::holds_alternative<busy>(*a);
  }
  std::variant<fate, failure> release(const id& who) {
    return call<fate>([&](auto back) { it->release({who, "order"}, true, std::move(back)); });
  }
  std::variant<engine::kept, failure> keep(const id& who) {
    const target t{who, "order"};
    return call<engine::kept>([&](auto back) { it->keep({&t, 1}, fate::holding, 60s, std::move(back)); });
  }
  fate kept(const id& who) { return std::get<engine::kept>(keep(who)).fates.at(0); }
  std::size_t holds() {
    std::size_t n = 0;
    for (const auto& s : stores) n += s->count().holds;
    return n;
  }

  core::boot_clock clock;
  core::random_ids ids;
  std::vector<std::shared_ptr<memory::store>> stores;
  std::unique_ptr<redlock_engine> it;
  int ups = 0;
  std::vector<id> suspects;

 private:
  void wake(const id&) override {}
  void suspect(const id& who) override { suspects.push_back(who); }
  void gone(const id&) override {}
  void asked(const id&, std::string_view) override {}
  void changed(std::string_view) override {}
  void up(const seam::server_facts&) override { ++ups; }
  void down(const failure&) override {}
};

TEST_F(redlock_test, one_holds_and_the_token_grows) {
  const auto a = ids.next(), b = ids.next();
  const auto first = lock(a);
  EXPECT_EQ(first.ttl, good_for(60s));
  EXPECT_TRUE(is_busy(b));
  EXPECT_EQ(lock(a).part, first.part) << "already mine";
  EXPECT_EQ(std::get<engine::kept>(keep(a)).ttl, 60s) << "the nodes count longer";
  EXPECT_EQ(std::get<fate>(release(a)), fate::holding);
  EXPECT_GT(lock(b).part, first.part);
}

TEST_F(redlock_test, two_that_are_stopped_cost_nothing_and_their_late_grants_are_given_back) {
  for (const std::size_t i : {1u, 3u}) stores[i]->pause();
  const auto a = ids.next();
  lock(a);
  EXPECT_EQ(kept(a), fate::holding);
  EXPECT_EQ(std::get<fate>(release(a)), fate::holding);
  for (const std::size_t i : {1u, 3u}) stores[i]->resume();
  pump([&] { return holds() == 0; });
}

TEST_F(redlock_test, three_that_are_stopped_are_named_and_nothing_is_left_behind) {
  for (const std::size_t i : {0u, 1u, 3u}) stores[i]->pause();
  const auto a = ids.next();
  const auto said = std::get<failure>(acquire(a));
  EXPECT_EQ(said.code, make_error_code(errc::unavailable));
  for (const char* name : {"node-0", "node-1", "node-3"})
    EXPECT_NE(said.words.find(name), std::string::npos) << said.words;
  for (const std::size_t i : {0u, 1u, 3u}) stores[i]->resume();
  pump([&] { return holds() == 0; });
  lock(ids.next());
}

TEST_F(redlock_test, who_lost_leaves_nothing_and_may_try_again_with_the_same_id) {
  const auto a = ids.next(), b = ids.next();
  lock_everywhere(a);
  for (const std::size_t i : {0u, 1u}) stores[i]->lose_everything();  // b can have a minority
  EXPECT_TRUE(is_busy(b));
  pump([&] { return holds() == 3; });
  EXPECT_TRUE(is_busy(b));
  EXPECT_EQ(std::get<fate>(release(a)), fate::holding);
  lock(b);
}

TEST_F(redlock_test, restarts_in_turn_lost_a_hold_though_a_majority_was_always_there) {
  const auto a = ids.next();
  const auto token = lock_everywhere(a).part;
  for (int round = 0; round < 2; ++round) {
    for (auto& s : stores) {
      s->lose_everything();
      pump([&] {
        EXPECT_EQ(kept(a), fate::holding);
        return s->count().holds == 1;
      });
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(std::get<fate>(release(a)), fate::holding);
  pump([&] { return holds() == 0; });
  EXPECT_GT(lock(ids.next()).part, token);
}

TEST_F(redlock_test, a_majority_that_forgets_a_hold_at_once_is_not_given_it_again) {
  const auto a = ids.next();
  lock_everywhere(a);
  stores[2]->lose_everything();
  stores[0]->lose_everything();
  stores[1]->pause();
  EXPECT_EQ(kept(a), fate::unknown) << "two have it, two do not, and one does not say";
  EXPECT_EQ(stores[0]->count().holds + stores[2]->count().holds, 0u);
  stores[1]->lose_everything();
  stores[1]->resume();
  auto is = fate::unknown;  // as long as the machine lets one of them take longer than 50 ms
  for (const auto end = clock.now() + patience; is == fate::unknown && clock.now() < end;) is = kept(a);
  EXPECT_EQ(is, fate::gone);
  pump([&] { return holds() == 0; });
}

TEST_F(redlock_test, an_eviction_breaks_only_what_a_majority_holds_and_is_told) {
  const auto a = ids.next();
  lock_everywhere(a);
  const auto evict = [&](const id& who) {
    return std::get<fate>(call<fate>([&](auto back) { it->evict({who, "order"}, "test", std::move(back)); }));
  };
  EXPECT_EQ(evict(ids.next()), fate::gone);
  EXPECT_EQ(evict(a), fate::holding);
  pump([&] { return !suspects.empty(); });
  EXPECT_EQ(suspects.front(), a);
  EXPECT_EQ(kept(a), fate::gone);
  pump([&] { return holds() == 0; });
  const auto b = ids.next();
  lock_everywhere(b);
  for (const std::size_t i : {0u, 1u, 2u}) stores[i]->lose_everything();
  EXPECT_EQ(evict(b), fate::gone) << "what two nodes have is no hold";
  EXPECT_EQ(holds(), 0u) << "but it is in nobody's way any more";
}

TEST_F(redlock_test, what_people_see_is_what_a_majority_has) {
  const auto a = ids.next();
  lock_everywhere(a);
  const auto show = [&] {
    return std::get<seam::page>(call<seam::page>([&](auto back) { it->show("order", std::move(back)); })).entries;
  };
  stores[0]->lose_everything();
  stores[1]->lose_everything();
  ASSERT_EQ(show().size(), 1u);
  EXPECT_EQ(show()[0].owner, "test");
  stores[2]->lose_everything();
  EXPECT_TRUE(show().empty());
}

TEST_F(redlock_test, a_diagnosis_names_the_nodes_and_those_that_do_not_answer) {
  stores[4]->pause();
  const auto all = std::get<std::vector<seam::finding>>(
      call<std::vector<seam::finding>>([&](auto back) { it->diagnose(std::move(back)); }));
  ASSERT_EQ(all.size(), 5u);
  EXPECT_TRUE(all[0].what.starts_with("node-0: "));
  EXPECT_TRUE(all[4].what.starts_with("node-4 does not answer"));
}

TEST_F(redlock_test, a_server_that_is_another_one_is_news) {
  const int before = ups;
  stores[2]->lose_everything();
  pump([&] { return ups > before; });
}

TEST_F(redlock_test, closing_answers_what_is_outstanding_even_if_nodes_do_not) {
  for (const auto& s : stores) s->pause();
  bool answered = false, closed = false;
  it->release({ids.next(), "order"}, true, [&](outcome<fate>&& o) {
    answered = true;
    EXPECT_TRUE(std::holds_alternative<failure>(o.result));
    EXPECT_FALSE(closed);
  });
  it->close([&](outcome<seam::done>&&) { closed = true; });
  pump([&] { return closed; });
  EXPECT_TRUE(answered);
  it.reset();
}

TEST_F(redlock_test, in_a_forked_child_its_end_waits_for_nobody) {
  lock(ids.next());
  const auto child = ::fork();
  if (child == 0) {
    ::alarm(10);  // a hang ends with a signal
    it.reset();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace tyer::redlock
