// What the doctor looks at. Each adds to the report, and throws only if the engine is gone.
#pragma once

#include "base/session.hpp"
#include "doctor/report.hpp"

#include <chrono>

namespace cli::doctor {

// How long a request takes, and whether a lease of `ttl` can live with that.
void look_at_round_trips(session& s, report& r, std::chrono::milliseconds ttl);

// How far the server's clock is from ours, and whether one of the two jumps.
void look_at_clocks(session& s, report& r);

// How the engine is set up and which bugs its version has: what the engine itself says.
void look_at_engine(session& s, report& r);

// Whether this login may do all that locking needs: by doing it, on a name of its own.
void look_at_permissions(session& s, report& r);

}  // namespace cli::doctor
