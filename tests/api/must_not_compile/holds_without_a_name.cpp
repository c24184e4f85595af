// A hold that is asked before it has a name: it ends with the condition, and the lock is given back before the first line of
// the body. The compiler shows the line of the header that says what to write.
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
