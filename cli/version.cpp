// tyer version: which tyer this is, and what it can talk to.
#include "base/session.hpp"
#include "commands.hpp"
#include "text/json.hpp"

#include <tyer/version.hpp>

#include <iostream>
#include <sstream>

namespace cli {

namespace {

exit_code version(session& s) {
  const std::string library{tyer::library_version()};
  if (s.json()) {
    json j = {{"version", library}, {"engines", json::array()}};
    std::istringstream engines{TYER_CLI_ENGINES};
    for (std::string e; engines >> e;) j["engines"].push_back(e);
    print(j);
  } else {
    std::cout << "tyer " << library << "\nengines: " << TYER_CLI_ENGINES << '\n';
  }
  return exit_code::ok;
}

}  // namespace

command version_command() {
  return {.name = "version",
          .summary = "Print the version, and the engines this tyer was built with; also `tyer --version`",
          .prepare = [](CLI::App&) -> action { return version; }};
}

}  // namespace cli
