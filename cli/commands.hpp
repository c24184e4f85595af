// All commands: one function and one file each.
#pragma once

#include "base/command.hpp"

namespace cli {

command run_command();
command try_command();
command elect_command();
command ls_command();
command show_command();
command watch_command();
command wait_command();
command break_command();
command top_command();
command deadlocks_command();
command doctor_command();
command exporter_command();
command bench_command();
command completions_command();
command config_command();
command man_command();
command schema_command();  // if a database is built in
command version_command();

}  // namespace cli
