// An operator's queries to an engine: show who holds a name, ask for it, evict a hold, diagnose the servers.
//
// A query is a value that makes one call to the engine. Each layer passes it on with `ask_engine` (primitives,
// client_runtime, coordinator), and it is called again if the engine was not connected.
#pragma once

#include "core/function.hpp"
#include "engine/engine.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tyer::runtime {

template <class T>
using query = core::function<void(engine::engine&, engine::reply<T>)>;

namespace queries {

inline query<std::uint32_t> ask(std::string name, std::string reason) {
  return [name = std::move(name), reason = std::move(reason)](engine::engine& e, engine::reply<std::uint32_t> told) {
    e.ask(name, reason, std::move(told));
  };
}

inline query<engine::page> show(std::string name) {
  return
      [name = std::move(name)](engine::engine& e, engine::reply<engine::page> told) { e.show(name, std::move(told)); };
}

inline query<engine::page> holders(std::string name) {
  return [name = std::move(name)](engine::engine& e, engine::reply<engine::page> told) {
    e.look(name, false, std::move(told));
  };
}

inline query<engine::page> list(std::string prefix, std::string cursor, std::uint32_t limit) {
  return [prefix = std::move(prefix), cursor = std::move(cursor), limit](
             engine::engine& e, engine::reply<engine::page> told) { e.list(prefix, cursor, limit, std::move(told)); };
}

inline query<core::fate> evict(engine::entry which, std::string reason) {
  return [which = std::move(which), reason = std::move(reason)](engine::engine& e, engine::reply<core::fate> told) {
    e.evict({which.who, which.name, which.how}, reason, std::move(told));
  };
}

inline query<std::vector<engine::finding>> diagnose() {
  return [](engine::engine& e, engine::reply<std::vector<engine::finding>> told) { e.diagnose(std::move(told)); };
}

}  // namespace queries
}  // namespace tyer::runtime
