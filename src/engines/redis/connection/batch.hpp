// Commands that are sent as one request of Boost.Redis, and the answer to each.
//
// A batch is reused: its buffers keep their memory. Internal to connection.cpp.
#pragma once

#include "engines/redis/connection/connection.hpp"

#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::redis {

class batch {
 public:
  enum class state : std::uint8_t { waiting, answered, refused, lost, delivered };

  struct entry {
    reply_handler back;
    const script* via = nullptr;
    std::uint32_t from = 0, size = 0;          // of the command in the request
    std::uint32_t first_leaf = 0, leaves = 0;  // of the answer
    state now = state::waiting;
    bool counted = false;  // toward in_flight_max
    engine::time_point came{};
  };

  void add(std::string_view command, std::span<const std::string_view> words, const script* via, reply_handler back);

  // A node of the answer to the i-th command. True if it was the last one.
  bool take(std::size_t i, const boost::redis::resp3::node_view&);

  std::string_view leaf(const entry& e, std::uint32_t i) const {
    const auto& l = leaves_[e.first_leaf + i];
    return std::string_view{text_}.substr(l.from, l.size);
  }

  // The words of a command, taken from the request: for sending it again.
  std::vector<std::string_view> words(const entry&) const;

  void clear();

  boost::redis::request request;
  std::vector<entry> entries;
  engine::time_point sent{};
  engine::failure lost;            // of every entry that is lost
  std::uint64_t last_command = 0;  // its number on this connection: shows whether it was ever written
  std::uint64_t attempt = 0;       // the connection it was sent on
  std::size_t unanswered = 0, undelivered = 0;
  bool executing = false;

 private:
  struct leaf_place {
    std::size_t from, size;
  };
  std::vector<leaf_place> leaves_;
  std::string text_;
  std::size_t awaited_ = 0;  // nodes of the answer that is being read
};

}  // namespace tyer::redis
