// The documentation of a command: the one source of --help, the man pages and the completions.
#pragma once

#include "base/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cli {

struct page {
  // An option, an argument, a command or an exit code.
  struct item {
    std::vector<std::string> names;    // "--json", "-n"; one for all but options
    std::string value;                 // what an option takes: "DURATION"; empty for a flag
    std::vector<std::string> choices;  // where only these are allowed
    std::string text;

    std::string head() const;  // "-n, --name VALUE"
  };

  std::string name;     // "ls"; empty for the page about all of them
  std::string title;    // "tyer ls"
  std::string summary;  // one line
  std::string usage;    // after the title
  std::vector<std::string> details;
  std::vector<item> commands, arguments, options, common, codes;
  std::vector<example> examples;
};

struct manual {
  page overview;
  std::vector<page> commands;

  const page* find(std::string_view command) const noexcept;
};

// From the commands and from what they have added to the root's subcommands.
manual make_manual(const CLI::App& root, const std::vector<command>& commands);

std::string as_text(const page& p, int width);
std::string as_roff(const page& p, const manual& all);

}  // namespace cli
