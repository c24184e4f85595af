// Runs a command under a lock with three processes, forked while there is only one thread.
//
//   front     the caller, which the shell has started
//   keeper    has the client and the lock; in a process group of its own, so that Ctrl-Z does not stop the renewal
//   guardian  has the command, and ends it before the lock ends
#pragma once

#include "base/exit_code.hpp"
#include "guard/job.hpp"
#include "guard/note.hpp"

#include <functional>

namespace cli {

// Returns twice: in the keeper with what `keep` returns or throws, so that it ends like any command, and in the front with
// the keeper's exit code.
exit_code run_guarded(const job&, const std::function<exit_code(line to_guardian)>& keep);

}  // namespace cli
