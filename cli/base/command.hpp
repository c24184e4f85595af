// A command of `tyer`: its texts, its options, and what it does. One file each, named after the command.
//
// --help, the man page and the shell completions are all made from this struct and from the options that prepare() adds.
#pragma once

#include "base/exit_code.hpp"

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace cli {

class session;

struct example {
  std::string line, what;
};

// Called when the whole command line has been read. Throws trouble or tyer::error.
using action = std::function<exit_code(session&)>;

struct command {
  std::string name;
  std::string summary;  // one line, without a full stop
  std::string details;  // paragraphs, a blank line between them
  std::vector<example> examples;
  std::function<action(CLI::App&)> prepare;
  std::string usage = {};  // after "tyer NAME", if the generated usage is not enough
};

// All commands, in the order of --help.
std::vector<command> all_commands();

}  // namespace cli
