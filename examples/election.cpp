// One of many runs the scheduler; the others know where it is, and take over when it is gone.
//
//   election redis://127.0.0.1:6379
#include <tyer/tyer.hpp>

#include <iostream>
#include <optional>
#include <stop_token>
#include <syncstream>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};

  // [election]
  tyer::election scheduler{client, "scheduler", {.ttl = 5s, .note = "10.0.0.7:8080"}};

  // Told who leads now, and every change of it, on a thread of the client.
  tyer::observation watch = scheduler.observe([](const std::optional<tyer::leadership>& now) {
    std::osyncstream{std::cout} << (now ? "led by " + now->note : "nobody leads") << '\n';
  });

  tyer::hold term = scheduler.campaign();  // waits until elected
  std::stop_callback deposed{term.lost(), [] { std::cerr << "deposed: stop scheduling\n"; }};
  std::osyncstream{std::cout} << "elected, term " << term.token()
                              << '\n';  // a fencing token: larger in every later term

  term.release();  // the next candidate leads at once; after a crash, when the ttl is over
  // [election]
}
