// How long to wait, in whatever unit and of whatever type: every call that has a limit.
#include <tyer/testing.hpp>
#include <tyer/tyer.hpp>

#include <chrono>
#include <ratio>

using namespace std::chrono_literals;

template <class Limit>
void limits_of(tyer::client& c, tyer::mutex& m, tyer::failure& why, const Limit& limit) {
  tyer::hold h = m.try_acquire_for(limit);
  h = m.try_acquire_for(limit, std::stop_token{});
  h = m.try_acquire_for(why, limit);
  if (m.try_lock_for(limit)) m.unlock();
  if (!c.wait_ready(limit)) c.close(limit);
  tyer::recursive_mutex again{c, "x"};
  if (again.try_lock_for(limit)) again.unlock();
  tyer::shared_mutex s{c, "x"};
  h = s.shared().try_acquire_for(limit);
  if (s.try_upgrade_for(h, limit) || s.try_upgrade_for(why, h, limit)) s.downgrade(h);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
  if (s.try_upgrade_until(h, until) || s.try_upgrade_until(why, h, until)) s.downgrade(h);
  if (s.try_lock_for(limit)) s.unlock();
  if (s.try_lock_shared_for(limit)) s.unlock_shared();
  tyer::multi_mutex both{c, {"x", "y"}};
  tyer::multi_hold all = both.try_acquire_for(limit);
  all = both.try_acquire_for(why, limit);
  h = tyer::semaphore{c, "x", 3}.permits(2).try_acquire_for(limit);
  h = tyer::election{c, "x"}.try_acquire_for(limit);
  const tyer::observation o = tyer::admin{c}.watch("x", [](const auto&) {}, limit);
  tyer::testing::engine{}.advance(limit);
}

template <class Clock>
void times_of(tyer::client& c, tyer::mutex& m, tyer::failure& why) {
  const auto limit = Clock::now() + 1s;
  tyer::hold h = m.try_acquire_until(limit);
  h = m.try_acquire_until(why, limit);
  h = m.try_acquire_until(Clock::time_point::max(), std::stop_token{});
  if (m.try_lock_until(limit)) m.unlock();
  tyer::multi_mutex both{c, {"x", "y"}};
  tyer::multi_hold all = both.try_acquire_until(limit);
  all = both.try_acquire_until(why, limit);
}

void all(tyer::client& c, tyer::mutex& m, tyer::failure& why) {
  limits_of(c, m, why, 5s);
  limits_of(c, m, why, std::chrono::hours::max());
  limits_of(c, m, why, std::chrono::seconds::max());
  limits_of(c, m, why, std::chrono::nanoseconds::min());
  limits_of(c, m, why, std::chrono::duration<double>{0.5});
  limits_of(c, m, why, std::chrono::duration<float, std::pico>{1});
  limits_of(c, m, why, std::chrono::duration<unsigned, std::ratio<1, 3>>{1});
  times_of<std::chrono::steady_clock>(c, m, why);
  times_of<std::chrono::system_clock>(c, m, why);
  times_of<tyer::lease_clock>(c, m, why);
}
