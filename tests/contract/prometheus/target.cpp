// What Prometheus scrapes in the test: a client of TYER_URI that has done what is counted in scraped_test.py. Prints its port, and
// stays until its input ends.
#include <tyer/prometheus.hpp>
#include <tyer/tyer.hpp>

#include <prometheus/exposer.h>

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

int main() try {
  tyer::client client{std::getenv("TYER_URI"), {.request_timeout = 5s}}, other{std::getenv("TYER_URI")};
  if (!client.wait_ready(20s) || !other.wait_ready(20s)) throw std::runtime_error("the engine does not answer");
  const auto name = "scraped/" + std::to_string(::getpid());
  const tyer::mutex order{client, name, {.ttl = 3s, .group = "orders \"\\"}}, theirs{other, name, {.ttl = 60s}};
  for (int i = 0; i < 3; ++i) order.acquire().release();
  {
    const tyer::hold h = theirs.acquire();
    if (const tyer::hold none = order.try_acquire()) throw std::runtime_error("somebody else has it");
    if (const tyer::hold none = order.try_acquire_for(20ms)) throw std::runtime_error("somebody else has it");
  }
  const tyer::hold held = order.acquire();
  const auto locks = std::make_shared<tyer::prometheus_collector>(
      client, tyer::prometheus_collector::labels{{"engine", "the one of the test"}});
  locks->add(other, {{"engine", "its other"}});
  ::prometheus::Exposer exposer{"127.0.0.1:0"};
  exposer.RegisterCollectable(locks);
  std::cout << exposer.GetListeningPorts().at(0) << std::endl;
  for (std::string line; std::getline(std::cin, line);) {}
  return 0;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
