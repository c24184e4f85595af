#include "contract/api/server.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace contract {

namespace {

std::string environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? value : "";
}

}  // namespace

std::string engine_uri() {
  const auto uri = environment("TYER_URI");
  return uri.empty() ? "memory://contract" : uri;
}

std::string fresh_name() {
  static std::atomic<int> count{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return "contract/" + std::to_string(::getpid()) + "-" + std::to_string(now) + "-" + std::to_string(++count);
}

server::server() : id_(environment("TYER_ENGINE_ID")) {}

server::~server() {
  try {
    if (!paused_.empty()) resume();
    for (const auto& member : std::set{killed_}) restart(member);
  } catch (const std::exception&) {
    // The tests behind this one will say so.
  }
}

void server::pause() {
  tell("pause");
  paused_.insert("");
}
void server::resume() {
  paused_.clear();
  tell("resume");
}
void server::kill() { kill(""); }
void server::restart() {
  killed_.clear();
  tell("restart");
}

void server::failover() { tell("failover"); }

void server::pause(const std::string& member) {
  tell("pause", member);
  paused_.insert(member);
}
void server::kill(const std::string& member) {
  tell("kill", member);
  killed_.insert(member);
}
void server::restart(const std::string& member, data d) {
  killed_.erase(member);
  tell(d == data::kept ? "restart" : "restart --lose-data", member);
}

void server::tell(const std::string& command, const std::string& member) const {
  const std::string line = std::string{"'" TYER_TOOLS "/engines' "} + command + " '" + id_ + "' " + member;
  if (std::system(line.c_str()) != 0) throw std::runtime_error("it failed: " + line);
}

}  // namespace contract
