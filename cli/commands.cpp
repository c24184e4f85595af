#include "commands.hpp"

namespace cli {

std::vector<command> all_commands() {
  return {ls_command(), show_command(), completions_command(), man_command(), version_command()};
}

}  // namespace cli
