// Statements and values as Boost.MySQL wants them: `?` instead of `$2`, in the order of the text, and lists as text.
#pragma once

#include "engines/sql/exchange.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::mysql {

struct positional {
  std::string text;
  std::vector<std::size_t> order;  // which value each `?` is, from 0
};
positional positional_of(std::string_view text);

std::string text_of(const sql::bytes_list&);   // ["00ff","61"]
std::string text_of(const sql::number_list&);  // 1,2,3

}  // namespace tyer::mysql
