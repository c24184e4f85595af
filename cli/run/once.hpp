// `tyer run --once-per`: the recipe once_per, with a client of this session.
#pragma once

#include <tyer/recipes/once_per.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace cli {

using tyer::recipes::once_per;

class session;

// Takes the period. Returns the latest time at which the job may start: later would be too close to the next start.
// Nothing: the job was started already in this period. Throws tyer::error.
std::optional<tyer::lease_clock::time_point> take_period(session&, const std::string& lock,
                                                         std::chrono::milliseconds period);

}  // namespace cli
