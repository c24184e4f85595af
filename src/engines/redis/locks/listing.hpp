// list(): a page of SCAN, and for each name found who holds it and who waits.
#pragma once

#include "engine/engine.hpp"
#include "engines/redis/deployment/deployment.hpp"
#include "engines/redis/locks/commands.hpp"

#include <cstdint>
#include <string_view>

namespace tyer::redis {

// The pages of one listing may show a name twice or, if it comes or goes meanwhile, not at all: that is what SCAN promises.
// A page may be empty and still not be the last one.
// `how` is show.lua, as this deployment runs it.
void show(deployment&, commands&, const script& how, std::string_view name, engine::reply<engine::page>);
void list(deployment&, commands&, const script& how, std::string_view prefix, std::string_view cursor,
          std::uint32_t limit, engine::reply<engine::page>);

}  // namespace tyer::redis
