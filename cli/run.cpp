// tyer run: a command under a lock.
#include "base/option.hpp"
#include "commands.hpp"
#include "run/keep.hpp"
#include "run/plan.hpp"
#include "run/words.hpp"
#include "text/duration.hpp"

#include <memory>

namespace cli {

namespace {

using namespace std::chrono_literals;

constexpr const char* about_once_per =
    "With --once-per two starts are never closer than that period, on all machines together, even if processes are "
    "killed. The engine measures the time: if the clock of a Redis server is set forward, or the server loses its "
    "data, the next start may come earlier by as much. A start that comes too early is skipped, silently and with "
    "success. This is at most once, not exactly once: a job that is killed is not repeated before the next period. "
    "The mark of a start lasts for the period and a tenth of it (1 to 10 s). Use a period that with this is still "
    "shorter than the time between two starts of cron, or every second start is skipped: 50s for a job of every "
    "minute, 50m for an hourly and 23h for a daily one. The lock NAME:once marks the period: `tyer break NAME:once "
    "--now --reason again` lets the job start again.";

constexpr const char* about_inside =
    "A `tyer run` in the command of another one is refused, with the code 120, if it would wait for a lock of that "
    "one: "
    "it would wait for itself.";

constexpr const char* about_flock =
    "Options of flock(1) have the same meaning here: -n does not wait, -w waits that long (with a unit: -w 30s), -E "
    "is the exit code if others have the lock, -s is --shared, and -x or -e is what it is without -s. Several may be "
    "one word: -nE75.";

action prepare(CLI::App& app) {
  const auto p = std::make_shared<plan>();
  p->verb = "run";
  add_common(app, *p);
  add_permits(app, *p);
  const auto wait = add_duration(app, "-w,--wait", p->wait, "How long to wait for the lock; default: without a limit");
  const auto now_or_never = std::make_shared<bool>(false);
  add_flag(app, "-n,--nonblock", *now_or_never, "Do not wait, as `tyer try`").not_with(wait);
  add_code_if_busy(app, *p);
  add_duration(app, "--once-per", p->once_per,
               "Start at most once in this period, on all machines; does not wait unless -w is given");
  add_flag(app, "--fail-if-skipped", p->tell_skipped,
           "With --once-per: exit with 124 instead of 0 if the start was skipped");
  return [p, now_or_never](session& s) {
    if ((p->once_per || *now_or_never) && !p->wait) p->wait = 0ms;
    return run_plan(s, *p);
  };
}

}  // namespace

command run_command() {
  return {
      .name = "run",
      .summary = "Run a command while holding a lock",
      .details = words::paragraphs(
          {"Waits for the lock, runs the command, and gives the lock back: flock(1), across machines.",
           words::what_is_promised, words::whose_words, words::environment, words::slots, words::the_end,
           words::if_asked, about_inside, about_flock, about_once_per}),
      .examples = {{"tyer run nightly -- ./backup --all", "one at a time, on all machines"},
                   {"tyer run -w 30s nightly -- ./backup", "gives up after 30 seconds, with the code 124"},
                   {"tyer run -n -E 0 nightly -- ./backup", "skipped, with success, if another one still runs"},
                   {R"([ "${TYER_LOCK-}" = nightly ] || exec tyer run -n nightly -- "$0" "$@")",
                    "at the top of a script that takes its own lock"},
                   {"tyer run render --permits 1/3 -- sh -c 'render --slot $TYER_SLOT'", "three at a time"},
                   {"tyer run report --once-per 23h -- ./report", "from cron on every machine; one of them does it"}},
      .prepare = prepare,
      .usage = words::usage};
}

}  // namespace cli
