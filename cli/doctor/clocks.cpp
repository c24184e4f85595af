#include "doctor/examine.hpp"
#include "text/duration.hpp"
#include "text/progress.hpp"

#include <tyer/clock.hpp>

#include <algorithm>
#include <thread>
#include <vector>

namespace cli::doctor {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr int looks = 3;
constexpr auto between_looks = 300ms;
constexpr auto jump = 50ms;        // far more than a clock drifts in a second, or than connecting takes
constexpr auto far_apart = 500ms;  // more than this misleads people who compare logs

// A server reports its clock when a client connects: so each reading uses a client of its own.
std::vector<milliseconds> offsets(session& s) {
  std::vector<milliseconds> all;
  for (int i = 0; i < looks; ++i) {
    if (i > 0) std::this_thread::sleep_for(between_looks);
    auto fresh = s.open();
    s.reach(fresh);
    const auto told = tyer::admin{fresh}.server();
    if (!told.clock) return {};
    all.push_back(std::chrono::duration_cast<milliseconds>(*told.clock - told.told));
  }
  return all;
}

// How much more the wall clock has advanced than the steady clock.
class own_clock {
 public:
  milliseconds jumped() const {
    const auto wall = system_clock::now() - wall_;
    const auto time = tyer::lease_clock::now() - time_;
    return std::chrono::duration_cast<milliseconds>(wall - std::chrono::duration_cast<system_clock::duration>(time));
  }

 private:
  system_clock::time_point wall_ = system_clock::now();
  tyer::lease_clock::time_point time_ = tyer::lease_clock::now();
};

milliseconds size_of(milliseconds d) { return d < 0ms ? -d : d; }

void judge(report& r, const std::vector<milliseconds>& all) {
  const auto [least, most] = std::ranges::minmax(all);
  r.clock_offset = least;  // the fastest connection is the most exact
  if (most - least > jump) {
    r.found(tyer::severity::warning, "the server's clock jumped by " + shown(most - least) + " while we looked",
            "slew clocks instead of setting them: leases and tokens are counted on the server's clock");
  }
  if (size_of(least) > far_apart) {
    r.found(
        tyer::severity::advice,
        "the server's clock is " + shown(size_of(least)) + (least > 0ms ? " ahead of" : " behind") + " ours",
        "synchronise both with NTP: no lease depends on it, but shown ages and logs do, and tokens after a failover");
  } else {
    r.fine("the server's clock is within " + shown(std::max(size_of(least), 1ms)) + " of ours");
  }
}

}  // namespace

void look_at_clocks(session& s, report& r) {
  const progress looking{s.screen(), [] { return "comparing clocks"; }};
  const own_clock ours;
  const auto all = offsets(s);
  if (all.empty()) {
    r.fine("this engine has no single clock to compare");
  } else {
    judge(r, all);
  }
  if (size_of(ours.jumped()) > jump) {
    r.found(tyer::severity::warning,
            "this machine's clock jumped by " + shown(size_of(ours.jumped())) + " while we looked",
            "slew it instead of setting it; leases here do not depend on it, but other programs may");
  }
}

}  // namespace cli::doctor
