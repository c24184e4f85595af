#include "base/session.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "guard/guarded.hpp"
#include "run/keep.hpp"
#include "run/plan.hpp"
#include "text/duration.hpp"

#include <memory>

namespace cli {

namespace {

using namespace std::chrono_literals;

constexpr const char* what_is_promised =
    "The command, and all that came from it, is dead before anybody else can get the lock: a guardian process sends "
    "SIGTERM a "
    "grace before the lock would end and SIGKILL before it does, also when tyer itself is stopped, killed, or cut off "
    "from "
    "the engine. It finds processes that have left the command's process group or session. It cannot end what another "
    "service has started for the command (docker, systemd-run, at, ssh), what runs as another user (sudo), or what "
    "sleeps "
    "uninterruptibly in the kernel; and it cannot act while it is itself stopped, or the whole machine is. Where a "
    "mistake "
    "would cost data, let what you write to check TYER_TOKEN as well.";

constexpr const char* environment =
    "The command has TYER_LOCK (the name), TYER_TOKEN (a number that is larger with every later grant: show it to what "
    "you "
    "write to), TYER_HOLD (an id of this hold alone) and, with --permits, TYER_SLOT and TYER_SLOTS in its environment. "
    "Input, output and the terminal are its own. Signals that tyer is sent are passed on; while Ctrl-Z has stopped it, "
    "the "
    "lock is kept. Its exit code is tyer's: 128 and more for a signal.";

constexpr const char* about_once_per =
    "With --once-per two starts are never nearer to each other than that, on all machines together, whoever is killed "
    "when; "
    "a start that comes too early is left out, silently and with success. It is at most once, not exactly once: a job "
    "that "
    "is killed is not made up for until the next period. Say a little less than the time between two starts of cron, "
    "50m for "
    "an hourly job and 23h for a daily one, since cron is not exact. The lock NAME:once is its memory: `tyer break "
    "NAME:once` lets the job start again.";

constexpr const char* about_the_end =
    "When the command ends, processes that it has left behind are ended as well, and then the lock is free at once; "
    "with "
    "--leave they live on without it. If somebody asks for the lock (tyer break), the command is sent SIGTERM.";

exit_code run_plan(session& s, const plan& p) {
  check(p);
  return run_guarded(job_of(p), [&](line to_guardian) { return keep(s, p, std::move(to_guardian)); });
}

action prepare_run(CLI::App& app) {
  const auto p = std::make_shared<plan>();
  add_common(app, *p);
  add_permits(app, *p);
  add_duration(app, "--wait", p->wait, "How long to wait for the lock; else as long as it takes");
  add_duration(app, "--once-per", p->once_per,
               "Start at most once in that time, on all machines; does not wait unless told to");
  app.add_flag("--fail-if-skipped", p->tell_skipped,
               "With --once-per: end with 124 if it was not started, instead of 0");
  return [p](session& s) {
    if (p->once_per && !p->wait) p->wait = 0ms;
    return run_plan(s, *p);
  };
}

action prepare_try(CLI::App& app) {
  const auto p = std::make_shared<plan>();
  p->wait = 0ms;
  add_common(app, *p);
  add_permits(app, *p);
  return [p](session& s) { return run_plan(s, *p); };
}

action prepare_elect(CLI::App& app) {
  const auto p = std::make_shared<plan>();
  p->elect = true;
  add_common(app, *p);
  const auto once = std::make_shared<bool>(false);
  app.add_flag("--once", *once, "End with 123 when leadership is lost, instead of standing again");
  return [p, once](session& s) {
    p->again = !*once;
    return run_plan(s, *p);
  };
}

std::string paragraphs(std::initializer_list<std::string> all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : "\n\n") + one;
  return text;
}

}  // namespace

command run_command() {
  return {
      .name = "run",
      .summary = "Run a command while holding a lock",
      .details =
          paragraphs({"Waits for the lock, runs the command, and gives the lock back: flock(1), across machines.",
                      what_is_promised, environment, about_the_end, about_once_per}),
      .examples = {{"tyer run nightly -- ./backup --all", "one at a time, on all machines"},
                   {"tyer run nightly --wait 30s -- ./backup", "gives up after 30 seconds, with the code 124"},
                   {"tyer run render --permits 1/3 -- sh -c 'render --slot $TYER_SLOT'", "three at a time"},
                   {"tyer run report --once-per 23h -- ./report", "from cron on every machine; one of them does it"}},
      .prepare = prepare_run};
}

command try_command() {
  return {.name = "try",
          .summary = "Run a command if a lock is free",
          .details = paragraphs(
              {"As `tyer run`, but does not wait: if somebody has the lock, or waits for it, the command is not "
               "started and the code is 124.",
               what_is_promised, environment, about_the_end}),
          .examples = {{"tyer try sync -- rsync -a here/ there/", "left out if another one still runs"}},
          .prepare = prepare_try};
}

command elect_command() {
  return {.name = "elect",
          .summary = "Run a command on one machine at a time, for as long as it leads",
          .details = paragraphs(
              {"Stands for election, runs the command while it leads, and stands again if leadership is lost; "
               "the command is then ended before another one can lead. When the command ends by itself, "
               "tyer resigns and ends with its code. TYER_TOKEN is the term.",
               what_is_promised, environment}),
          .examples = {{"tyer elect scheduler --note $(hostname) -- ./scheduler",
                        "start it on every machine; one runs it"}},
          .prepare = prepare_elect};
}

}  // namespace cli
