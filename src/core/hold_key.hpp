// Where an engine keeps a hold, for whoever wants to ask about it there.
#pragma once

#include <cstdint>
#include <string>

namespace tyer::core {

// Plain data. The key of this hold, and the mark that the engine gave it when it was created: as long as that key is there
// with that mark, the hold is. Empty where the engine has nothing of the kind.
struct hold_key {
  std::string key;
  std::uint64_t created = 0;

  explicit operator bool() const noexcept { return !key.empty(); }

  friend bool operator==(const hold_key&, const hold_key&) = default;
};

}  // namespace tyer::core
