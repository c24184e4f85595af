// What must not be dropped: a lock that is let go in the line that took it, a failure that nobody looks at.
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

using namespace std::chrono_literals;

void misused(tyer::client& c, tyer::mutex& m, tyer::failure& why) {
  m.acquire();                                            // error: nodiscard
  m.acquire(std::stop_token{});                           // error: nodiscard
  m.acquire(why);                                         // error: nodiscard
  m.try_acquire();                                        // error: nodiscard
  m.try_acquire(why);                                     // error: nodiscard
  m.try_acquire_for(1s);                                  // error: nodiscard
  m.try_acquire_for(why, 1s);                             // error: nodiscard
  m.try_acquire_until(std::chrono::steady_clock::now());  // error: nodiscard
  m.try_lock();                                           // error: nodiscard
  m.try_lock_for(1s);                                     // error: nodiscard
  m.try_lock_until(std::chrono::steady_clock::now());     // error: nodiscard
  tyer::recursive_mutex again{c, "x"};
  again.try_lock();        // error: nodiscard
  again.try_lock_for(1s);  // error: nodiscard
  tyer::semaphore slots{c, "x", 3};
  slots.acquire();             // error: nodiscard
  slots.permits(2);            // error: nodiscard
  slots.permits(2).acquire();  // error: nodiscard
  c.wait_ready();              // error: nodiscard
  c.wait_ready(why);           // error: nodiscard
  c.wait_ready(why, 1s);       // error: nodiscard
}

void misused(tyer::client& c, tyer::shared_mutex& s, tyer::hold& h, tyer::failure& why) {
  s.acquire();                // error: nodiscard
  s.shared().acquire();       // error: nodiscard
  s.upgrade(h);               // error: nodiscard
  s.upgrade(why, h);          // error: nodiscard
  s.try_upgrade(h);           // error: nodiscard
  s.try_upgrade_for(h, 1s);   // error: nodiscard
  s.try_lock();               // error: nodiscard
  s.try_lock_shared();        // error: nodiscard
  s.try_lock_shared_for(1s);  // error: nodiscard
  tyer::multi_mutex both{c, {"x", "y"}};
  both.acquire();            // error: nodiscard
  both.acquire(why);         // error: nodiscard
  both.try_acquire();        // error: nodiscard
  both.try_acquire_for(1s);  // error: nodiscard
  both.try_lock();           // error: nodiscard
  tyer::election l{c, "x"};
  l.campaign();                   // error: nodiscard
  l.campaign(why);                // error: nodiscard
  why.message();                  // error: nodiscard
  tyer::is_transient(why.code);   // error: nodiscard
  both.try_lock_for(1s);          // error: nodiscard
  l.current();                    // error: nodiscard
  l.observe([](const auto&) {});  // error: nodiscard
  tyer::admin admin{c};
  admin.watch("x", [](const auto&) {});  // error: nodiscard
  admin.show("x");                       // error: nodiscard
  admin.evict({});                       // error: nodiscard
  h.valid();                             // error: nodiscard
  h.token();                             // error: nodiscard
  tyer::fence_gate gate;
  gate.enter(h.fence());  // error: nodiscard
}

// The right use says nothing. An outcome that is only news may be dropped.
void used(tyer::client& c, tyer::mutex& m, tyer::shared_mutex& s) {
  tyer::hold h = m.acquire();
  h.release();
  tyer::failure why;
  if (tyer::hold again = m.try_acquire_for(why, 1s)) again = {};
  if (m.try_lock()) m.unlock();
  h = s.shared().acquire();
  if (s.upgrade(h)) s.downgrade(h);
  if (!c.wait_ready()) c.close();
  c.ask("x");
  m.lock();
  m.unlock();
  tyer::testing::engine engine;
  engine.advance(1s);
}
