// What to run, and how it is to be ended.
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
  bool leave = false;                  // what the command leaves behind may live on
  bool again = false;                  // after a loss the keeper tries for the lock again
  bool blind = false;                  // it is known that /proc cannot be read, and what that means
};

}  // namespace cli
