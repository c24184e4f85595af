// What a call of <tyer/asio.hpp> gives must not be dropped: without an initiation nothing happens at all.
#include <tyer/asio.hpp>
#include <tyer/tyer.hpp>

#include <boost/asio/detached.hpp>

#include <utility>

using namespace std::chrono_literals;

void misused(tyer::mutex& m, tyer::hold& h) {
  tyer::async_acquire(m);                                              // error: nodiscard
  tyer::async_try_acquire(m);                                          // error: nodiscard
  tyer::async_try_acquire_for(m, 5s);                                  // error: nodiscard
  tyer::async_try_acquire_until(m, std::chrono::steady_clock::now());  // error: nodiscard
  tyer::async_release(h);                                              // error: nodiscard
  tyer::async_release(std::move(h));                                   // error: nodiscard
}

void misused_too(tyer::multi_mutex& all, tyer::multi_hold& h, tyer::shared_mutex& s, tyer::hold& reader,
                 tyer::client& c) {
  tyer::async_acquire(all);                    // error: nodiscard
  tyer::async_try_acquire(all);                // error: nodiscard
  tyer::async_try_acquire_for(all, 5s);        // error: nodiscard
  tyer::async_release(h);                      // error: nodiscard
  tyer::async_upgrade(s, reader);              // error: nodiscard
  tyer::async_try_upgrade(s, reader);          // error: nodiscard
  tyer::async_try_upgrade_for(s, reader, 5s);  // error: nodiscard
  tyer::async_wait_ready(c, 5s);               // error: nodiscard
}

void of_a_temporary(tyer::mutex& m, tyer::multi_mutex& all) {
  auto later = tyer::async_confirm(m.acquire());     // error: deleted
  auto of_all = tyer::async_confirm(all.acquire());  // error: deleted
  static_cast<void>(later), static_cast<void>(of_all);
}

void used(tyer::mutex& m, tyer::hold& h) {
  tyer::async_acquire(m, [](tyer::failure, tyer::hold) {});
  tyer::async_try_acquire_for(m, 5s, boost::asio::detached);
  tyer::async_release(h, boost::asio::detached);
  auto later = tyer::async_acquire(m);
  static_cast<void>(later);
}
