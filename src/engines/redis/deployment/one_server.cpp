#include "engines/redis/deployment/one_server.hpp"

namespace tyer::redis {

std::unique_ptr<deployment> make_one_server(loop& l, connection_factory m) {
  const auto server = m.where.server;
  return std::make_unique<one_server>(l, m, server);
}

}  // namespace tyer::redis
