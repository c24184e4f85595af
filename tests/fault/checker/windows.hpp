// Validity windows side by side.
#pragma once

#include "checker/checks.hpp"

#include <functional>
#include <span>

namespace fault {

// Called for each window of a name in the order they begin, with those that had begun before and not ended yet. Left out
// are those that one of these losses of data excuses.
using meeting = std::function<void(const grant&, std::span<const grant* const> beside)>;
void each_window(const story&, const std::vector<data_loss>& losses, const limits&, const meeting&);

// One of the two is from before a loss and one from after it, until the last deadline that the lost state could have
// granted.
bool excused(const grant& a, const grant& b, const std::vector<data_loss>& losses, const limits&);

// For how long both could believe.
inline std::int64_t both_until(const grant& a, const grant& b) { return std::min(a.window_end(), b.window_end()); }

// "... overlaps for 0.01 s with ...", and what was done to the two processes, and to what they had, near that time.
breach overlap_of(const story&, const grant& before, const grant& g);

}  // namespace fault
