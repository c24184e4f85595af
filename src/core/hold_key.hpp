// Where an engine stores a hold, for transactions that check it there.
#pragma once

#include <cstdint>
#include <string>

namespace tyer::core {

// Plain data: the key of this hold, and the mark (create revision) that the engine gave it. The hold exists for as long as
// that key exists with that mark. Empty for engines without such keys.
struct hold_key {
  std::string key;
  std::uint64_t created = 0;

  explicit operator bool() const noexcept { return !key.empty(); }

  friend bool operator==(const hold_key&, const hold_key&) = default;
};

}  // namespace tyer::core
