// The options of `run`, `try` and `elect`.
#pragma once

#include "guard/job.hpp"

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace cli {

struct permits {
  std::uint32_t take = 0, of = 0;  // 0: it is no semaphore
};

struct plan {
  std::string verb;  // run, try or elect
  std::string name;
  std::vector<std::string> command;
  std::chrono::milliseconds ttl{10000};
  std::optional<std::chrono::milliseconds> wait;  // none: without a limit
  std::optional<std::chrono::milliseconds> grace;
  std::optional<std::chrono::milliseconds> once_per;
  std::optional<int> code_if_busy;  // instead of 124
  std::string note;
  std::string show_as;  // instead of the command line
  bool shared = false;
  permits take;
  bool leave = false;
  bool without_proc = false;
  bool tell_skipped = false;  // by the exit code
  bool elect = false;         // in an election
  bool again = false;         // stands again after a loss
};

// The options that all three have, and the command.
void add_common(CLI::App&, plan&);
void add_permits(CLI::App&, plan&);
void add_code_if_busy(CLI::App&, plan&);

// Throws trouble for options that contradict each other, and for a command that cannot be started.
void check(const plan&);

job job_of(const plan&);

std::shared_ptr<const tyer::acquirable> lock_of(const plan&, const tyer::client&);

}  // namespace cli
