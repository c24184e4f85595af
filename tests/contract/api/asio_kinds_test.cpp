// tyer/asio.hpp takes every kind of lock, the readers' side of a shared_mutex and any number of permits.
#include "contract/api/fixture.hpp"

#include <tyer/asio.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>

#include <vector>

namespace contract {
namespace {

namespace asio = boost::asio;

// Runs a coroutine to its end, and throws what it throws.
void run(asio::awaitable<void> coroutine) {
  asio::io_context io;
  std::exception_ptr thrown;
  asio::co_spawn(io, std::move(coroutine), [&](std::exception_ptr e) { thrown = e; });
  io.run_for(patience);
  if (!io.stopped()) throw std::runtime_error("it did not end in time");
  if (thrown) std::rethrow_exception(thrown);
}

template <class Kind>
class asio_kind : public contract_of<Kind> {};
TYPED_TEST_SUITE(asio_kind, exclusive_kinds);

TYPED_TEST(asio_kind, is_acquired_tried_and_given_back) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a), other = this->make(b);
  run([&]() -> asio::awaitable<void> {
    tyer::hold h = co_await tyer::async_acquire(lock);
    EXPECT_TRUE(h.valid());
    EXPECT_FALSE(took(co_await tyer::async_try_acquire(other)));
    EXPECT_FALSE(took(co_await tyer::async_try_acquire_for(other, 500ms)));
    EXPECT_EQ(co_await tyer::async_release(h), tyer::release_outcome::released);
    EXPECT_TRUE(took(co_await tyer::async_try_acquire_for(other, patience)));
  }());
}

TYPED_TEST(asio_kind, a_wait_can_be_cancelled_and_leaves_nothing_behind) {
  auto a = this->connect(), b = this->connect();
  auto lock = this->make(a, {.ttl = 60s, .waiter_ttl = 30s}), other = this->make(b, {.ttl = 60s, .waiter_ttl = 30s});
  auto h = lock.acquire();
  run([&]() -> asio::awaitable<void> {
    const auto [why, none] = co_await tyer::async_acquire(other, asio::cancel_after(50ms, asio::as_tuple));
    EXPECT_EQ(why.code, errc::cancelled);
    EXPECT_FALSE(none);
  }());
  EXPECT_TRUE(this->queue_has(0));
}

class asio_beside : public fixture {
 protected:
  void SetUp() override {
    if (!can().shared || !can().permits) GTEST_SKIP() << no_such_lock;
  }
};

TEST_F(asio_beside, readers_come_in_together_and_before_the_writer_behind_them) {
  auto a = connect(), b = connect();
  tyer::shared_mutex in_a{a, name(), {.ttl = 60s}}, in_b{b, name(), {.ttl = 60s}};
  std::future<tyer::hold> writer;
  std::vector<tyer::hold> readers;
  run([&]() -> asio::awaitable<void> {
    readers.push_back(co_await tyer::async_acquire(in_a.shared()));
    readers.push_back(co_await tyer::async_acquire(in_b.shared()));
    readers.push_back(co_await tyer::async_try_acquire(in_a.shared()));
    EXPECT_FALSE(took(co_await tyer::async_try_acquire(in_b)));
  }());
  for (const auto& r : readers) EXPECT_TRUE(r.valid() && r.mode() == tyer::lock_mode::shared);
  writer = tyer::async_acquire(in_b, asio::use_future);
  EXPECT_TRUE(queue_has(1));
  readers.clear();
  EXPECT_EQ(soon(writer).mode(), tyer::lock_mode::exclusive);
}

TEST_F(asio_beside, permits_are_taken_several_at_once) {
  auto a = connect(), b = connect();
  tyer::semaphore in_a{a, name(), 3}, in_b{b, name(), 3};
  run([&]() -> asio::awaitable<void> {
    tyer::hold two = co_await tyer::async_acquire(in_a.permits(2));  // the permits() object may go, the call goes on
    EXPECT_EQ(two.slot_numbers().size(), 2U);
    EXPECT_FALSE(took(co_await tyer::async_try_acquire(in_b.permits(2))));
    tyer::hold one = co_await tyer::async_acquire(in_b);
    EXPECT_TRUE(one.valid());
    co_await tyer::async_release(two);
    tyer::hold more = co_await tyer::async_try_acquire_for(in_b.permits(2), patience);
    EXPECT_EQ(more.slot_numbers().size(), 2U);
  }());
}

}  // namespace
}  // namespace contract
