// Who runs what under a lock: `tyer run`, `try` and `elect` publish it in the label of their client.
//
//   tyer run by deploy: ./backup --all
//   tyer run in 6958 by deploy: ./backup --all      inside the command of another, which is process 6958
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

struct runner {
  std::string tool;          // "tyer run"
  std::string user;          // "deploy"
  std::string command;       // "./backup --all": in one line, perhaps cut
  std::uint64_t inside = 0;  // the process of the outermost `tyer run` that it is inside of; 0: of none
};

// Everybody who may read the engine can read it: text that looks like a password is left out, and the rest is cut to the
// limit.
std::string label_of(std::string_view verb, const std::vector<std::string>& command, std::uint64_t inside = 0);

// The same, with a text of the user's choice instead of the command.
std::string label_of(std::string_view verb, std::string_view shown_as, std::uint64_t inside = 0);

// Parses a label, if it is one of these.
std::optional<runner> read_label(std::string_view label);

}  // namespace cli
