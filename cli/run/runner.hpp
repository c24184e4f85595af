// Who runs what under a lock, as `tyer run`, `try` and `elect` tell it to others: by the label of their client.
//
//   tyer run by deploy: ./backup --all
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

struct runner {
  std::string tool;     // "tyer run"
  std::string user;     // "deploy"
  std::string command;  // "./backup --all": in one line, perhaps cut
};

// All who may read the engine read it: what looks like a password is left out, and so is what does not fit.
std::string label_of(std::string_view verb, const std::vector<std::string>& command);

// The same, with a text that the person has chosen instead of the command.
std::string label_of(std::string_view verb, std::string_view shown_as);

// What a label says, if it is one of these.
std::optional<runner> read_label(std::string_view label);

}  // namespace cli
