#include "common/holding.hpp"
#include "redis/server.hpp"
#include "redis/suite.hpp"

#include <tyer/tyer.hpp>

#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using namespace std::chrono_literals;

}  // namespace

keeping measure_keeping(const std::string& uri, int holds) {
  constexpr auto ttl = 9s;
  server s{uri};
  s.flush_all();
  const auto empty = s.memory();
  tyer::client client{uri, {.request_timeout = 60s}};
  if (!client.wait_ready()) throw std::runtime_error("the engine does not answer");
  const holding all{client, "bench/held/", holds, ttl};
  const double bytes = static_cast<double>(s.memory() - empty) / holds;
  std::this_thread::sleep_for(ttl / 3);  // into the second round
  const auto before = s.requests();
  std::this_thread::sleep_for(ttl);  // three rounds
  const double rounds = 3;
  const double requests = static_cast<double>(s.requests() - before) / rounds / (holds / 1000.0);
  all.check();
  return {requests, bytes};
}

}  // namespace bench
