// Deadlocks as a picture.
#pragma once

#include "deadlocks/circles.hpp"

#include <string>
#include <vector>

namespace cli {

// An SVG file: each circle with its processes as boxes, and an arrow from each to the one it waits for, with the lock's name.
std::string picture_of(const std::vector<circle>& all);

}  // namespace cli
