// Runs a command under a lock in three processes, forked while there is one thread.
//
//   front     the caller, and what the shell knows
//   keeper    has the client and the lock; in a process group of its own, so that Ctrl-Z does not stop the renewal
//   guardian  has the command, and ends it before the lock ends
#pragma once

#include "base/exit_code.hpp"
#include "guard/job.hpp"
#include "guard/note.hpp"

#include <functional>

namespace cli {

// Returns twice: in the keeper with what `keep` returns or throws, so that it ends as any command does, and in the front with
// the code that the keeper has ended with.
exit_code run_guarded(const job&, const std::function<exit_code(line to_guardian)>& keep);

}  // namespace cli
