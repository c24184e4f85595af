// What the doctor has found.
#pragma once

#include "text/figures.hpp"

#include <tyer/admin.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cli::doctor {

// The result of a check: fine, or a finding with advice.
struct check {
  bool fine = true;
  tyer::severity level = tyer::severity::note;
  std::string what, advice;
};

inline constexpr const char* least_privilege =
    "give this user the permissions that the page of the engine in docs/engines lists under \"Least privilege\"";

inline constexpr const char* had_answered =
    "it had answered before: check the log and the load of the server, and the network in between";

struct report {
  std::string engine;
  tyer::server_info server;
  std::optional<figures> round_trips;
  std::optional<std::chrono::milliseconds> clock_offset;  // of the server, against here
  std::vector<check> checks;

  void fine(std::string what) { checks.push_back({true, tyer::severity::note, std::move(what), {}}); }
  void found(tyer::severity level, std::string what, std::string advice) {
    checks.push_back({false, level, std::move(what), std::move(advice)});
  }
  bool has_errors() const noexcept;
};

}  // namespace cli::doctor
