// A command of `tyer`: its words, its options, and what it does. One file each, named as the command.
//
// --help, the man page and the completions of the shells are all made from what is here and from the options that
// prepare() adds: nothing is said twice.
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
  std::string usage = {};  // behind "tyer NAME", where what the options and arguments say by themselves is not enough
};

// All of them, in the order in which people should meet them.
std::vector<command> all_commands();

}  // namespace cli
