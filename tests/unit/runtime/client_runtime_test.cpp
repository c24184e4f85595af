// Who drives: a caller, as long as nobody else pays for it.
#include "runtime/client_runtime.hpp"

#include "unit/runtime/bench.hpp"

#include <gtest/gtest.h>

#include <sched.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace tyer::testing {
namespace {

// Answers an acquire in the next run(), if it is told to, and notes who called that.
class noting_engine final : public seam::engine {
 public:
  struct notes {
    std::mutex mutex;
    std::condition_variable changed;
    std::set<std::thread::id> drivers;
    std::uint64_t runs = 0;
    bool answers = true;
  };
  explicit noting_engine(std::shared_ptr<notes> n) : notes_(std::move(n)) {}

  seam::capabilities can() const noexcept override {
    return {.queue = true, .push = true, .token = true, .keep_batch = 10};
  }
  void open(seam::events&) override {}
  void acquire(const seam::request& r, seam::reply<seam::answer> then) override {
    waiting_.push_back([this, ttl = r.ttl, then = std::move(then)]() mutable {
      then({lease_clock::now(), seam::granted{++part_, ttl}});
    });
  }
  void keep(std::span<const seam::target> all, fate as, milliseconds ttl, seam::reply<seam::kept> then) override {
    waiting_.push_back([n = all.size(), as, ttl, then = std::move(then)]() mutable {
      then({lease_clock::now(), seam::kept{std::vector<fate>(n, as), ttl}});
    });
  }
  void release(const seam::target&, bool, seam::reply<fate> then) override {
    waiting_.push_back([then = std::move(then)]() mutable { then({lease_clock::now(), fate::holding}); });
  }
  void convert(const seam::target&, seam::mode, milliseconds, seam::reply<seam::answer>) override {}
  void lift(const seam::target&, std::uint64_t, seam::reply<fate>) override {}
  void ask(std::string_view, std::string_view, seam::reply<std::uint32_t>) override {}
  void evict(const seam::target&, std::string_view, seam::reply<fate>) override {}
  void show(std::string_view, seam::reply<seam::page>) override {}
  void list(std::string_view, std::string_view, std::uint32_t, seam::reply<seam::page>) override {}
  void watch(std::string_view, bool) override {}
  void diagnose(seam::reply<std::vector<seam::finding>>) override {}
  void close(seam::reply<seam::done> then) override {
    waiting_.push_back([then = std::move(then)]() mutable { then({lease_clock::now(), seam::done{}}); });
    notes_->answers = true;
  }
  void run(seam::time_point until) override {
    {
      std::unique_lock lock{notes_->mutex};
      notes_->drivers.insert(std::this_thread::get_id());
      ++notes_->runs;
      notes_->changed.notify_all();
      const auto now = lease_clock::now();  // `until` may be as far away as there is, either way
      const auto for_now = std::clamp(until, now, now + 50ms) - now;
      notes_->changed.wait_for(lock, for_now, [this] { return woken_ || (notes_->answers && !waiting_.empty()); });
      woken_ = false;
      if (!notes_->answers) return;
    }
    for (auto& answer : std::exchange(waiting_, {})) answer();
  }
  void wake() noexcept override {
    const std::lock_guard lock{notes_->mutex};
    woken_ = true;
    notes_->changed.notify_all();
  }

 private:
  std::shared_ptr<notes> notes_;
  std::vector<core::function<void(), 128>> waiting_;
  std::uint64_t part_ = 0;
  bool woken_ = false;
};

struct in_the_client_runtime : ::testing::Test {
  std::shared_ptr<noting_engine::notes> notes = std::make_shared<noting_engine::notes>();
  std::shared_ptr<runtime::client_runtime> client_runtime =
      runtime::client_runtime::open({std::make_shared<core::boot_clock>(),
                                     std::make_unique<core::random_ids>(),
                                     std::make_unique<noting_engine>(notes),
                                     {},
                                     {},
                                     {}});
  std::shared_ptr<runtime::spec> lock = bench::make_lock("order", 10s);

  // As a blocking call does.
  hold_ptr acquire() {
    const auto opened = std::make_shared<runtime::latch>();
    auto w = std::make_shared<runtime::acquisition>();
    hold_ptr got;
    w->what = lock;
    w->anywhere = true;
    w->done = [&, opened](tyer::failure, hold_ptr h) {
      got = std::move(h);
      client_runtime->open_soon(opened);
    };
    client_runtime->want(w, runtime::client_runtime::afterwards::waits);
    client_runtime->wait(*opened);
    return got;
  }
  bool has_driven(std::thread::id who) {
    const std::lock_guard in{notes->mutex};
    return notes->drivers.contains(who);
  }
  void forget_drivers() {
    const std::lock_guard in{notes->mutex};
    notes->drivers.clear();
  }
};

TEST_F(in_the_client_runtime, a_caller_drives_itself_when_nothing_else_goes_on) {
  for (int i = 0; i < 1000 && !has_driven(std::this_thread::get_id()); ++i) {
    client_runtime->give_back(acquire(), {});
  }
  EXPECT_TRUE(has_driven(std::this_thread::get_id()));
}

// It may not run for seconds on a busy machine, and with it no renewal of the client would.
TEST_F(in_the_client_runtime, a_caller_that_is_scheduled_after_everybody_else_does_not_drive) {
  std::thread idle{[&] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_IDLE, &none), 0);
    forget_drivers();
    for (int i = 0; i < 200; ++i) client_runtime->give_back(acquire(), {});
    EXPECT_FALSE(has_driven(std::this_thread::get_id()));
  }};
  idle.join();
}

TEST_F(in_the_client_runtime, a_long_wait_is_left_to_the_thread_that_is_there_for_it) {
  for (int i = 0; i < 1000 && !has_driven(std::this_thread::get_id()); ++i) client_runtime->give_back(acquire(), {});
  {
    const std::lock_guard in{notes->mutex};
    notes->answers = false;
  }
  std::atomic<bool> others{false};
  std::thread looks{[&, caller = std::this_thread::get_id()] {
    // The caller may drive at first; then it stops to, though it still waits.
    std::unique_lock in{notes->mutex};
    for (const auto end = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < end && !others;) {
      notes->drivers.clear();
      notes->changed.wait_for(in, 200ms);
      notes->changed.wait_for(in, 200ms, [&] { return notes->drivers.contains(caller); });
      others = !notes->drivers.empty() && !notes->drivers.contains(caller);
    }
    notes->answers = true;
    notes->changed.notify_all();
  }};
  EXPECT_TRUE(acquire());
  looks.join();
  EXPECT_TRUE(others);
}

// A clock moved by hand looks at all its clients, also at one that somebody closes in this moment.
TEST(client_runtime, is_looked_at_while_it_is_closed) {
  const auto lock = bench::make_lock("order", 300ms);
  for (int i = 0; i < 50; ++i) {
    const auto notes = std::make_shared<noting_engine::notes>();
    const auto h = runtime::client_runtime::open({std::make_shared<core::boot_clock>(),
                                                  std::make_unique<core::random_ids>(),
                                                  std::make_unique<noting_engine>(notes),
                                                  {},
                                                  {},
                                                  {}});
    auto w = std::make_shared<runtime::acquisition>();
    w->what = lock;
    w->done = [](tyer::failure, hold_ptr) {};
    h->want(w);
    std::thread looks{[&] {
      while (h->look() != lease::time_point::max()) {}
    }};
    h->close(0ms);
    looks.join();
  }
}

// Two who wait without a limit have nothing that is due: whoever drives sleeps until something happens.
TEST_F(in_the_client_runtime, two_waits_without_a_limit_let_the_driver_sleep) {
  {
    const std::lock_guard in{notes->mutex};
    notes->answers = false;
  }
  std::vector<std::shared_ptr<runtime::acquisition>> waits;
  for (int i = 0; i < 2; ++i) {
    auto w = std::make_shared<runtime::acquisition>();
    w->what = lock;
    w->done = [](tyer::failure, hold_ptr) {};
    client_runtime->want(w);
    waits.push_back(std::move(w));
  }
  std::unique_lock in{notes->mutex};
  const auto before = notes->runs;
  const auto began = std::chrono::steady_clock::now();
  notes->changed.wait_for(in, 20s, [&] { return notes->runs >= before + 10; });
  EXPECT_GE(std::chrono::steady_clock::now() - began, 200ms) << "each sleeps for the 50 ms that this engine lets it";
}

}  // namespace
}  // namespace tyer::testing
