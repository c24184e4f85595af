// A hold that is asked before it has a name: it ends with the condition, and the lock is given back before the first line of
// the body. The compiler shows the line of the header that says what to write.
#include <tyer/async.hpp>
#include <tyer/recipes.hpp>
#include <tyer/tyer.hpp>

#include <future>
#include <utility>

using namespace std::chrono_literals;

void work();
bool told(bool);

void misused(tyer::mutex& m, tyer::semaphore& farm, tyer::failure& why) {
  if (m.try_acquire()) work();              // error: deleted
  if (m.try_acquire_for(1s)) work();        // error: deleted
  if (m.try_acquire_for(why, 1s)) work();   // error: deleted
  if (!m.try_acquire()) return;             // error: deleted
  while (!m.try_acquire_for(1s)) work();    // error: deleted
  if (m.try_acquire() && !why) work();      // error: deleted
  m.try_acquire() ? work() : void();        // error: deleted
  const bool mine{m.try_acquire()};         // error: deleted
  told(static_cast<bool>(m.acquire(why)));  // error: deleted
  told(mine);
  if (farm.permits(2).try_acquire()) work();  // error: deleted
}

void misused(tyer::multi_mutex& all, tyer::shared_mutex& s, tyer::election& l, tyer::hold& h) {
  if (all.try_acquire()) work();         // error: deleted
  if (!all.try_acquire_for(1s)) return;  // error: deleted
  if (s.shared().try_acquire()) work();  // error: deleted
  if (l.campaign()) work();              // error: deleted
  if (std::move(h)) work();              // error: deleted
  auto later = std::async([&] { return s.acquire(); });
  if (later.get()) work();  // error: deleted
}

// Nor does it come to more by being asked something else: it was given back when the answer is looked at.
void asked(tyer::mutex& m, tyer::semaphore& farm, tyer::failure& why) {
  const auto token = m.acquire().token();               // error: deleted
  const auto pass = m.acquire().fence();                // error: deleted
  const std::stop_token lost = m.acquire().lost();      // error: deleted
  const std::stop_token asked = m.acquire().revoked();  // error: deleted
  const auto slot = farm.acquire().slot();              // error: deleted
  if (m.acquire(why).confirm()) work();                 // error: deleted
  if (m.acquire(why).confirm(why)) work();              // error: deleted
  static_cast<void>(token), static_cast<void>(pass), static_cast<void>(lost), static_cast<void>(asked);
  static_cast<void>(slot);
}

void asked(tyer::multi_mutex& all, tyer::failure& why) {
  const auto token = all.acquire().token("a");            // error: deleted
  const auto pass = all.acquire().fence("a");             // error: deleted
  const std::stop_token lost = all.acquire().lost();      // error: deleted
  const std::stop_token asked = all.acquire().revoked();  // error: deleted
  if (all.acquire(why).confirm()) work();                 // error: deleted
  if (all.acquire(why).confirm(why)) work();              // error: deleted
  static_cast<void>(token), static_cast<void>(pass), static_cast<void>(lost), static_cast<void>(asked);
}

void asked(tyer::recipes::striped& parts) {
  if (parts.acquire("a").held) work();                  // error: deleted
  const auto token = parts.acquire_any().held.token();  // error: deleted
  static_cast<void>(token);
}

void asked_by_others(tyer::mutex& m) {
  const auto held = tyer::etcd::guard_txn(m.acquire());               // error: deleted
  tyer::start_confirm(m.acquire(), [](tyer::failure, bool) {});       // error: deleted
  tyer::start_confirm(tyer::hold{}, [](tyer::failure, bool) {}, {});  // error: deleted
  static_cast<void>(held);
}
