// What an engine is given when it is made.
#pragma once

#include "core/clock.hpp"
#include "core/id.hpp"

#include <tyer/options.hpp>

#include <chrono>
#include <string>

namespace tyer::engine {

struct environment {
  std::string prefix;        // before every name
  core::id_source* ids;      // ids of this client share its nonce, so that an engine can address the client's inbox
  const core::clock* clock;  // what outcome::sent is read from
  std::chrono::milliseconds request_timeout;
  log_hook log;
};

}  // namespace tyer::engine
