// ZooKeeper's packets, as far as it takes to know which request a reply belongs to: each is its length and a body, and the answers
// come in the order of the requests. What comes by itself (events, answers to pings) has a number below zero.
#pragma once

#include "proxy/request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fault {

// The body of the packet at the beginning of these bytes; nothing if there is not all of it. Throws std::runtime_error for a length
// that no packet has.
std::optional<std::string_view> read_packet(std::string_view bytes);

struct zookeeper_request {
  std::int32_t number = 0;
  kind what = kind::other;
};

// Of a request: a sequential node is a place in a line, several writes at once that begin with a new node are the claim of one, or a
// conversion; others give back, as does a node that is removed; and data that is written renews.
zookeeper_request request_in(std::string_view body);
std::int32_t number_of_answer(std::string_view body);

// What a client says on one connection; the first packet greets.
class zookeeper_requests {
 public:
  std::vector<zookeeper_request> take(std::string_view bytes);

 private:
  std::string bytes_;
  bool greeted_ = false;
};

}  // namespace fault
