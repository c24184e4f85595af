#include "engines/etcd/wire/message.hpp"

#include <algorithm>

namespace tyer::etcd::wire {

namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

void append_framed(std::string& to, std::string_view message) {
  const auto n = message.size();
  const char head[] = {0, static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8),
                       static_cast<char>(n)};
  to.reserve(to.size() + sizeof head + n);
  to.append(head, sizeof head).append(message);
}

std::string timeout_text(std::chrono::nanoseconds d) {
  constexpr std::int64_t most = 99'999'999;  // eight digits
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(d).count();
  return std::to_string(std::clamp<std::int64_t>(ms, 1, most)) + 'm';
}

std::string percent_decoded(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex(text[i + 1]) : -1;
    const int low = high >= 0 ? hex(text[i + 2]) : -1;
    if (low < 0) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return plain;
}

}  // namespace tyer::etcd::wire
