// Counting, switched on and off: no option does that, only this.
#pragma once

#include <tyer/client.hpp>

#include <cstddef>

namespace bench {

// While nothing is held and nobody waits.
void count(const tyer::client& c, bool on);

// What a client keeps for counting, and for each group of locks besides.
std::size_t bytes_of_a_client();
std::size_t bytes_of_a_group();

}  // namespace bench
