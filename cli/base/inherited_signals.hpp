// Signals whose handling tyer needs in its own way, whatever its parent left to it: SIGPIPE ends it, and SIGCHLD is not ignored
// (the kernel would reap the command in silence, and nobody would learn that it ended).
#pragma once

namespace cli {

void take_signals_over();
void hand_signals_on();  // as the parent left them, for the command

}  // namespace cli
