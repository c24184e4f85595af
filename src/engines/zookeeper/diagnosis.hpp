// What the doctor should know about these servers. Values: no I/O.
#pragma once

#include "engine/engine.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tyer::zookeeper {

// What a server answers to the word srvr; empty: nothing.
struct said {
  std::string server, words;
};
std::string version_in(std::string_view words);
std::vector<engine::finding> examine(const std::vector<said>& all);

}  // namespace tyer::zookeeper
