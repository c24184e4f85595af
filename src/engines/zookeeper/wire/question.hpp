// What a server says of itself: one word on a connection of its own, and all that comes until the server ends it.
#pragma once

#include "core/uri.hpp"
#include "engine/engine.hpp"
#include "engines/zookeeper/wire/loop.hpp"

#include <functional>
#include <string>

namespace tyer::zookeeper::wire {

// Told in the loop, exactly once if that goes on, within the limit; with nothing if there is no answer.
void ask_server(loop&, const core::endpoint&, const std::string& word, engine::milliseconds limit,
                std::function<void(std::string)> then);

}  // namespace tyer::zookeeper::wire
