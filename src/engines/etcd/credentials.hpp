// Who the server must be, and who we are, on the wire.
#pragma once

#include "engines/etcd/config.hpp"

#include <grpcpp/security/credentials.h>

#include <memory>

namespace tyer::etcd {

std::shared_ptr<grpc::ChannelCredentials> credentials(const config&);

}  // namespace tyer::etcd
