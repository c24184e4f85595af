// cli_entangled URI KIND NAME URI KIND NAME
//
// A program that somebody else runs: takes the first lock, says so, waits for a line, says that it waits and takes the second.
//
// KIND: mutex | shared | permit:N (one of them)
#include <tyer/tyer.hpp>

#include <sys/prctl.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

void say(const std::string& line) { std::cout << line + '\n' << std::flush; }

tyer::hold acquire(const tyer::client& c, const std::string& kind, const std::string& name) {
  if (kind == "mutex") return tyer::mutex{c, name}.acquire();
  if (kind == "shared") return tyer::shared_mutex{c, name}.shared().acquire();
  if (kind.starts_with("permit:"))
    return tyer::semaphore{c, name, static_cast<unsigned>(std::stoul(kind.substr(7)))}.acquire();
  throw std::runtime_error("no such kind");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the test
  try {
    tyer::client one{argv[1], {.label = "clerk"}}, other{argv[4], {.label = "clerk"}};
    const tyer::hold first = acquire(one, argv[2], argv[3]);
    say("held");
    std::string line;
    std::getline(std::cin, line);
    say("waits");
    const tyer::hold second = acquire(other, argv[5], argv[6]);
    say("has both");
    std::getline(std::cin, line);
    return 0;
  } catch (const std::exception& e) {
    say(std::string{"failed: "} + e.what());
    return 1;
  }
}
