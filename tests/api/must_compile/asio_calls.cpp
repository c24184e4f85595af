// Every call of <tyer/asio.hpp>, in a coroutine and with a callback.
#include <tyer/asio.hpp>
#include <tyer/tyer.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> awaited(tyer::client& c, tyer::mutex& m, tyer::shared_mutex& s, tyer::multi_mutex& all) {
  co_await tyer::async_wait_ready(c, 5s);
  if (tyer::hold h = co_await tyer::async_try_acquire_for(m, 1s)) co_await tyer::async_release(h);
  tyer::hold h = co_await tyer::async_acquire(s.shared(), asio::cancel_after(5s));
  if (co_await tyer::async_confirm(h) && co_await tyer::async_upgrade(s, h)) s.downgrade(h);
  tyer::multi_hold both = co_await tyer::async_acquire(all, asio::use_awaitable);
  const auto limit = std::chrono::system_clock::now() + 5s;
  if (co_await tyer::async_confirm(both) && co_await tyer::async_try_upgrade_until(s, h, limit)) s.downgrade(h);
  h = co_await tyer::async_try_acquire_until(m, limit, asio::cancel_after(5s));
  both = co_await tyer::async_try_acquire_until(all, limit);
  co_await tyer::async_release(std::move(both));
}

void called(tyer::mutex& m, tyer::multi_mutex& all) {
  tyer::async_acquire(m, [](tyer::failure why, tyer::hold h) {
    if (!why && h) tyer::async_release(std::move(h), [](tyer::failure, tyer::release_outcome) {});
  });
  tyer::async_try_acquire(all, [](tyer::failure, tyer::multi_hold h) {
    if (h) tyer::async_release(std::move(h), [](tyer::failure, tyer::release_outcome) {});
  });
}
