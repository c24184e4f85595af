#include "engines/redis/deployment/one_server.hpp"

#include <utility>

namespace tyer::redis {

std::unique_ptr<deployment> make_one_server(loop& l, connection_factory m) {
  const auto server = m.where.server;
  return std::make_unique<one_server>(l, m, server);
}

std::unique_ptr<deployment> make_deployment(loop& l, connection_factory m) {
  switch (m.where.deployment) {
    case shape::sentinel: return make_sentinel(l, std::move(m));
    case shape::cluster: return make_cluster(l, std::move(m));
    case shape::one_server: break;
  }
  return make_one_server(l, std::move(m));
}

}  // namespace tyer::redis
