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
constexpr auto jump = 50ms;        // far more than a clock drifts in a second
constexpr auto far_apart = 500ms;  // more than this misleads people who compare logs

milliseconds in_ms(tyer::lease_clock::duration d) { return std::chrono::ceil<milliseconds>(d); }

struct offset {
  milliseconds ahead;  // of our clock
  milliseconds error;  // at most: how long it took to be told
};

// A server reports its clock when a client connects: so each reading uses a client of its own.
std::vector<offset> offsets(session& s) {
  std::vector<offset> all;
  for (int i = 0; i < looks; ++i) {
    if (i > 0) std::this_thread::sleep_for(between_looks);
    const auto begin = tyer::lease_clock::now();
    auto fresh = s.open();
    s.reach(fresh);
    const auto told = tyer::admin{fresh}.server();
    if (!told.clock) return {};
    all.push_back(
        {std::chrono::duration_cast<milliseconds>(*told.clock - told.told), in_ms(tyer::lease_clock::now() - begin)});
  }
  return all;
}

// The wall clock and the steady clock at one moment, as exactly as this thread is let.
struct moment {
  moment() {
    do {
      time = tyer::lease_clock::now();
      wall = system_clock::now();
    } while (tyer::lease_clock::now() - time > 1ms);
  }
  system_clock::time_point wall;
  tyer::lease_clock::time_point time;
};

// How much more the wall clock has advanced than the steady clock.
class own_clock {
 public:
  milliseconds jumped() const {
    const moment now;
    const auto time = std::chrono::duration_cast<system_clock::duration>(now.time - since_.time);
    return std::chrono::duration_cast<milliseconds>(now.wall - since_.wall - time);
  }

 private:
  const moment since_;
};

milliseconds size_of(milliseconds d) { return d < 0ms ? -d : d; }

void judge(report& r, const std::vector<offset>& all) {
  const auto most_exact = std::ranges::min(all, {}, &offset::error).ahead;
  const auto [first, last] = std::ranges::minmax(all, {}, &offset::ahead);
  r.clock_offset = most_exact;
  if (const auto by = last.ahead - first.ahead; by > jump + first.error + last.error) {
    r.found(tyer::severity::warning, "the server's clock jumped by " + shown(by) + " while we looked",
            "slew clocks instead of setting them: leases and tokens are counted on the server's clock");
  }
  if (size_of(most_exact) > far_apart) {
    r.found(
        tyer::severity::advice,
        "the server's clock is " + shown(size_of(most_exact)) + (most_exact > 0ms ? " ahead of" : " behind") + " ours",
        "synchronise both with NTP: no lease depends on it, but shown ages and logs do, and tokens after a failover");
  } else {
    r.fine("the server's clock is within " + shown(std::max(size_of(most_exact), 1ms)) + " of ours");
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
