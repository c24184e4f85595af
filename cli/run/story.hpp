// The result for --json: one line on standard error, since standard output belongs to the command. docs/schemas/run.json
#pragma once

#include "base/exit_code.hpp"

#include <tyer/hold.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace cli {

class story {
 public:
  story(std::string lock, bool wanted) : lock_(std::move(lock)), wanted_(wanted) {}

  void acquired(const tyer::hold&);
  void over();  // the command and its descendants are gone
  void skipped() { outcome_ = "skipped"; }
  void ended() { outcome_ = "ended"; }
  void not_acquired() { outcome_ = "not_acquired"; }

  // Fields that were not set are derived from the exit code.
  void tell(exit_code) const;

 private:
  using clock = std::chrono::steady_clock;

  std::string lock_;
  bool wanted_;
  const char* outcome_ = nullptr;
  std::optional<std::string> token_;
  clock::time_point asked_at_ = clock::now();
  std::optional<clock::time_point> acquired_at_, over_at_;
};

}  // namespace cli
