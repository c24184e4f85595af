#include "engines/redis/one_server.hpp"

namespace tyer::redis {

std::unique_ptr<deployment> make_one_server(loop& l, materials m) {
  const auto server = m.where.server;
  return std::make_unique<one_server>(l, m, server);
}

}  // namespace tyer::redis
