// contract_child URI NAME TTL_MS WAITER_TTL_MS
//
// Acquires the name and says so; gives it back when it is told to on its standard input. Made to be killed.
#include <tyer/tyer.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stop_token>
#include <string>

namespace {

void say(const std::string& line) { std::cout << line << std::endl; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the test
  try {
    tyer::client client{argv[1]};
    const tyer::lock_options options{.ttl = std::chrono::milliseconds{std::atoi(argv[3])},
                                     .waiter_ttl = std::chrono::milliseconds{std::atoi(argv[4])}};
    tyer::mutex m{client, argv[2], options};
    tyer::hold h = m.acquire();
    say("held " + std::to_string(h.token()));
    const std::stop_callback lost{h.lost(), [] { say("lost"); }};
    std::string order;
    if (!std::getline(std::cin, order)) return 1;
    const bool released = h.release() == tyer::release_outcome::released;
    say(released ? "released" : "already gone");
  } catch (const std::exception& e) {
    say(std::string{"failed: "} + e.what());
    return 1;
  }
}
