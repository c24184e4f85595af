// What gRPC says when it cannot reach a server, and what to do about it.
#pragma once

#include "engines/etcd/config.hpp"

#include <string>

namespace tyer::etcd {

// The words, with advice behind them where they let guess what is wrong. Who has answered before has accepted who we are: when it
// breaks off, it is for another reason.
std::string with_advice(std::string words, const config&, bool has_answered);

}  // namespace tyer::etcd
