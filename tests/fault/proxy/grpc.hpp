// HTTP/2 as gRPC speaks it, as far as it takes to know which request of etcd's a reply belongs to. Headers are not read (they
// are packed with a memory of their own): what a request is for is seen from its message.
#pragma once

#include "proxy/request.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fault {

// A transaction that deletes is a release or a hand-over, another one that writes an acquire, a claim or a place in the
// queue; a number alone is the length of a lease to be granted or, much larger, the id of one to be kept.
kind kind_of_message(std::string_view protobuf);

struct http2_frame {
  enum type : std::uint8_t { data = 0, headers = 1 };
  std::uint8_t what = 0, flags = 0;
  std::uint32_t stream = 0;
  std::string_view payload;

  bool ends_stream() const { return (flags & 1) != 0; }
};

// The frame at the beginning of these bytes and how long it is; nothing if there is not all of it.
std::optional<std::pair<http2_frame, std::size_t>> read_frame(std::string_view bytes);

// What a client says on one connection.
class grpc_requests {
 public:
  struct request {
    std::uint32_t stream = 0;
    kind what = kind::other;
  };
  std::vector<request> take(std::string_view bytes);

 private:
  std::string bytes_;
  bool greeted_ = false;
  std::map<std::uint32_t, std::string> unfinished_;  // messages, by stream
};

}  // namespace fault
