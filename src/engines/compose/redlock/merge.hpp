// Merges the answers of several nodes. No socket, clock, thread or log.
#pragma once

#include "engines/compose/redlock/quorum.hpp"
#include "engines/compose/redlock/survey.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tyer::redlock {

// The fate of each id: holding if a majority says so, gone if too few nodes are left for a majority to hold it, else
// unknown.
std::vector<fate> tally(const survey<engine::kept>& s, std::size_t ids);

// The refusal because of which nothing is known of any: there is no majority without the nodes that refuse. Nodes may refuse
// to be asked for several at once because of one of them, so of each alone more may be known. Null: that is not why.
const failure* refusal(const survey<engine::kept>& s, const std::vector<fate>& fates);

// The shortest ttl among the nodes that have answered.
milliseconds counted_by_all(const survey<engine::kept>& s);

// The holds that a majority of all nodes has. The remains of a lost attempt are no hold.
std::vector<engine::entry> holds_of_majority(const survey<engine::page>& s);

// The same, and the holds that could still reach a majority through nodes that have not answered.
std::vector<engine::entry> holds_that_may_be(const survey<engine::page>& s);

// Whether there are holds that may or may not have a majority.
bool undecided(const survey<engine::page>& s);

// Whether no further answer can change what is held, with which part, and about how long.
bool settled(const survey<engine::page>& s);

// The count that a majority agrees on, whatever the nodes say that have not answered; nothing as long as they could change it.
std::optional<std::uint32_t> counted_by_majority(const survey<std::uint32_t>& s);

}  // namespace tyer::redlock
