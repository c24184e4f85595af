// Detects fork: counts the forks between the first process and this one.
#pragma once

#include <cstdint>

namespace tyer::core {

// The first call registers the handler; cheap afterwards.
std::uint64_t fork_generation() noexcept;

}  // namespace tyer::core
