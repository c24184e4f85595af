// At most one start in any stretch of time of a given length, on all machines together, whoever dies when.
//
// A lock of its own, `NAME:once`, is the memory: taken for the period by who is about to start, never given back, never
// renewed, and gone by itself. Its time is counted by the engine, so clocks of machines do not matter, but that of a Redis
// server does: set forward, it ends the period early. Killed between taking it and starting, a job is left out for that
// period: at most once, not exactly once.
#pragma once

#include <tyer/admin.hpp>
#include <tyer/clock.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace cli {

class session;

inline constexpr std::chrono::milliseconds period_min = std::chrono::seconds{1};
// A lock lives 24 h at most. A day would not do anyway: cron starts a little earlier one day than the day before.
inline constexpr std::chrono::milliseconds period_max = std::chrono::hours{23};

std::string once_name(const std::string& lock);

// Whether what holds a lock is such a memory, by its own words. Nobody is at work under it, and nobody can be asked for it.
bool is_period(const tyer::lock_entry& holder);

// Takes the period. Not later than this the job must start: else it would be too near the next. Nothing: it was started by
// somebody in this period. Throws tyer::error.
std::optional<tyer::lease_clock::time_point> take_period(session&, const std::string& lock,
                                                         std::chrono::milliseconds period);

}  // namespace cli
