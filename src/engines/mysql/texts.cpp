#include "engines/mysql/texts.hpp"

#include "core/id.hpp"

namespace tyer::mysql {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

positional positional_of(std::string_view text) {
  positional p;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_value = text[i] == '$' && i + 1 < text.size() && is_digit(text[i + 1]);
    p.text.push_back(is_value ? '?' : text[i]);
    if (!is_value) continue;
    std::size_t n = 0;
    while (i + 1 < text.size() && is_digit(text[i + 1])) n = n * 10 + static_cast<std::size_t>(text[++i] - '0');
    p.order.push_back(n - 1);
  }
  return p;
}

std::string text_of(const sql::bytes_list& all) {
  std::string out = "[";
  for (const auto& one : all) {
    if (out.size() > 1) out += ',';
    out.append("\"").append(core::to_hex(one)).append("\"");
  }
  return out += ']';
}

std::string text_of(const sql::number_list& all) {
  std::string out;
  for (const auto one : all) {
    if (!out.empty()) out += ',';
    out += std::to_string(one);
  }
  return out;
}

}  // namespace tyer::mysql
