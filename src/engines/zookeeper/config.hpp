// What zk:// and zks:// say: zk://user:password@host:port,host:port/base?option=value
#pragma once

#include "core/uri.hpp"
#include "engines/zookeeper/layout.hpp"
#include "engines/zookeeper/wire/connection.hpp"

#include <tyer/error.hpp>

#include <string>
#include <vector>

namespace tyer::zookeeper {

struct config {
  wire::where servers;
  std::string base;  // all names are below
  protocol layout = protocol::own;
  std::vector<wire::acl> rights;
  std::uint32_t tick_ms = 0;  // the servers' tickTime; 0: not known
  std::uint32_t sessions_max = 32;
  std::string shown;
};
struct read_config {
  config value;
  tyer::failure error;
};
read_config read(core::uri&);

}  // namespace tyer::zookeeper
