// What one node of a cluster knows about all nodes: the answer of CLUSTER NODES.
//
// Unlike CLUSTER SLOTS and CLUSTER SHARDS it has the config epochs, which distinguish an old claim to a slot from a new
// one.
#pragma once

#include "core/uri.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::redis {

struct slot_run {
  std::uint16_t first, last;

  friend bool operator==(const slot_run&, const slot_run&) = default;
};

struct node {
  core::endpoint at;  // by the host name that it announces, else by its address
  std::string address;
  bool master = false;
  std::uint64_t epoch = 0;
  std::vector<slot_run> slots;
};

// Malformed lines and unreachable nodes are left out. A node without an address of its own is at the address that we asked.
std::vector<node> read_nodes(std::string_view text, std::string_view host_asked);

// `MOVED 3999 host:port` and `ASK 3999 host:port`
struct redirection {
  bool for_good = false;
  std::uint16_t slot = 0;
  core::endpoint to;
};
std::optional<redirection> read_redirection(std::string_view error, std::string_view host_asked);

}  // namespace tyer::redis
