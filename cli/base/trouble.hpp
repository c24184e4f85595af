// Why a command cannot continue, and what the user can do about it.
#pragma once

#include "base/exit_code.hpp"

#include <tyer/error.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace cli {

class trouble : public std::runtime_error {
 public:
  // `advice` goes on a line of its own; it may have several.
  trouble(exit_code code, const std::string& what, std::string advice = {})
      : std::runtime_error(what), code_(code), advice_(std::move(advice)) {}

  exit_code code() const noexcept { return code_; }
  const std::string& advice() const noexcept { return advice_; }

 private:
  exit_code code_;
  std::string advice_;
};

// The exit code for an error of the library.
exit_code code_of(const std::error_code& why) noexcept;
// `--url ""`: the shell has put nothing where a variable was unset, and the next best engine is not what was meant.
trouble empty_value(const std::string& option);
trouble trouble_of(const tyer::failure& why, const std::string& doing = {});

}  // namespace cli
