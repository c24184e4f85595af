// Signals that tyer handles in its own way, whatever it inherited: SIGPIPE ends it, and SIGCHLD is not ignored (else the
// kernel would reap the command, and its end would go unnoticed).
#pragma once

namespace cli {

void take_signals_over();
void hand_signals_on();  // restores the inherited handling for the command

}  // namespace cli
