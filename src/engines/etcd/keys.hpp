// Where a name's keys lie: PREFIX{NAME}/SEAT, one key for each hold and each place in the queue.
//
// A seat has the form of an id: the number of a client (numbers.hpp), and who sits there is in the value. Of a Tyer that had no
// numbers it is that id itself, and the value says nothing. To such a Tyer every seat is somebody's id.
//
// No name is another's beginning: %, { and } of a name are escaped, so the braces are where they are meant to be. A byte is
// escaped whatever stands beside it, so the names with one beginning lie side by side.
#pragma once

#include "core/id.hpp"

#include <tyer/error.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace tyer::etcd {

struct key_range {
  std::string from, to;  // without `to` itself
};

class keys {
 public:
  explicit keys(std::string prefix) : prefix_(std::move(prefix)) {}

  static tyer::failure check_prefix(std::string_view prefix);

  key_range room(std::string_view name) const;   // all keys of the name
  key_range seats(std::string_view name) const;  // the same without the floor
  std::string seat(std::string_view name, const core::id& at) const;
  std::string floor(std::string_view name) const;
  key_range beginning_with(std::string_view name_prefix) const;  // all keys of names that begin so

  struct parts {
    std::string name;
    std::optional<core::id> at;  // else it is the floor
  };
  // Nothing for what this class never writes.
  std::optional<parts> read(std::string_view key) const;

 private:
  std::string prefix_;
};

}  // namespace tyer::etcd
