// An allocation fails while several overdue keys are taken away, or looked for: none of them stays, and the next ones are taken
// away too.
#include "contract/no_memory/failing_new.hpp"
#include "sim/etcd/one_client.hpp"

#include <array>
#include <new>

namespace tyer::sim::etcd {
namespace {

constexpr std::array names{"one", "two", "three"};

// A client whose allocations fail, one, from when its sweeps are answered on. Another client keeps the leases, as it were.
struct starved : etcd_scripted {
  void TestBody() override {}

  void pass(duration d) {
    for (const auto end = time.now() + d; time.now() < end; a.run_for(250ms)) data.renew_leases();
  }
  static bool is_sweep(const exchange& e) {
    pb::TxnRequest t;
    return e.method == "Txn" && t.ParseFromString(e.request) && t.success_size() > 0 && t.success(0).has_request_txn();
  }
  void acquire_all() {
    std::size_t answers = 0;
    for (const char* name : names) {
      auto r = a.wants(a.next_id());
      r.what.name = name;
      a.raw().acquire(r, [&](outcome<answer>&&) { ++answers; });
    }
    EXPECT_TRUE(a.run_until([&] { return answers == names.size(); }));
  }
  // Several at once, whose answers get lost: they are looked for.
  void write_unheard() {
    fake.decide = [](const exchange& e) {
      const bool lost = e.client == 0 && e.method == "Txn" && !is_sweep(e);
      return journey{.there = 500us, .back = 500us, .answer_lost = lost};
    };
    acquire_all();
    fake.decide = [](const exchange&) { return journey{.there = 500us, .back = 500us}; };
    EXPECT_EQ(data.all().size(), names.size());
  }
  void hold_and_forget() {
    acquire_all();
    EXPECT_EQ(data.all().size(), names.size());
  }

  // Where it is told about a sweep: on the way in, or in run().
  enum class where : std::uint8_t { on_the_way, in_run };
  bool fail_allocation(where in, int n) {
    bool swept = false, failed = false;
    const auto without_memory = [&](auto&& act) {
      if (!swept || failed) return act();
      const test::failing_new one{test::whose::calling_thread, n};
      try {
        act();
      } catch (const std::bad_alloc&) {}
      failed = one.failed();
    };
    fake.on_call = [&](const exchange& e) { swept = swept || (e.client == 0 && is_sweep(e)); };
    if (in == where::in_run) a.around_run = without_memory;
    if (in == where::on_the_way) {
      fake.inside = [&](std::size_t client, task t) { client == 0 ? without_memory(t) : t(); };
    }
    pass(ttl + 1s);
    fake.inside = [](std::size_t, task t) { t(); };
    fake.on_call = nullptr;
    a.around_run = nullptr;
    return failed;
  }
};

void expect_nothing_left(void (starved::*begin)(), starved::where in) {
  int n = 1;
  for (bool failed = true; failed; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    ASSERT_LT(n, 300);
    starved s;
    (s.*begin)();
    failed = s.fail_allocation(in, n);
    s.pass(3s);
    EXPECT_EQ(s.data.all().size(), 0u);
    for (int more = 0; more < 3; ++more) {
      s.hold_and_forget();
      s.pass(ttl + 1s);
      EXPECT_EQ(s.data.all().size(), 0u) << "of those that came later";
    }
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(n, 3) << "there was nothing to fail";
}

// It was: what was told about the others was lost with it, and with that their keys, for as long as their lease was kept.
TEST(etcd_sweep_without_memory, lost_what_was_found_together) {
  expect_nothing_left(&starved::write_unheard, starved::where::in_run);
}
TEST(etcd_sweep_without_memory, lost_what_was_deleted_together) {
  expect_nothing_left(&starved::hold_and_forget, starved::where::in_run);
}
// It was: the answer itself was lost, and with four such nothing was ever swept again.
TEST(etcd_sweep_without_memory, lost_its_answer) {
  expect_nothing_left(&starved::write_unheard, starved::where::on_the_way);
  expect_nothing_left(&starved::hold_and_forget, starved::where::on_the_way);
}

}  // namespace
}  // namespace tyer::sim::etcd
