// tyer doctor: is this engine fit for locks, and is this login?
#include "base/session.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "doctor/examine.hpp"
#include "text/duration.hpp"
#include "text/json.hpp"
#include "text/plain.hpp"
#include "text/wrap.hpp"

#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <vector>

namespace cli {

namespace {

using namespace std::chrono_literals;
using doctor::check;
using doctor::report;
using tyer::severity;

struct options {
  std::chrono::milliseconds ttl{10s};
  std::string under;
};

const char* word_for(severity s) {
  switch (s) {
    case severity::note: return "note";
    case severity::advice: return "advice";
    case severity::warning: return "warning";
    case severity::error: break;
  }
  return "error";
}

tone tone_of(const check& c) {
  if (c.fine) return tone::good;
  if (c.level == severity::error) return tone::bad;
  return c.level == severity::note ? tone::plain : tone::warning;
}

void print_text(session& s, const report& r) {
  constexpr int text_at = 9;
  const auto& screen = s.screen();
  const int width = screen.out_is_terminal() ? screen.width() : 80;
  const auto line = [&](const std::string& head, tone t, const std::string& text) {
    const auto padded = head + std::string(text_at - head.size(), ' ');
    std::cout << screen.in(t, padded) << wrapped(plain(text), width, text_at, text_at) << '\n';
  };
  for (auto c = r.checks.begin(); c != r.checks.end(); ++c) {
    line(c->fine ? "ok" : word_for(c->level), tone_of(*c), c->what);
    const bool said_below = c + 1 != r.checks.end() && c->advice == (c + 1)->advice;  // for another server
    if (!c->advice.empty() && !said_below) line("", tone::plain, "→ " + c->advice);
  }
  if (r.has_errors()) std::cout << '\n' << screen.in(tone::bad, "Not fit for locks as it is.") << '\n';
}

void print_json(const report& r) {
  json j = {{"engine", text_json(r.engine)}, {"healthy", !r.has_errors()}};
  j["server"] = {{"id", text_json(r.server.id)}, {"version", text_json(r.server.version)}};
  j["clock_offset_ms"] = r.clock_offset ? json(r.clock_offset->count()) : json(nullptr);
  j["round_trip"] = nullptr;
  if (const auto& f = r.round_trips) {
    j["round_trip"] = {{"count", f->count()},
                       {"median_ms", as_ms(f->at(0.5))},
                       {"p99_ms", as_ms(f->at(0.99))},
                       {"max_ms", as_ms(f->at(1))}};
  }
  j["checks"] = json::array();
  for (const auto& c : r.checks) {
    j["checks"].push_back({{"level", c.fine ? "ok" : word_for(c.level)},
                           {"what", text_json(c.what)},
                           {"advice", c.advice.empty() ? json(nullptr) : text_json(c.advice)}});
  }
  print(j);
}

// Sorts the findings, the worst first, and joins those of several servers that have the same advice.
void gather(std::vector<check>& checks) {
  const auto found = std::ranges::stable_partition(checks, &check::fine);
  std::vector<check> sorted;
  while (!found.empty() && sorted.size() < found.size()) {
    const check* next = nullptr;
    for (const check& c : found) {
      const bool taken = std::ranges::any_of(sorted, [&](const check& x) { return x.advice == c.advice; });
      if (!taken && (next == nullptr || c.level > next->level)) next = &c;
    }
    const auto advice = next->advice;
    std::ranges::copy_if(found, std::back_inserter(sorted), [&](const check& c) { return c.advice == advice; });
  }
  std::ranges::copy(sorted, found.begin());
}

// One check. If it fails, that is a finding, and the other checks go on.
void take(report& r, const char* doing, const std::function<void()>& look) {
  try {
    look();
  } catch (const tyer::error& e) {
    const auto told = trouble_of({e.code(), e.words()});
    const bool refused = e.code() == tyer::errc::refused;
    r.found(severity::error, std::string{refused ? "this login cannot " : "could not "} + doing + ": " + told.what(),
            refused ? doctor::least_privilege : doctor::had_answered);
  }
}

void examine(session& s, const options& o, report& r) {
  const auto admin = s.admin();
  r.server = admin.server();
  r.fine("reached " + short_address(r.engine) + (r.server.version.empty() ? "" : ", version " + r.server.version));
  look_at_permissions(s, r, o.under, [&] {
    take(r, "see who holds a lock", [&] { look_at_round_trips(s, r, o.ttl, o.under); });
    take(r, "compare clocks", [&] { look_at_clocks(s, r); });
    take(r, "look at the engine", [&] { look_at_engine(s, r); });
  });
}

exit_code examine(session& s, const options& o) {
  report r;
  auto code = look_whether_it_answers(s, r);
  if (code == exit_code::ok) {
    take(r, "be examined", [&] { examine(s, o, r); });
    code = r.has_errors() ? exit_code::no : exit_code::ok;
  }
  gather(r.checks);
  s.json() ? print_json(r) : print_text(s, r);
  return code;
}

}  // namespace

command doctor_command() {
  return {
      .name = "doctor",
      .summary = "Check whether an engine is fit for locks, and say what to do about it",
      .details =
          "Connects to the engine and measures round trips; compares them with the ttl you use; compares clocks and "
          "checks whether one jumps; asks the engine about its version, eviction, persistence and replicas; and "
          "tries, on a lock of its own under tyer-doctor/, whether this login may do everything that locking "
          "needs.\n\n"
          "Takes a few seconds, and touches no other locks. If the engine cannot be reached, the report says what "
          "answers "
          "at its port instead: nobody, TLS or plain text, or another protocol, within 2 s. A server that accepts "
          "connections and says nothing may merely be slow, and has until --connect-timeout. Exits with 1 if there is "
          "an "
          "error, with 121 if the engine cannot be reached, with 122 if it refuses this login.",
      .examples = {{"tyer doctor", "before the first lock, and when something is wrong"},
                   {"tyer doctor --ttl 2s", "with the ttl that your programs use"},
                   {"tyer doctor --under order/", "as a user of Redis who may use ~order/* and nothing else"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_duration(app, "--ttl", o->ttl, "The ttl of your locks, to compare with round trips");
        add_option(app, "--under", o->under, "Try names that begin with this, if the login may use no others");
        return [o](session& s) { return examine(s, *o); };
      }};
}

}  // namespace cli
