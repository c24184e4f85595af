// Lists holders for people, under protocol=redisson.
#pragma once

#include "engine/engine.hpp"
#include "engines/redis/deployment/deployment.hpp"
#include "engines/redis/redisson/layout.hpp"

#include <cstdint>
#include <string_view>

namespace tyer::redis::redisson {

// `how` is show.lua, as this deployment runs it.
void show(deployment&, const layout&, const script& how, std::string_view name, engine::reply<engine::page>);

// Reads every hash whose name has this prefix; those that do not look like a Redisson lock are left out.
void list(deployment&, const layout&, const script& how, std::string_view prefix, std::string_view cursor,
          std::uint32_t limit, engine::reply<engine::page>);

}  // namespace tyer::redis::redisson
