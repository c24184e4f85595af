// Handlers of Boost.Asio whose call finds no memory for its answer.
#include "contract/no_memory/fixture.hpp"

#include <tyer/asio.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdlib>
#include <memory>
#include <new>

namespace tyer::test {
namespace {

// Has memory when nobody else has: what Asio itself needs is there.
template <class T>
struct hoard {
  using value_type = T;
  hoard() = default;
  template <class U>
  hoard(const hoard<U>&) noexcept {}
  T* allocate(std::size_t n) { return static_cast<T*>(std::malloc(n * sizeof(T))); }
  void deallocate(T* p, std::size_t) noexcept { std::free(p); }
  bool operator==(const hoard&) const = default;
};

struct asio_no_memory : no_memory {};

// It was: the handler was destroyed, without a value and without an error.
TEST_P(asio_no_memory, a_coroutine_whose_question_was_dropped_never_went_on) {
  if (GetParam() == whose::calling_thread) GTEST_SKIP() << "the call throws";
  for_every_allocation(fresh("asked"), [&] {
    boost::asio::io_context io;
    int called = 0;
    failure told;
    const auto note = [&](failure why, bool) {
      ++called;
      told = std::move(why);
    };
    async_confirm(k, boost::asio::bind_executor(io, boost::asio::bind_allocator(hoard<int>{}, note)));
    io.run_for(20s);
    EXPECT_EQ(called, 1);
    expect_no_memory(told);
  });
}

INSTANTIATE_TEST_SUITE_P(of, asio_no_memory, ::testing::Values(whose::calling_thread, whose::clients_threads), name_of);

}  // namespace
}  // namespace tyer::test
