// Splits a keep() of many names into one call for each name, since they may be on different servers.
#pragma once

#include "engine/engine.hpp"

#include <functional>
#include <span>
#include <vector>

namespace tyer::redis {

using keep_reply = engine::reply<engine::kept>;

// Calls `keep` for each name with all its targets, and merges the fates in the order of `targets`: unknown where a call
// failed. The whole fails only if all calls fail.
void keep_apart(std::span<const engine::target> targets, keep_reply back,
                const std::function<void(std::span<const engine::target>, keep_reply)>& keep);

}  // namespace tyer::redis
