#include "unit/redis/own_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace tyer::test {

namespace {

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  char more[4096];
  while (const auto got = std::fread(more, 1, sizeof more, pipe)) text.append(more, got);
  if (::pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return text;
}

// "field": "value", as json.dumps writes it
std::string field(const std::string& json, const std::string& name) {
  const auto at = json.find('"' + name + "\": \"");
  if (at == json.npos) throw std::runtime_error("no " + name + " in " + json);
  const auto from = at + name.size() + 5;
  return json.substr(from, json.find('"', from) - from);
}

// TYER_KIND, or that of the instance that the tests run under.
std::string kind() {
  if (const char* named = std::getenv("TYER_KIND")) return named;
  const char* id = std::getenv("TYER_ENGINE_ID");  // redis-a1b2c3
  const std::string text = id != nullptr ? id : "redis-";
  return text.substr(0, text.rfind('-'));
}

}  // namespace

own_server::own_server(const std::string& options) {
  const auto json =
      output_of(TYER_ENGINES_TOOL " up " + kind() + " --json --owner " + std::to_string(::getpid()) + " " + options);
  uri_ = field(json, "uri");
  id_ = field(json, "id");
  folder_ = field(json, "dir");
}

own_server::~own_server() {
  try {
    tell("down");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

std::string own_server::tell(const std::string& verb, const std::string& members) {
  auto text = output_of(TYER_ENGINES_TOOL " " + verb + " " + id_ + " " + members);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

void own_server::shift_clock(std::int64_t seconds) {
  const auto path = folder_ + "/main/clock_shift";
  const std::int64_t ns = seconds * 1'000'000'000;
  FILE* file = std::fopen(path.c_str(), "r+be");
  if (file == nullptr || std::fwrite(&ns, sizeof ns, 1, file) != 1) throw std::runtime_error("cannot write " + path);
  std::fclose(file);
}

// A line for each: name, role, state, pid, port, note
int own_server::port_of(const std::string& role) {
  std::istringstream lines{output_of(TYER_ENGINES_TOOL " members " + id_)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string name, is, state;
    int pid = 0, port = 0;
    if (words >> name >> is >> state >> pid >> port && (is == role || name == role)) return port;
  }
  throw std::runtime_error("there is no " + role);
}

}  // namespace tyer::test
