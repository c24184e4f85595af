#include "commands.hpp"

namespace cli {

std::vector<command> all_commands() {
  return {run_command(),    try_command(),      elect_command(), ls_command(),     show_command(),
          watch_command(),  top_command(),      wait_command(),  break_command(),  deadlocks_command(),
          doctor_command(), exporter_command(), bench_command(), config_command(), completions_command(),
          man_command(),    version_command()};
}

}  // namespace cli
