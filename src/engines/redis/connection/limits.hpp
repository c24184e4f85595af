// How much a server may say at once.
#pragma once

#include <cstddef>

namespace tyer::redis {

// A reply that is larger ends the connection.
inline constexpr std::size_t read_bytes_max = std::size_t{64} << 20;

}  // namespace tyer::redis
