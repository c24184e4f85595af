// Who holds what, for people, under protocol=redisson.
#pragma once

#include "engine/engine.hpp"
#include "engines/redis/connection/connection.hpp"
#include "engines/redis/redisson/layout.hpp"

#include <cstdint>
#include <string_view>

namespace tyer::redis::redisson {

void show(connection&, const layout&, std::string_view name, engine::reply<engine::page>);

// Looks at every hash whose name begins like this; what does not look like a lock of Redisson's is left out.
void list(connection&, const layout&, std::string_view prefix, std::string_view cursor, std::uint32_t limit,
          engine::reply<engine::page>);

}  // namespace tyer::redis::redisson
