// tyer wait: waits until nobody holds a lock.
#include "base/doubt.hpp"
#include "base/news.hpp"
#include "base/option.hpp"
#include "base/session.hpp"
#include "base/signals.hpp"
#include "commands.hpp"
#include "text/duration.hpp"
#include "text/entries.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <iostream>
#include <memory>
#include <mutex>
#include <optional>

namespace cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct options {
  std::string name;
  std::optional<milliseconds> timeout;
};

bool is_free(const entries& all) { return all.size() == waiting(all); }

std::string in_words(const std::string& name, const entries& all) {
  const auto waiters = waiting(all);
  std::string text = "waiting for " + named(name) + " to be free";
  if (!is_free(all)) text += ", held by " + who(all.front());
  if (waiters > 0) text += ", " + std::to_string(waiters) + " wait for it";
  return text;
}

// Without a terminal there is no progress line that could show the outage.
void tell_outage(session& s, const std::string& name, const std::string& unknown) {
  if (s.screen().err_is_terminal()) return;
  if (unknown.empty()) {
    std::cerr << "tyer: the engine answers again" << std::endl;
  } else {
    std::cerr << "tyer: it is not known whether " << named(name) << " is free: " << plain(unknown) << std::endl;
  }
}

struct outcome {
  bool free = false, interrupted = false;
  entries last;
  std::string unknown;  // why the state is not known

  void note(session& s, const std::string& name, doubt::look seen) {
    const bool was_known = unknown.empty();
    unknown = seen.why ? "the engine does not answer" : "";
    if (seen.why && !seen.why.words.empty()) unknown += ": " + seen.why.words;
    if (was_known != unknown.empty()) tell_outage(s, name, unknown);
    if (seen.why) return;
    last = std::move(seen.all);
    free = is_free(last);
  }
};

outcome wait_until_free(session& s, const options& o, signals& bell) {
  const auto admin = s.admin();
  std::mutex mutex;
  outcome now{.last = admin.show(o.name)};  // throws at once if the engine cannot be asked
  now.free = is_free(now.last);
  news told{admin, o.name, bell, 1s};
  doubt silence{admin, o.name, 1s};
  const progress waiting{s.screen(), [&] {
                           const std::lock_guard lock{mutex};
                           return now.unknown.empty()
                                      ? in_words(o.name, now.last)
                                      : "it is not known whether " + named(o.name) + " is free: " + now.unknown;
                         }};
  const auto start = steady_clock::now();
  while (!now.free && !now.interrupted) {
    auto left = milliseconds::max();
    if (o.timeout) left = *o.timeout - std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
    if (left <= 0ms) {  // an engine that stopped answering is reported, and not taken for a holder
      const auto all = admin.show(o.name);
      const std::lock_guard lock{mutex};
      now.last = all;
      now.free = is_free(all);
      break;
    }
    now.interrupted = !bell.wait(std::min(left, silence.left()));
    while (auto all = told.take()) {
      const std::lock_guard lock{mutex};
      now.last = *std::move(all);
      now.free = is_free(now.last);
      if (now.free) break;
    }
    if (now.free || now.interrupted) break;
    if (auto seen = silence.take()) {
      const std::lock_guard lock{mutex};
      now.note(s, o.name, *std::move(seen));
    }
  }
  return now;
}

exit_code wait(session& s, const options& o) {
  s.client();  // until here Ctrl-C ends the process as usual
  signals bell;
  const auto start = steady_clock::now();
  const auto end = wait_until_free(s, o, bell);
  const auto waited = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
  if (end.interrupted && !end.free) return bell.code();
  if (s.json()) {
    print({{"name", text_json(o.name)}, {"free", end.free}, {"waited_ms", waited.count()}});
  } else if (!end.free) {
    std::cerr << "tyer: " << named(o.name) << " was not free within " << typed(*o.timeout) << ": held by "
              << who(end.last.front()) << '\n';
  }
  return end.free ? exit_code::ok : exit_code::not_acquired;
}

}  // namespace

command wait_command() {
  return {
      .name = "wait",
      .summary = "Wait until nobody holds a lock",
      .details =
          "Does not take the lock: when it returns, somebody else may already have it. To do something under the lock "
          "use `tyer run`.\n\n"
          "Exits with 0 when nobody holds the lock, at once if it is free already, and with 124 if it is still held "
          "after --timeout. If the engine stops answering meanwhile, it says so within 4 s and keeps waiting.",
      .examples = {{"tyer wait deploy && echo over", "until the deployment is over"},
                   {"tyer wait deploy --timeout 0", "only checks: 0 if it is free, 124 if it is held"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_option(app, "NAME", o->name, "The lock").required();
        add_duration(app, "--timeout", o->timeout, "Give up after this long; default: never");
        return [o](session& s) { return wait(s, *o); };
      }};
}

}  // namespace cli
