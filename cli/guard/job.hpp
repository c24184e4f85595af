// What to run, and how to end it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace cli {

struct job {
  std::string lock;  // its name, for messages
  std::vector<std::string> command;
  std::chrono::milliseconds grace{};   // between SIGTERM and SIGKILL
  std::chrono::milliseconds margin{};  // between SIGKILL and the end of the lock
  bool leave = false;                  // processes that the command leaves behind may live on
  bool again = false;                  // after a loss the keeper tries for the lock again
  bool blind = false;                  // the user has accepted that /proc cannot be read
};

}  // namespace cli
