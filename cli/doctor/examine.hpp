// The checks of the doctor. Each adds to the report, and throws the engine's error if it cannot be done.
#pragma once

#include "base/exit_code.hpp"
#include "base/session.hpp"
#include "doctor/report.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace cli::doctor {

// Whether the engine answers this login at all: else the exit code, and a finding with advice: within 2 s what is certain. A
// server that may merely be slow has the time of --connect-timeout.
exit_code look_whether_it_answers(session& s, report& r);

// How long a request takes, and whether a lease of `ttl` can live with that. The names that are tried begin with `under`.
void look_at_round_trips(session& s, report& r, std::chrono::milliseconds ttl, const std::string& under);

// How far the server's clock is from ours, and whether one of the two jumps.
void look_at_clocks(session& s, report& r);

// The engine's own findings about its settings and the known bugs of its version.
void look_at_engine(session& s, report& r);

// Whether this login may do everything that locking needs: tries it on a name of its own. Runs `meanwhile` while it waits
// for a lease.
void look_at_permissions(session& s, report& r, const std::string& under, const std::function<void()>& meanwhile);

}  // namespace cli::doctor
