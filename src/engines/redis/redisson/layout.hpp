// How Redisson's RLock is stored in a server, and how Tyer stores its holds beside those of Java.
//
//   lock      name                                a hash: one field per holder, its value counts re-entries; lives by its TTL
//   field     <uuid of the client>:<number>       Java: the thread's number; here: the hold's. Its value is always 1
//   channel   redisson_lock__channel:{name}       "0": free. A name that has a { already is not put in braces. In a cluster
//                                                 also a sharded channel of that name
//   inbox     prefix tyer:inbox:<nonce>           a channel of Tyer's own: messages from Tyer to one client
//
// Names are raw: nothing is escaped, and there is no prefix unless the URI has one (Redisson's NameMapper).
#pragma once

#include "core/id.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tyer::redis::redisson {

std::string field_of(const core::id&);

// Nothing if it is not a field that field_of() writes.
std::optional<core::id> id_of(std::string_view field);

// <uuid>:<number>, by any client.
bool looks_like_a_holder(std::string_view field);

// The second argument of acquire.lua is a time of one server's clock: the same for a server whose clock is ahead by `ahead`.
// The arguments of other scripts do not change.
std::string for_another_clock(std::string_view script, std::string_view argument, std::chrono::microseconds ahead);

class layout {
 public:
  explicit layout(std::string prefix) : prefix_(std::move(prefix)) {}

  std::string key(std::string_view name) const { return prefix_ + std::string{name}; }
  // The name, if the key has the prefix.
  std::optional<std::string> name_of(std::string_view key) const;

  static std::string channel(std::string_view key);

  std::string inboxes() const { return prefix_ + "tyer:inbox:"; }  // the common prefix of all inboxes
  std::string inbox(std::uint64_t nonce) const;

 private:
  std::string prefix_;
};

}  // namespace tyer::redis::redisson
