#include "contract/api/fixture.hpp"
#include "sanitized.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>

namespace contract {
namespace {

// Runs in a forked child; what it returns must fit an exit code. -1 if it did not end in time. The child begins when the
// parent has done `before`.
int in_forked_child(const std::function<int()>& f, const std::function<void()>& before = [] {}) {
  int begin[2];
  if (::pipe(begin) != 0) return -1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(20);  // a child that hangs must not hang the test
    ::close(begin[1]);
    char told = 0;
    static_cast<void>(!::read(begin[0], &told, 1));
    ::_exit(f());
  }
  ::close(begin[0]);
  before();
  ::close(begin[1]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The number of the first check that is wrong, 0 if none is.
int first_wrong(std::initializer_list<bool> checks) {
  int n = 0;
  for (const bool right : checks) {
    ++n;
    if (!right) return n;
  }
  return 0;
}

template <class Kind>
class forking : public contract_of<Kind> {};
TYPED_TEST_SUITE(forking, exclusive_kinds);

TYPED_TEST(forking, makes_the_childs_objects_inert) {
  auto c = this->connect();
  auto lock = this->make(c);
  auto h = lock.acquire();
  const auto wrong = in_forked_child([&] {
    tyer::failure why;
    return first_wrong({
        code_of([&] { static_cast<void>(lock.acquire()); }) == errc::forked,
        code_of([&] { static_cast<void>(lock.try_acquire()); }) == errc::forked,
        code_of([&] { static_cast<void>(lock.try_acquire_for(1s)); }) == errc::forked,
        code_of([&] { static_cast<void>(c.wait_ready(1s)); }) == errc::forked,
        h.release(why) == tyer::release_outcome::unknown && why.code == errc::forked,
        !c.close(),
        [&] {
          std::promise<std::error_code> told;
          acquire_then(lock, [&](answer a) { told.set_value(a.why.code); });
          return soon(told.get_future()) == errc::forked;
        }(),
    });
  });
  EXPECT_EQ(wrong, 0) << "the check of that number is wrong";
  EXPECT_TRUE(h.valid());
}

TYPED_TEST(forking, left_the_child_a_hold_that_was_valid_beside_the_next_owners) {
  auto c = this->connect(), other = this->connect();
  auto h = this->make(c).acquire();
  std::optional<tyer::hold> next;
  const auto wrong = in_forked_child(
      [&] {
        tyer::failure why;
        return first_wrong({
            !h.valid(),
            h.remaining() == 0s,
            h.valid_until() == tyer::lease_clock::time_point{},
            h.lost().stop_requested(),
            !h.revoked().stop_possible(),
            code_of([&] { static_cast<void>(h.token()); }) == errc::forked,
            code_of([&] { static_cast<void>(h.id()); }) == errc::forked,
            code_of([&] { static_cast<void>(h.fence()); }) == errc::forked,
            h.release(why) == tyer::release_outcome::unknown && why.code == errc::forked,
        });
      },
      [&] {
        static_cast<void>(h.release());
        next.emplace(this->make(other).acquire());
      });
  EXPECT_EQ(wrong, 0) << "the check of that number is wrong";
  EXPECT_TRUE(next->valid());
}

TYPED_TEST(forking, is_noticed_by_a_hold_whose_client_the_child_has_destroyed) {
  auto c = std::make_unique<tyer::client>(this->connect());
  auto lock = std::make_unique<typename TypeParam::type>(*c, this->name());
  auto h = lock->acquire();
  const auto wrong = in_forked_child([&] {
    lock.reset();
    c.reset();
    tyer::failure why;
    return first_wrong({!h.valid(), h.release(why) == tyer::release_outcome::unknown, why.code == errc::forked});
  });
  EXPECT_EQ(wrong, 0) << "the check of that number is wrong";
  EXPECT_TRUE(h.valid());
}

TYPED_TEST(forking, a_child_that_ends_does_not_release_the_parents_hold) {
  auto c = std::make_unique<tyer::client>(this->connect());
  auto lock = std::make_unique<typename TypeParam::type>(*c, this->name());
  auto h = std::make_unique<tyer::hold>(lock->acquire());
  const auto code = in_forked_child([&] {  // every destructor runs
    h.reset();
    lock.reset();
    c.reset();
    return 7;
  });
  EXPECT_EQ(code, 7);
  EXPECT_TRUE(h->valid());
  auto other = this->connect();
  EXPECT_FALSE(took(this->make(other).try_acquire()));
  EXPECT_EQ(this->raw().holding(this->name()).size(), 1U);
  EXPECT_EQ(h->release(), tyer::release_outcome::released);
}

TYPED_TEST(forking, the_parent_goes_on_renewing) {
  auto c = this->connect();
  auto h = this->make(c, {.ttl = 2400ms}).acquire();
  const auto end = h.valid_until();
  EXPECT_EQ(in_forked_child([&] { return h.valid() ? 1 : 0; }), 0);
  EXPECT_TRUE(eventually([&] { return !h.valid() || h.valid_until() > end + 2400ms; }));
  EXPECT_TRUE(h.valid());
}

TYPED_TEST(forking, the_child_can_make_its_own_client) {
  if (tyer::test::under_tsan) GTEST_SKIP() << "ThreadSanitizer knows no threads in a forked child";
  auto c = this->connect();
  auto h = this->make(c).acquire();
  const bool reaches_the_same_engine = this->engine.there();
  const auto wrong = in_forked_child([&] {
    auto own = this->connect();
    auto same = this->make(own), other = this->make_as(own, this->name() + "/other");
    tyer::hold h_other = other.try_acquire(), h_same = same.try_acquire();
    return first_wrong({
        h_other.valid(),
        !reaches_the_same_engine || !h_same,
        h_other.release() == tyer::release_outcome::released,
        other.acquire().valid(),
    });
  });
  EXPECT_EQ(wrong, 0) << "the check of that number is wrong";
  EXPECT_TRUE(h.valid());
}

// ---- inside a callback: the thread that forks is one of the client's

class forking_in_a_callback : public fixture {
 protected:
  // What a child did that was forked by the callback of a loss. It comes back from the callback if `f` does not end it.
  int in_child_of_a_callback(const std::function<void()>& f) {
    auto c = connect();
    auto h = tyer::mutex{c, name()}.acquire();
    std::promise<int> ended;
    const std::stop_callback forks{h.lost(), [&] {
                                     const pid_t pid = ::fork();
                                     if (pid == 0) {
                                       ::alarm(20);
                                       return f();
                                     }
                                     int status = 0;
                                     ::waitpid(pid, &status, 0);
                                     ended.set_value(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
                                   }};
    c.close();
    return ended.get_future().get();
  }
};

TEST_F(forking_in_a_callback, made_every_blocking_call_of_the_child_a_deadlock) {
  if (tyer::test::under_tsan) GTEST_SKIP() << "ThreadSanitizer knows no threads in a forked child";
  EXPECT_EQ(in_child_of_a_callback([&] {
              auto own = connect();
              tyer::mutex lock{own, name() + "/childs"};
              tyer::failure why;
              auto h = lock.acquire(why);
              const bool held = h && !why && h.release() == tyer::release_outcome::released;
              ::_exit(held && own.close(5s) ? 7 : 1);
            }),
            7);
}

TEST_F(forking_in_a_callback, that_came_back_in_the_child_left_it_waiting_for_ever) {
  EXPECT_EQ(in_child_of_a_callback([] {}), 0) << "it ends, as by _exit(0)";
}

// ---- the standard face, and what has a hold of its own

template <class Kind>
class forking_inside : public contract_of<Kind> {};
TYPED_TEST_SUITE(forking_inside, guarded_kinds);

TYPED_TEST(forking_inside, leaves_the_child_outside) {
  auto c = this->connect(), other = this->connect();
  auto lock = this->make(c), rival = this->make(other);
  lock.lock();
  const auto wrong = in_forked_child([&] {
    const bool refused = code_of([&] { lock.lock(); }) == errc::forked &&
                         code_of([&] { static_cast<void>(lock.try_lock()); }) == errc::forked;
    lock.unlock();
    return first_wrong({refused, code_of([&] { static_cast<void>(lock.try_lock()); }) == errc::forked});
  });
  EXPECT_EQ(wrong, 0) << "the check of that number is wrong";
  EXPECT_FALSE(rival.try_lock());
  lock.unlock();
}

class forking_of : public fixture {};

TEST_F(forking_of, several_locks_left_the_child_all_of_them) {
  auto c = this->connect();
  tyer::multi_mutex all{c, {name() + "/1", name() + "/2"}};
  auto h = std::make_unique<tyer::multi_hold>(all.acquire());
  const auto wrong = in_forked_child([&] {
    const int first = first_wrong({
        !h->valid(),
        h->remaining() == 0s,
        h->valid_until() == tyer::lease_clock::time_point{},
        h->lost().stop_requested(),
        code_of([&] { static_cast<void>(h->token(name() + "/1")); }) == errc::forked,
    });
    h.reset();
    return first;
  });
  EXPECT_EQ(wrong, 0) << "the check of that number is wrong";
  EXPECT_TRUE(h->valid());
}

TEST_F(forking_of, a_lock_left_its_childs_thread_the_owner) {
  auto c = this->connect();
  tyer::recursive_mutex lock{c, name()};
  tyer::mutex plain{c, name() + "/plain"};
  lock.lock();
  plain.lock();
  const auto wrong = in_forked_child([&] {
    return first_wrong({
        lock.depth() == 0,
        code_of([&] { static_cast<void>(lock.held()); }) == errc::forked,
        code_of([&] { static_cast<void>(plain.held()); }) == errc::forked,
    });
  });
  EXPECT_EQ(wrong, 0) << "the check of that number is wrong";
  EXPECT_EQ(lock.depth(), 1U);
  EXPECT_TRUE(lock.held().valid());
  lock.unlock();
  plain.unlock();
}

// The one inside has lost its hold and not left yet: so the other waits at the gate of the object, not at the engine.
TEST_F(forking_of, a_shared_lock_somebody_waits_at_made_its_end_in_the_child_wait_for_ever) {
  if (!can().shared) GTEST_SKIP() << no_such_lock;
  auto c = this->connect();
  auto lock = std::make_unique<tyer::shared_mutex>(c, name());
  lock->lock();
  const auto held = raw().holding(name());
  ASSERT_EQ(held.size(), 1U);
  ASSERT_EQ(raw().evict(held.front()), tyer::engine::fate::holding);
  ASSERT_TRUE(eventually([&] { return !lock->held().valid(); }));
  auto other = this->connect();
  auto before_it = tyer::mutex{other, name()}.acquire();
  auto waiter = in_background([&] {
    lock->lock();
    lock->unlock();
  });
  EXPECT_TRUE(queue_has(1));
  EXPECT_EQ(before_it.release(), tyer::release_outcome::released);
  // It has the lock, finds the gate closed, and gives it back.
  EXPECT_TRUE(eventually([&] { return raw().entries(name()).empty(); })) << who_is_there();
  EXPECT_EQ(in_forked_child([&] {
              lock->unlock();
              lock.reset();
              return 7;
            }),
            7);
  lock->unlock();
  soon(waiter);
}

}  // namespace
}  // namespace contract
