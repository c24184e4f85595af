// Names that begin with a text, as a range.
#pragma once

#include <string>

namespace tyer::sql {

// The first name that does not begin with it; nothing: there is none.
inline std::string behind(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace tyer::sql
