// What the doctor should know about an etcd, from what its status says.
#pragma once

#include "engine/engine.hpp"
#include "engines/etcd/rpc.pb.h"

#include <vector>

namespace tyer::etcd {

std::vector<engine::finding> examine(const pb::StatusResponse&);

}  // namespace tyer::etcd
