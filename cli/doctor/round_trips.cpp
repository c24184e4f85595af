#include "doctor/examine.hpp"
#include "text/duration.hpp"
#include "text/progress.hpp"

#include <string>
#include <vector>

namespace cli::doctor {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::size_t trips_max = 500;
constexpr auto time_max = 3s;

figures measure(const tyer::admin& admin, const std::string& name) {
  std::vector<nanoseconds> all;
  const auto until = steady_clock::now() + time_max;
  while (all.size() < trips_max) {
    const auto start = steady_clock::now();
    static_cast<void>(admin.show(name));
    const auto end = steady_clock::now();
    all.push_back(end - start);
    if (end > until) break;
  }
  return figures{std::move(all)};
}

// A lease is renewed every third of its ttl, so a failed renewal can be retried for two thirds of it.
void compare(report& r, milliseconds ttl, nanoseconds p99, milliseconds ttl_min) {
  const auto with = "a ttl of " + typed(ttl);
  const auto tries = p99.count() > 0 ? ttl / 3 * 2 / std::max<nanoseconds>(p99, 1us) : 1000;
  if (ttl < ttl_min) {
    r.found(tyer::severity::error, with + " is shorter than this engine supports", "use at least " + typed(ttl_min));
  } else if (tries < 4) {
    r.found(tyer::severity::error, with + " is too short for round trips of " + shown_exactly(p99),
            "locks would be lost without a fault; use at least " + shown(std::chrono::ceil<milliseconds>(p99 * 30)));
  } else if (tries < 20) {
    r.found(tyer::severity::warning, with + " leaves room for few renewals at round trips of " + shown_exactly(p99),
            "use at least " + shown(std::chrono::ceil<milliseconds>(p99 * 30)) + ", or move closer to the engine");
  } else {
    r.fine(with + " is long enough for round trips of " + shown_exactly(p99));
  }
}

}  // namespace

void look_at_round_trips(session& s, report& r, milliseconds ttl, const std::string& under) {
  const progress measuring{s.screen(), [] { return "measuring round trips"; }};
  const auto admin = s.admin();
  const auto f = measure(admin, under + "tyer-doctor/round-trip");
  r.fine("round trip: median " + shown_exactly(f.at(0.5)) + ", p99 " + shown_exactly(f.at(0.99)) + ", " +
         std::to_string(f.count()) + " tried");
  compare(r, ttl, f.at(0.99), admin.can().ttl_min);
  r.round_trips = f;
}

}  // namespace cli::doctor
