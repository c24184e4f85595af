#include "contract/api/fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>

namespace contract {
namespace {

// Runs in a forked child; what it returns must fit an exit code. -1 if it did not end in time.
int in_forked_child(const std::function<int()>& f) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::alarm(20);  // a child that hangs must not hang the test
    ::_exit(f());
  }
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
  EXPECT_FALSE(this->make(other).try_acquire());
  EXPECT_EQ(this->raw().holding(this->name()).size(), 1U);
  EXPECT_EQ(h->release(), tyer::release_outcome::released);
}

TYPED_TEST(forking, the_parent_goes_on_renewing) {
  auto c = this->connect();
  auto h = this->make(c, {.ttl = 1200ms}).acquire();
  const auto end = h.valid_until();
  EXPECT_EQ(in_forked_child([&] { return h.lost().stop_requested() ? 1 : 0; }), 0);
  EXPECT_TRUE(eventually([&] { return !h.valid() || h.valid_until() > end + 1200ms; }));
  EXPECT_TRUE(h.valid());
}

TYPED_TEST(forking, the_child_can_make_its_own_client) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer knows no threads in a forked child";
#endif
  auto c = this->connect();
  auto h = this->make(c).acquire();
  if (!this->can().after_fork) {
    EXPECT_EQ(in_forked_child([&] { return first_wrong({code_of([&] { this->connect(); }) == errc::unsupported}); }),
              0);
    EXPECT_TRUE(h.valid());
    return;
  }
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

}  // namespace
}  // namespace contract
