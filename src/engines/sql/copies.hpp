// Copies of what is to be said. A std::variant of libstdc++ 12 whose own copy constructor runs out of memory is destroyed although it
// holds nothing: so each alternative is copied outside of it, and moved in.
#pragma once

#include "engines/sql/exchange.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace tyer::sql {

inline value copy_of(const value& v) {
  return std::visit(
      [](const auto& is) {
        auto copy = is;
        return value{std::move(copy)};
      },
      v);
}

inline std::vector<value> copy_of(const std::vector<value>& all) {
  std::vector<value> copies;
  copies.reserve(all.size());
  for (const value& v : all) copies.push_back(copy_of(v));
  return copies;
}

inline exchange copy_of(const exchange& all) {
  exchange copies;
  copies.reserve(all.size());
  for (const statement& s : all) {
    auto values = copy_of(s.values);
    copies.push_back({s.text, std::move(values), s.minor, s.decides});
  }
  return copies;
}

}  // namespace tyer::sql
