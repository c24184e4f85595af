#include "run/plan.hpp"

#include "base/option.hpp"
#include "base/trouble.hpp"
#include "guard/child.hpp"
#include "guard/family.hpp"
#include "run/once.hpp"
#include "text/duration.hpp"
#include "text/plain.hpp"

#include <tyer/election.hpp>
#include <tyer/mutex.hpp>
#include <tyer/semaphore.hpp>
#include <tyer/shared_mutex.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace cli {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds ttl_min = 1s, ttl_max = 24h;  // with a shorter ttl the guardian could not be fast enough

// A granted lock has at least a third of its ttl left. There must be time for a renewal before the grace begins.
milliseconds grace_max(milliseconds ttl) { return ttl / 5; }
milliseconds grace_of(const plan& p) { return p.grace.value_or(std::min<milliseconds>(2s, grace_max(p.ttl))); }

constexpr std::uint32_t permits_max = 1000;  // at once: TYER_SLOTS names each of them

// The time from SIGKILL until the last of many processes is dead, on a busy machine. The lock's own margin comes on top.
milliseconds margin_of(milliseconds ttl) { return std::clamp<milliseconds>(ttl / 20, 50ms, 1s); }

std::optional<permits> parse_permits(std::string_view text) {
  permits p;
  const char* const end = text.data() + text.size();
  const auto take = std::from_chars(text.data(), end, p.take);
  if (take.ec != std::errc{} || take.ptr == end || *take.ptr != '/') return {};
  const auto of = std::from_chars(take.ptr + 1, end, p.of);
  if (of.ec != std::errc{} || of.ptr != end || p.take < 1 || p.take > p.of) return {};
  return p;
}

[[noreturn]] void wrong(const std::string& what, const std::string& advice) {
  throw trouble(exit_code::usage, what, advice);
}

void check_command(const std::string& program) {
  const int why = cannot_start(program);
  if (why == 0) return;
  const auto code =
      code_of_failure(why) == static_cast<int>(exit_code::not_found) ? exit_code::not_found : exit_code::cannot_execute;
  throw trouble(code, plain(program) + ": " + (code == exit_code::not_found ? "no such command" : std::strerror(why)),
                "The lock was not taken.");
}

}  // namespace

void add_common(CLI::App& app, plan& p) {
  add_option(app, "NAME", p.name, "The lock's name").required();
  // Only for --help: the parser does not see these words, since it would find lists and options in them (see
  // base/arguments.hpp).
  add_option(app, "COMMAND", p.command, "The command and its arguments: all words from here on belong to it");
  add_duration(app, "--ttl", p.ttl,
               "How long the lock stays taken if this machine dies; it is renewed every third of "
               "it");
  add_duration(app, "--grace", p.grace,
               "Time between SIGTERM and SIGKILL when the lock ends (default 2 s, at most a fifth of the ttl)");
  add_flag(app, "--leave", p.leave, "Do not end processes that the command leaves behind");
  add_flag(app, "--without-proc", p.without_proc,
           "Run even if /proc cannot be read: processes that leave the command's process group may then outlive "
           "the lock");
  add_option(app, "--note", p.note, "Shown to others with the lock, at most 256 bytes");
  add_option(app, "--show-as", p.show_as, "Shown to others instead of the command line");
}

void add_code_if_busy(CLI::App& app, plan& p) {
  add_option(app, "-E,--conflict-exit-code", p.code_if_busy,
             "Exit with this code instead of 124 if others have the "
             "lock")
      .between(0, 255)
      .takes("CODE");
}

void add_permits(CLI::App& app, plan& p) {
  const auto shared = add_flag(app, "-s,--shared", p.shared,
                               "Share the lock with other --shared holders; nobody holds it "
                               "exclusively meanwhile");
  static bool exclusive = false;  // it is so without --shared: nobody asks whether it was said
  add_flag(app, "-x,-e,--exclusive", exclusive, "Share it with nobody, as without this option").not_with(shared);
  const auto read = [&p](const std::string& text) -> std::optional<std::string> {
    const auto parsed = parse_permits(text);
    if (!parsed) return "'" + text + "' is not of the form K/N, like 1/3";
    p.take = *parsed;
    return std::nullopt;
  };
  add_option(app, "--permits", read, "K of N permits: 1/3 lets three run at a time").takes("K/N").not_with(shared);
}

void check(const plan& p) {
  if (p.ttl < ttl_min || p.ttl > ttl_max) wrong("--ttl must be from 1s to 24h", "The default is 10s.");
  if (grace_of(p) > grace_max(p.ttl)) {
    wrong("--grace is more than a fifth of --ttl (" + shown(p.ttl) + ")",
          "Use --ttl " + std::to_string((p.grace->count() * 5 + 999) / 1000) + "s or more, or a shorter --grace.");
  }
  if (p.take.take > permits_max) wrong("--permits takes at most 1000 at once", "Use fewer, larger permits.");
  if (p.once_per && *p.once_per < once_per::period_min) wrong("--once-per must be at least 1s", "");
  if (p.once_per && *p.once_per > once_per::period_max) {
    wrong("--once-per must be at most 23h",
          "For a daily job use 23h: cron may start it a little earlier than the day before, and a whole day would\n"
          "skip every second run. For longer periods, let the command itself store the date of its last run.");
  }
  if (p.command.empty()) wrong("COMMAND is required", "Name the command: tyer " + p.verb + " NAME -- COMMAND…");
  check_command(p.command.front());
  if (!p.without_proc && !can_see_descendants()) {
    throw trouble(
        exit_code::failed,
        "/proc cannot be read, or belongs to another PID namespace, so processes that the command leaves behind could "
        "not be found and might outlive the lock",
        "The lock was not taken. Mount /proc (unshare: --mount-proc); or use --without-proc, if the command starts no "
        "process that leaves its process group.");
  }
}

job job_of(const plan& p) {
  return {.lock = plain(p.name),
          .command = p.command,
          .grace = grace_of(p),
          .margin = margin_of(p.ttl),
          .leave = p.leave,
          .again = p.again,
          .blind = p.without_proc};
}

std::shared_ptr<const tyer::acquirable> lock_of(const plan& p, const tyer::client& c) {
  const tyer::lock_options with{.ttl = p.ttl, .note = p.note};
  if (p.elect) return std::make_shared<tyer::election>(c, p.name, with);
  if (p.take.of != 0) {
    return std::make_shared<tyer::acquirable>(tyer::semaphore{c, p.name, p.take.of, with}.permits(p.take.take));
  }
  if (!p.shared) return std::make_shared<tyer::mutex>(c, p.name, with);
  const auto both = std::make_shared<tyer::shared_mutex>(c, p.name, with);
  return {both, &both->shared()};
}

}  // namespace cli
