// cli_holder URI NAME KIND TTL_MS MANNERS [NOTE]
//
// A program that somebody else runs: takes the lock, says so, and keeps it until its standard input ends or, if it is
// polite, until it is asked.
//
// KIND: mutex | min_hold | shared | permits:K/N      MANNERS: polite | deaf
#include <tyer/tyer.hpp>

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace {

void say(const std::string& line) { std::cout << line + '\n' << std::flush; }

std::string token_of(const tyer::hold& h) try { return std::to_string(h.token()); } catch (const tyer::error&) {
  return "-";
}

// Until standard input ends or `asked` is requested.
void wait_for_the_end(const std::stop_token& asked) {
  pollfd in{STDIN_FILENO, POLLIN, 0};
  while (!asked.stop_requested()) {
    if (::poll(&in, 1, 10) > 0) return;
  }
}

void keep(tyer::hold h, bool polite) {
  const std::stop_callback lost{h.lost(), [] { say("lost"); }};
  const std::stop_callback asked{h.revoked(), [] { say("asked"); }};
  say("held " + token_of(h) + ' ' + h.id().text());
  wait_for_the_end(polite ? h.revoked() : std::stop_token{});
  say(h.release() == tyer::release_outcome::released ? "released" : "already gone");
}

tyer::hold acquire(const tyer::client& c, const std::string& name, const std::string& kind, tyer::lock_options o) {
  if (kind == "min_hold") o.min_hold = std::chrono::minutes{10};
  if (kind == "mutex" || kind == "min_hold") return tyer::mutex{c, name, o}.acquire();
  if (kind == "shared") return tyer::shared_mutex{c, name, o}.shared().acquire();
  unsigned k = 0, n = 0;
  if (std::sscanf(kind.c_str(), "permits:%u/%u", &k, &n) != 2) throw std::runtime_error("no such kind");
  return tyer::semaphore{c, name, n, o}.permits(k).acquire();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the test
  try {
    tyer::client client{argv[1], {.label = "shop"}};
    tyer::lock_options options{.ttl = std::chrono::milliseconds{std::atoi(argv[4])}};
    if (argc > 6) options.note = argv[6];
    keep(acquire(client, argv[2], argv[3], options), std::string{argv[5]} == "polite");
    return 0;
  } catch (const std::exception& e) {
    say(std::string{"failed: "} + e.what());
    return 1;
  }
}
