// One picture from what several nodes show. No socket, clock, thread or log.
#pragma once

#include "engines/compose/redlock/quorum.hpp"
#include "engines/compose/redlock/survey.hpp"

#include <string>
#include <vector>

namespace tyer::redlock {

// What each id is: holding if a majority says so, gone if so many do that a majority cannot hold it, else unknown.
std::vector<fate> tally(const survey<engine::kept>& s, std::size_t ids);

// How long every node that has answered counts what it keeps.
milliseconds counted_by_all(const survey<engine::kept>& s);

// The holds that a majority of all nodes has. The remains of a lost attempt are no hold.
std::vector<engine::entry> holds_of_majority(const survey<engine::page>& s);

// Those too for which nodes that have not answered could make a majority.
std::vector<engine::entry> holds_that_may_be(const survey<engine::page>& s);

// Whether there are any that only may be.
bool undecided(const survey<engine::page>& s);

// Whether no further answer can change what is held, with which part, and about how long.
bool settled(const survey<engine::page>& s);

// How many a majority has counted.
std::uint32_t counted_by_majority(const survey<std::uint32_t>& s);

}  // namespace tyer::redlock
