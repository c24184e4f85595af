// What the URI of every database says.
//
//   ?schema=apply     makes the tables if there are none
//   ?waiters_max=N    waiters per name (10000)
//   ?lock=row         locks are rows (the default); session: they are locks of the connection's session
#pragma once

#include "core/uri.hpp"

#include <tyer/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tyer::sql {

struct settings {
  std::uint32_t waiters_max = 10'000;
  bool make_tables = false;
  bool by_session = false;
};

template <class Options>
struct read_config {
  Options connect;
  settings value;
  std::string warning;  // of what it says
  tyer::failure error;
};

// Takes what it knows out of the URI's query.
tyer::failure take_settings(core::uri&, settings&);

std::vector<core::endpoint> hosts_of(const core::uri&, std::uint16_t default_port);
bool are_this_host(const std::vector<core::endpoint>&);

}  // namespace tyer::sql
