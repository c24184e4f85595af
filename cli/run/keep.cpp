#include "run/keep.hpp"

#include "base/session.hpp"
#include "base/trouble.hpp"
#include "guard/child.hpp"
#include "guard/guarded.hpp"
#include "guard/ward.hpp"
#include "run/once.hpp"
#include "run/outer.hpp"
#include "run/runner.hpp"
#include "run/story.hpp"
#include "text/duration.hpp"
#include "text/entries.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <source_location>
#include <string_view>

namespace cli {

using namespace std::chrono_literals;

namespace {

constexpr int code_of_first_signal = 128;

constexpr std::chrono::seconds told_after = 30s;  // cron sends a mail for any output, and such a long wait is worth one

// A location in our own source would mean nothing to the user.
constexpr std::source_location nowhere{};

tyer::hold acquire(session& s, const plan& p, const tyer::acquirable& lock, std::stop_token stop) {
  const auto doing = [&] {
    return "waiting for " + named(p.name) + (s.screen().err_is_terminal() ? "" : " (tyer show says who has it)");
  };
  const progress waiting{s.screen(), doing, s.json() ? std::nullopt : std::optional{told_after}};
  if (!p.wait) return lock.acquire(std::move(stop), nowhere);
  if (*p.wait == 0ms) return lock.try_acquire(nowhere);
  return lock.try_acquire_for(*p.wait, std::move(stop), nowhere);
}

[[noreturn]] void not_acquired(const plan& p) {
  const std::string after = *p.wait == 0ms ? "" : " within " + shown(*p.wait);
  throw trouble(p.code_if_busy ? passed_on(*p.code_if_busy) : exit_code::not_acquired,
                named(p.name) + " was not free" + after,
                "The command was not started. Who has the lock: tyer show " + for_shell(p.name));
}

// Cron sends a mail for any output, so this is printed only on a terminal, or if it counts as a failure.
exit_code skipped(session& s, const plan& p, story& tale, const std::string& why) {
  tale.skipped();
  if (s.screen().err_is_terminal() || (p.tell_skipped && !s.json()))
    std::cerr << "tyer: not started: " << named(p.name) << ' ' << why << ", at most once per " << shown(*p.once_per)
              << '\n';
  return p.tell_skipped ? exit_code::not_acquired : exit_code::ok;
}

exit_code code_of_signal(const ward& command) { return passed_on(code_of_first_signal + command.cancelled_by()); }

exit_code code_of(const plan& p, const ward& command, const ward::result& r, story& tale) {
  switch (r.how) {
    case ending::by_itself: tale.ended(); return passed_on(code_of_status(r.number));
    case ending::not_started:
      throw trouble(passed_on(code_of_failure(r.number)), p.command.front() + ": " + std::strerror(r.number));
    case ending::too_late:
      if (command.cancelled_by() != 0) return code_of_signal(command);
      throw trouble(exit_code::lost,
                    named(p.name) + ": the command was not started: the lock was granted too late to be useful",
                    "This machine or the engine is too slow for a --ttl of " + shown(p.ttl) + "; use a longer one.");
    case ending::stopped: break;
  }
  throw trouble(exit_code::lost, "lost " + named(p.name) + " while the command ran; the command has been stopped",
                "To find out why: tyer doctor");
}

// One turn: wait for the lock, run the command, release the lock.
exit_code one_turn(session& s, const plan& p, const tyer::acquirable& lock, ward& command, story& tale) {
  tyer::hold h = acquire(s, p, lock, command.cancelled());
  if (!h && p.once_per) return skipped(s, p, tale, "runs already");
  if (!h) {
    tale.not_acquired();
    not_acquired(p);
  }
  tale.acquired(h);
  std::optional<tyer::lease_clock::time_point> start_by;
  if (p.once_per) {
    start_by = take_period(s, p.name, *p.once_per);
    if (!start_by) return skipped(s, p, tale, "was started already");
  }
  // What is left behind outlives the lock, and does not wait as a part of this command.
  const auto inside = p.leave ? "" : with_hold(read_outer(), static_cast<std::uint64_t>(::getpid()), h.id().text());
  const auto result = command.run(h, p.ttl, start_by, inside);
  tale.over();
  if (h.release() == tyer::release_outcome::unknown && result.how == ending::by_itself)
    std::cerr << "tyer: the engine did not confirm that " << named(p.name) << " was released; it is free in "
              << shown(p.ttl) << " at the latest\n";
  return code_of(p, command, result, tale);
}

// A leader that has lost its term stands again, also while the engine is away.
exit_code all_turns(session& s, const plan& p, const tyer::acquirable& lock, ward& command, story& tale) {
  for (;;) {
    try {
      return one_turn(s, p, lock, command, tale);
    } catch (const trouble& t) {
      if (!p.again || t.code() != exit_code::lost || command.cancelled().stop_requested()) throw;
      std::cerr << "tyer: " << plain(t.what()) << "; standing again\n";
    } catch (const tyer::error& e) {
      if (!p.again || e.code() != tyer::errc::unavailable) throw;
      std::cerr << "tyer: the engine does not answer; still a candidate for " << named(p.name) << '\n';
    }
  }
}

// Engines say "this name", and not all of them know how many permits we have asked for.
std::string words_of(const tyer::error& e, const plan& p) {
  constexpr std::string_view subject = "this name ";
  const std::string& words = e.words();
  if (e.code() != tyer::errc::permits_differ || !words.starts_with(subject)) return words;
  const auto end = std::min(words.find(", not"), words.size());
  return named(p.name) + ' ' + words.substr(subject.size(), end - subject.size()) + ", not " +
         std::to_string(p.take.of);
}

// Whether those holds of outer ones do not let this one in.
bool bar(const entries& own, const plan& p) {
  if (own.empty()) return false;
  std::size_t taken = p.take.take;
  for (const auto& e : own) taken += e.slot_numbers.size();
  if (p.take.of != 0) return taken > p.take.of;
  return !p.shared || std::ranges::any_of(own, [](const auto& e) { return e.mode != tyer::lock_mode::shared; });
}

// The outer one ends when its command does, and that would wait here.
void refuse_to_wait_for_oneself(const plan& p, const tyer::client& c, const outer& around) {
  if (around.holds.empty() || p.wait == 0ms) return;
  tyer::failure why;  // then it waits, as it would without this
  auto own = tyer::admin{c}.show(why, p.name);
  std::erase_if(own, [&](const auto& e) { return e.waiting || !around.has(e.id.text()); });
  if (!bar(own, p)) return;
  throw trouble(exit_code::usage,
                named(p.name) + " is held by " + process(own.front()) +
                    ", inside whose command this is: it would wait for itself",
                "The command was not started. For a script that takes its own lock: tyer run --help has a line.");
}

exit_code keep(session& s, const plan& p, line to_guardian, story& tale) {
  ward command{std::move(to_guardian)};
  try {
    const auto around = read_outer();
    tyer::client c = s.open({.label = p.show_as.empty() ? label_of(p.verb, p.command, around.process)
                                                        : label_of(p.verb, p.show_as, around.process)});
    s.reach(c, command.cancelled());
    refuse_to_wait_for_oneself(p, c, around);
    return all_turns(s, p, *lock_of(p, c), command, tale);
  } catch (const tyer::error& e) {
    if (e.code() != tyer::errc::cancelled || command.cancelled_by() == 0) throw trouble_of({e.code(), words_of(e, p)});
    return code_of_signal(command);
  }
}

}  // namespace

exit_code run_plan(session& s, plan p) {
  p.command = s.command();
  check(p);
  story tale{p.name, s.json()};
  bool in_front = true;
  try {
    const auto code = run_guarded(job_of(p), [&](line to_guardian) {
      in_front = false;
      return keep(s, p, std::move(to_guardian), tale);
    });
    if (!in_front) tale.tell(code);
    return code;
  } catch (const trouble& t) {  // in the front: the keeper was killed
    tale.tell(t.code());
    throw;
  }
}

}  // namespace cli
