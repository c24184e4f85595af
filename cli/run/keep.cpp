#include "run/keep.hpp"

#include "base/session.hpp"
#include "base/trouble.hpp"
#include "guard/child.hpp"
#include "guard/guarded.hpp"
#include "guard/ward.hpp"
#include "run/once.hpp"
#include "text/duration.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <cstring>
#include <iostream>

namespace cli {

using namespace std::chrono_literals;

namespace {

constexpr int code_of_first_signal = 128;

tyer::hold acquire(session& s, const plan& p, const tyer::acquirable& lock, std::stop_token stop) {
  const progress waiting{s.screen(), [&] { return "waiting for " + p.name; }};
  if (!p.wait) return lock.acquire(std::move(stop));
  if (*p.wait == 0ms) return lock.try_acquire();
  return lock.try_acquire_for(*p.wait, std::move(stop));
}

// As session::reach, but a signal ends it at once.
void reach(session& s, tyer::client& c, const std::stop_token& stop) {
  const auto where = tyer::admin{c}.address();
  const progress connecting{s.screen(), [&] { return "connecting to " + where; }};
  const auto until = std::chrono::steady_clock::now() + s.connect_timeout();
  while (const auto why = c.wait_ready(100ms, std::nothrow)) {
    if (stop.stop_requested()) throw tyer::error(tyer::errc::cancelled);
    if (std::chrono::steady_clock::now() >= until) throw trouble_of(why, "cannot reach " + where);
  }
}

exit_code not_acquired(const plan& p) {
  const std::string after = *p.wait == 0ms ? "" : " within " + shown(*p.wait);
  throw trouble(exit_code::not_acquired, p.name + " was not free" + after,
                "The command was not started. Who has it: tyer show " + plain(p.name));
}

// Cron sends a mail for every line, so there is one only for a person.
exit_code skipped(session& s, const plan& p, const std::string& why) {
  if (s.screen().err_is_terminal())
    std::cerr << "tyer: not started: " << plain(p.name) << ' ' << why << ", at most once per " << shown(*p.once_per)
              << '\n';
  return p.tell_skipped ? exit_code::not_acquired : exit_code::ok;
}

exit_code code_of(const plan& p, const ward& command, const ward::result& r) {
  switch (r.how) {
    case ending::by_itself: return passed_on(code_of_status(r.number));
    case ending::not_started:
      throw trouble(passed_on(code_of_failure(r.number)), p.command.front() + ": " + std::strerror(r.number));
    case ending::too_late:
      if (command.cancelled_by() != 0) return passed_on(code_of_first_signal + command.cancelled_by());
      throw trouble(
          exit_code::lost, p.name + ": the command was not started: the lock came too late to be of use",
          "This machine or the engine is too slow for a --ttl of " + shown(p.ttl) + "; give it a longer one.");
    case ending::stopped: break;
  }
  throw trouble(exit_code::lost, "lost " + p.name + " while the command ran; the command has been stopped",
                "Why it may have been: tyer doctor");
}

// One turn: from waiting until the lock is given back.
exit_code one_turn(session& s, const plan& p, const tyer::acquirable& lock, ward& command) {
  tyer::hold h = acquire(s, p, lock, command.cancelled());
  if (!h) return p.once_per ? skipped(s, p, "runs already") : not_acquired(p);
  std::optional<tyer::lease_clock::time_point> start_by;
  if (p.once_per) {
    start_by = take_period(s, p.name, *p.once_per);
    if (!start_by) return skipped(s, p, "was started already");
  }
  const auto result = command.run(h, p.ttl, start_by);
  if (h.release() == tyer::release_outcome::unknown)
    std::cerr << "tyer: the engine did not confirm that " << plain(p.name)
              << " was given back; it is free at the latest in " << shown(p.ttl) << '\n';
  return code_of(p, command, result);
}

exit_code stand_again(session& s, const plan& p, const tyer::acquirable& lock, ward& command) {
  for (;;) {
    try {
      return one_turn(s, p, lock, command);
    } catch (const trouble& t) {
      if (t.code() != exit_code::lost || command.cancelled().stop_requested()) throw;
      std::cerr << "tyer: " << t.what() << "; standing again\n";
    }
  }
}

exit_code keep(session& s, const plan& p, line to_guardian) {
  ward command{std::move(to_guardian)};
  try {
    tyer::client c = s.open();
    reach(s, c, command.cancelled());
    const auto lock = lock_of(p, c);
    return p.again ? stand_again(s, p, *lock, command) : one_turn(s, p, *lock, command);
  } catch (const tyer::error& e) {
    if (e.code() != tyer::errc::cancelled || command.cancelled_by() == 0) throw;
    return passed_on(code_of_first_signal + command.cancelled_by());
  }
}

}  // namespace

exit_code run_plan(session& s, const plan& p) {
  check(p);
  return run_guarded(job_of(p), [&](line to_guardian) { return keep(s, p, std::move(to_guardian)); });
}

}  // namespace cli
