// What must not be dropped: a lock that is let go in the line that took it, a failure that nobody looks at.
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

using namespace std::chrono_literals;

void misused(tyer::client& c, tyer::mutex& m, tyer::failure& why) {
  m.acquire();                                            // misuse
  m.acquire(std::stop_token{});                           // misuse
  m.acquire(why);                                         // misuse
  m.try_acquire();                                        // misuse
  m.try_acquire(why);                                     // misuse
  m.try_acquire_for(1s);                                  // misuse
  m.try_acquire_for(why, 1s);                             // misuse
  m.try_acquire_until(std::chrono::steady_clock::now());  // misuse
  m.try_lock();                                           // misuse
  m.try_lock_for(1s);                                     // misuse
  m.try_lock_until(std::chrono::steady_clock::now());     // misuse
  tyer::recursive_mutex again{c, "x"};
  again.try_lock();        // misuse
  again.try_lock_for(1s);  // misuse
  tyer::semaphore slots{c, "x", 3};
  slots.acquire();                 // misuse
  slots.permits(2);                // misuse
  slots.permits(2).acquire();      // misuse
  c.wait_ready();                  // misuse
  c.wait_ready(1s, std::nothrow);  // misuse
}

void misused(tyer::client& c, tyer::shared_mutex& s, tyer::hold& h, tyer::failure& why) {
  s.acquire();                // misuse
  s.shared().acquire();       // misuse
  s.upgrade(h);               // misuse
  s.upgrade(why, h);          // misuse
  s.try_upgrade(h);           // misuse
  s.try_upgrade_for(h, 1s);   // misuse
  s.try_lock();               // misuse
  s.try_lock_shared();        // misuse
  s.try_lock_shared_for(1s);  // misuse
  tyer::multi_mutex both{c, {"x", "y"}};
  both.acquire();            // misuse
  both.acquire(why);         // misuse
  both.try_acquire();        // misuse
  both.try_acquire_for(1s);  // misuse
  both.try_lock();           // misuse
  tyer::leader l{c, "x"};
  l.campaign();                   // misuse
  l.current();                    // misuse
  l.observe([](const auto&) {});  // misuse
  tyer::admin admin{c};
  admin.watch("x", [](const auto&) {});  // misuse
  admin.show("x");                       // misuse
  admin.evict({});                       // misuse
  h.valid();                             // misuse
  h.token();                             // misuse
  tyer::fence_gate gate;
  gate.enter(h.token());  // misuse
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
