// What the doctor looks at. Each adds to the report, and throws what the engine says that it cannot do or be asked.
#pragma once

#include "base/exit_code.hpp"
#include "base/session.hpp"
#include "doctor/report.hpp"

#include <chrono>
#include <functional>

namespace cli::doctor {

// Whether the engine answers this login at all: else the code to end with, and within 2 s what is wrong and what to do.
exit_code look_whether_it_answers(session& s, report& r);

// How long a request takes, and whether a lease of `ttl` can live with that.
void look_at_round_trips(session& s, report& r, std::chrono::milliseconds ttl);

// How far the server's clock is from ours, and whether one of the two jumps.
void look_at_clocks(session& s, report& r);

// How the engine is set up and which bugs its version has: what the engine itself says.
void look_at_engine(session& s, report& r);

// Whether this login may do all that locking needs: by doing it, on a name of its own. A lease takes its time: `meanwhile` is
// done while it runs.
void look_at_permissions(session& s, report& r, const std::function<void()>& meanwhile);

}  // namespace cli::doctor
