// Splits the command line into tyer's own words and those of the command to run.
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

// Throws trouble for an unknown option or command, with a suggestion, for an extra word, and for a `--` in the place of
// NAME. The parser reports everything else: missing words and wrong values.
arguments sort_arguments(const CLI::App& root, int argc, const char* const* argv);

}  // namespace cli
