// Takes the lock, has the command run under it, and gives the lock back when all of the command is gone.
#pragma once

#include "base/exit_code.hpp"
#include "run/plan.hpp"

namespace cli {

class session;

// The session's command. In three processes: see guard/guarded.hpp. Throws trouble and tyer::error.
exit_code run_plan(session&, plan);

}  // namespace cli
