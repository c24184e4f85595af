// The keeper's part: takes the lock, has the command run under it, gives the lock back when all of the command is gone.
#pragma once

#include "base/exit_code.hpp"
#include "guard/note.hpp"
#include "run/plan.hpp"

namespace cli {

class session;

// Throws trouble and tyer::error.
exit_code keep(session&, const plan&, line to_guardian);

}  // namespace cli
