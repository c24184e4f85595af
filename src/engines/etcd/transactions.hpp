// The two transactions of a lock that nobody else wants: one to take it, one to give it back. Each reads the room if it was
// mistaken.
#pragma once

#include "engines/etcd/keys.hpp"
#include "engines/etcd/rpc.pb.h"

#include <cstdint>
#include <string>

namespace tyer::etcd {

pb::TxnRequest take_if_free(const key_range& room, const std::string& key, std::string value, std::int64_t lease);

// Nobody was there when it was written: if nobody has come since, there is nobody to hand over to.
pb::TxnRequest give_back_if_alone(const key_range& room, const std::string& key, std::int64_t modified);

}  // namespace tyer::etcd
