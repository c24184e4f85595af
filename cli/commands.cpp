#include "commands.hpp"

#include <algorithm>

namespace cli {

std::vector<command> all_commands() {
  std::vector<command> all{run_command(),    try_command(),       elect_command(),       ls_command(),
                           show_command(),   watch_command(),     top_command(),         wait_command(),
                           break_command(),  deadlocks_command(), doctor_command(),      exporter_command(),
                           bench_command(),  config_command(),    completions_command(), man_command(),
                           version_command()};
#ifdef TYER_CLI_DATABASES
  const auto config = std::ranges::find(all, "config", &command::name);
  all.insert(config, schema_command());
#endif
  return all;
}

}  // namespace cli
