// Takes the lock, runs the command under it, and releases the lock when the command and its descendants are gone.
#pragma once

#include "base/exit_code.hpp"
#include "run/plan.hpp"

namespace cli {

class session;

// The session's command. In three processes: see guard/guarded.hpp. Throws trouble and tyer::error.
exit_code run_plan(session&, plan);

}  // namespace cli
