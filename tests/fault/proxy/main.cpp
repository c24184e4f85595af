// fault_proxy --upstream PORT --control PATH --history PATH [--rules FILE] [--port PORT] [--seed N]
//             [--speaks redis|grpc|zookeeper|any]
//
// Prints `port N` when it listens, and runs until it is killed.
#include "proxy/proxy.hpp"

#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace {

std::string contents(const std::string& path) {
  std::ifstream file{path};
  if (!file) throw std::runtime_error{"cannot read " + path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

fault::proxy::settings parse(int argc, char** argv) {
  fault::proxy::settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i], value = argv[i + 1];
    if (word == "--upstream") {
      s.upstream = static_cast<std::uint16_t>(std::stoul(value));
    } else if (word == "--port") {
      s.port = static_cast<std::uint16_t>(std::stoul(value));
    } else if (word == "--seed") {
      s.seed = std::stoull(value);
    } else if (word == "--control") {
      s.control = value;
    } else if (word == "--history") {
      s.history = value;
    } else if (word == "--speaks") {
      static const std::map<std::string, fault::language> known{{"redis", fault::language::redis},
                                                                {"grpc", fault::language::grpc},
                                                                {"zookeeper", fault::language::zookeeper},
                                                                {"any", fault::language::any}};
      if (!known.contains(value)) throw std::runtime_error{"nobody speaks " + value};
      s.spoken = known.at(value);
    } else if (word == "--rules") {
      s.rules = contents(value);
    } else {
      throw std::runtime_error{"unknown option " + word};
    }
  }
  if (s.upstream == 0 || s.control.empty() || s.history.empty()) {
    throw std::runtime_error{"--upstream, --control and --history are needed"};
  }
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  fault::end_with_parent();
  try {
    fault::proxy p{parse(argc, argv)};
    std::printf("port %u\n", static_cast<unsigned>(p.port()));
    std::fflush(stdout);
    p.run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fault_proxy: %s\n", e.what());
    return 2;
  }
}
