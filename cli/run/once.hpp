// `tyer run --once-per`: the recipe once_per, with a client of this session.
#pragma once

#include <tyer/recipes/once_per.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace cli {

using tyer::recipes::once_per;

class session;

// Takes the period. Not later than this the job must start: else it would be too near the next. Nothing: it was started by
// somebody in this period. Throws tyer::error.
std::optional<tyer::lease_clock::time_point> take_period(session&, const std::string& lock,
                                                         std::chrono::milliseconds period);

}  // namespace cli
