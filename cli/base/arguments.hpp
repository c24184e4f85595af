// Which words of the command line are tyer's own, and which are those of the command that it is to run.
//
//   tyer [OPTION…] run [OPTION…] NAME [OPTION…] [--] COMMAND…
//
// As with env and sudo: from COMMAND on, every word is the command's, whatever it looks like, and reaches it unchanged.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace cli {

struct arguments {
  std::vector<std::string> own;      // options first, then `--` and what is no option
  std::vector<std::string> command;  // of run, try and elect; else empty
};

// Throws trouble: an option or a command that is not known, with what may have been meant; a word too many; a `--` where NAME
// should be. What is missing else, or is no value for its option, is for the parser to say.
arguments sort_arguments(const CLI::App& root, int argc, const char* const* argv);

}  // namespace cli
