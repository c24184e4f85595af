// From names to keys and back.
//
//   state     prefix{name}          a string: who holds the lock, until when, the last token part
//   holders   prefix{name}h         only while there are shared holds or permits
//   queue     prefix{name}q         only while somebody waits
//   waiters   prefix{name}w         only while somebody waits
//   inbox     prefix inbox:nonce    a channel: messages for one client
//
// The whole name is the hash tag, so in a cluster all keys of a name are on one node. % { } in a name are percent-encoded:
// no name can end its own tag early, and no two names share a key.
#pragma once

#include "core/id.hpp"

#include <tyer/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tyer::redis {

// Appends the text escaped for SCAN MATCH, so that every byte matches itself.
void escape_glob(std::string_view text, std::string& out);

class keys {
 public:
  // A brace in the prefix would move the hash tag.
  static failure check_prefix(std::string_view prefix);

  explicit keys(std::string prefix) : prefix_(std::move(prefix)) {}

  // Appends, so that a caller can reuse its buffer.
  void state(std::string_view name, std::string& out) const;
  std::string state(std::string_view name) const;

  std::string inbox(std::uint64_t nonce) const;

  // The name, if this is the key of a state.
  std::optional<std::string> name_of(std::string_view key) const;

  // For SCAN MATCH: the states (and queues) of all names that begin like this.
  std::string pattern(std::string_view name_prefix) const;

 private:
  std::string prefix_;
};

}  // namespace tyer::redis
