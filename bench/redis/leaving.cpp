#include "redis/server.hpp"
#include "redis/suite.hpp"

#include <tyer/tyer.hpp>

namespace bench {

leaving measure_leaving(const std::string& uri, int names) {
  server s{uri};
  s.flush_all();
  const auto empty = s.memory();
  tyer::client client{uri};
  const auto name = [](int i) { return "bench/left/" + std::to_string(i); };
  for (int i = 0; i < names; ++i) {
    const tyer::mutex order{client, name(i)};
    auto h = order.acquire();
    h.release();
  }
  return {static_cast<double>(s.memory() - empty) / names, s.seconds_to_live("tyer:{" + name(names - 1) + "}")};
}

}  // namespace bench
