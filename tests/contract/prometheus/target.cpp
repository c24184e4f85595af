// What Prometheus scrapes in the test: a client of TYER_URI that has done what is counted in scraped_test.py. Prints its port, and
// stays until its input ends: meanwhile locks are taken in a group of their own, so that what is a rate is not nothing.
#include <tyer/prometheus.hpp>
#include <tyer/tyer.hpp>

#include <prometheus/exposer.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

void refuses_what_prometheus_refuses(tyer::prometheus_collector& shown, const tyer::client& c) {
  const std::vector<tyer::prometheus_collector::labels> all{{{"group", "x"}},
                                                            {{"le", "1"}},
                                                            {{"two words", "x"}},
                                                            {{"", "x"}},
                                                            {{"1st", "x"}},
                                                            {{"__x", "x"}},
                                                            {{"v", "\xff"}},
                                                            {{"v", "\xed\xa0\x80"}},
                                                            {{"v", "\xc0\xaf"}},
                                                            {{"v", "\xe4\xbd"}},
                                                            {{"v", "1"}, {"w", ""}, {"v", "2"}}};
  for (const auto& with : all) {
    bool refused = false;
    try {
      shown.add(c, with);
    } catch (const tyer::error& e) {
      refused = e.code() == tyer::errc::invalid_option;
    }
    if (!refused) throw std::runtime_error("took a label that Prometheus refuses: " + with.front().first);
  }
}

// One that was forked while another thread had the mutex.
void a_forked_child_that_collected_waited_for_ever(const tyer::prometheus_collector& shown) {
  const std::jthread scraper{[&](const std::stop_token& over) {
    while (!over.stop_requested()) static_cast<void>(shown.Collect());
  }};
  for (int i = 0; i < 20; ++i) {
    const auto child = ::fork();
    if (child == 0) {
      ::alarm(10);
      ::_exit(shown.Collect().empty() ? 0 : 1);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0)
      throw std::runtime_error("a forked child did not end well");
  }
}

}  // namespace

int main() try {
  tyer::client client{std::getenv("TYER_URI"), {.request_timeout = 5s}}, other{std::getenv("TYER_URI")};
  if (!client.wait_ready(20s) || !other.wait_ready(20s)) throw std::runtime_error("the engine does not answer");
  const auto name = "scraped/" + std::to_string(::getpid());
  const tyer::mutex order{client, name, {.ttl = 3s, .group = "orders \"\\"}}, theirs{other, name, {.ttl = 60s}};
  for (int i = 0; i < 3; ++i) order.acquire().release();
  {
    const tyer::hold h = theirs.acquire();
    if (const tyer::hold none = order.try_acquire()) throw std::runtime_error("somebody else has it");
    if (const tyer::hold none = order.try_acquire_for(500ms)) throw std::runtime_error("somebody else has it");
  }
  const tyer::hold held = order.acquire();
  const auto locks = std::make_shared<tyer::prometheus_collector>(
      client, tyer::prometheus_collector::labels{{"engine", "the one of the test"}});
  {
    const tyer::client gone{"memory://gone"};
    locks->add(gone, {{"engine", "its other"}});
  }
  locks->add(other, {{"engine", "its other"}});  // in its place: promtool takes no sample twice
  refuses_what_prometheus_refuses(*locks, other);
  a_forked_child_that_collected_waited_for_ever(*locks);
  const std::jthread busy{[&](const std::stop_token& over) {
    const tyer::mutex often{client, name + "/busy", {.group = "busy"}};
    for (; !over.stop_requested(); std::this_thread::sleep_for(10ms)) often.acquire().release();
  }};
  ::prometheus::Exposer exposer{"127.0.0.1:0"};
  exposer.RegisterCollectable(locks);
  std::cout << exposer.GetListeningPorts().at(0) << std::endl;
  for (std::string line; std::getline(std::cin, line);) {}
  return 0;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
