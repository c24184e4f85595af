// Seats as bytes: what a row keeps of holds that are not plain, and of places in the queue.
//
// A version comes first, so that a later layout is told apart and not misread. Numbers are little-endian.
#pragma once

#include "engines/kit/resource.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::sql {

using kit::seat;

std::string write_seats(const std::vector<seat>&);
// Nothing: it was not written by this version of Tyer.
std::optional<std::vector<seat>> read_seats(std::string_view);

std::string write_place(const seat&);
std::optional<seat> read_place(std::string_view);

}  // namespace tyer::sql
