// A keep() of many names as one call for each name, where they lie on different servers.
#pragma once

#include "engine/engine.hpp"

#include <functional>
#include <span>
#include <vector>

namespace tyer::redis {

using keep_reply = engine::reply<engine::kept>;

// Calls `keep` for each name with all its targets, and puts the fates together in the order of `targets`: unknown where a call
// failed. Only if all fail does the whole fail.
void keep_apart(std::span<const engine::target> targets, keep_reply back,
                const std::function<void(std::span<const engine::target>, keep_reply)>& keep);

}  // namespace tyer::redis
