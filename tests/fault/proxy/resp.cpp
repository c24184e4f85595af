#include "proxy/resp.hpp"

#include <charconv>
#include <stdexcept>

namespace fault {

namespace {

constexpr std::string_view line_end = "\r\n";

long long number(std::string_view digits) {
  long long n = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw std::runtime_error{"not a length: " + std::string{digits}};
  }
  return n;
}

}  // namespace

std::optional<std::size_t> resp_scanner::scan(std::string_view data) {
  while (values_left_ > 0) {
    const std::size_t end = at_ < data.size() ? data.find(line_end, at_) : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = data.substr(at_, end - at_);
    if (line.empty()) throw std::runtime_error{"an empty line"};
    const bool bulk = line[0] == '$' || line[0] == '=' || line[0] == '!';
    const long long length = bulk ? number(line.substr(1)) : -1;
    const std::size_t next = end + 2 + (length >= 0 ? static_cast<std::size_t>(length) + 2 : 0);
    if (next > data.size()) return std::nullopt;
    header(line);
    at_ = next;
  }
  const std::size_t length = at_;
  *this = {};
  return length;
}

void resp_scanner::header(std::string_view line) {
  const auto more = [&](std::size_t per) {
    const long long n = number(line.substr(1));
    if (n > 0) values_left_ += static_cast<std::size_t>(n) * per;
  };
  switch (line[0]) {
    case '*':
    case '~':
    case '>': more(1); break;
    case '%': more(2); break;
    case '|': more(2); return;  // an attribute is no value: it stands before one
    case '$':
    case '=':
    case '!':
    case '+':
    case '-':
    case ':':
    case ',':
    case '#':
    case '_':
    case '(': break;
    default: throw std::runtime_error{"a message of unknown type: " + std::string{line.substr(0, 20)}};
  }
  --values_left_;
}

std::vector<std::string_view> words_of(std::string_view message) {
  std::vector<std::string_view> words;
  if (!message.starts_with('*')) throw std::runtime_error{"a request that is no array"};
  std::size_t at = message.find(line_end) + 2;
  while (at < message.size()) {
    const std::size_t end = message.find(line_end, at);
    if (message[at] != '$') throw std::runtime_error{"a request with something else than bulk strings"};
    const auto length = static_cast<std::size_t>(number(message.substr(at + 1, end - at - 1)));
    words.push_back(message.substr(end + 2, length));
    at = end + 2 + length + 2;
  }
  return words;
}

}  // namespace fault
