#include "runtime/order_text.hpp"

#include "core/name.hpp"

#include <tyer/error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>

namespace tyer {
inline namespace v1 {
namespace detail {

namespace {

constexpr auto site_bytes_max = order_book::site_bytes_max;
constexpr std::string_view heading = "tyer-order 1", up = "up", down = "down";

// Takes the text up to the next `end` off the front; the last one has no end.
std::string_view take(std::string_view& text, char end) {
  const auto at = std::min(text.find(end), text.size());
  const auto first = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return first;
}

// One byte, as core::printable() has written it.
std::optional<char> take_byte(std::string_view& printed) {
  const char c = printed.front();
  printed.remove_prefix(1);
  if (c < 0x20 || c > 0x7e) return std::nullopt;
  if (c != '\\') return c;
  unsigned char n = 0;
  if (printed.size() < 3 || printed.front() != 'x') return std::nullopt;
  const auto* const end = printed.data() + 3;
  const auto [at, wrong] = std::from_chars(printed.data() + 1, end, n, 16);
  if (wrong != std::errc{} || at != end) return std::nullopt;
  printed.remove_prefix(3);
  return static_cast<char>(n);
}

bool read_field(std::string_view& line, std::size_t bytes_max, std::string& to) {
  for (auto printed = take(line, '\t'); !printed.empty();) {
    const auto c = take_byte(printed);
    if (!c || to.size() == bytes_max) return false;
    to += *c;
  }
  return true;
}

std::optional<order_line> read_line(std::string_view line) {
  const auto tabs = std::ranges::count(line, '\t');
  order_line l;
  auto& s = l.step;
  const bool fields = read_field(line, core::name_bytes_max, s.held) && read_field(line, site_bytes_max, s.held_at) &&
                      read_field(line, core::name_bytes_max, s.asked) && read_field(line, site_bytes_max, s.asked_at);
  const bool one_class = s.held == s.asked;
  if (!fields || tabs != (one_class ? 4 : 3) || (one_class && line != up && line != down)) return std::nullopt;
  if (one_class) l.how = line == up ? order_way::up : order_way::down;
  return l;
}

[[noreturn]] void refuse(std::string words) { throw error({errc::invalid_option, std::move(words)}); }

}  // namespace

std::string order_text(const std::vector<order_line>& all) {
  std::string text{heading};
  text += '\n';
  for (const auto& [s, how] : all) {
    text.append(core::printable(s.held)).append(1, '\t').append(core::printable(s.held_at)).append(1, '\t');
    text.append(core::printable(s.asked)).append(1, '\t').append(core::printable(s.asked_at));
    if (how != order_way::other) text.append(1, '\t').append(how == order_way::up ? up : down);
    text += '\n';
  }
  return text;
}

std::vector<order_line> read_order(std::string_view text, std::string_view from) {
  std::vector<order_line> all;
  if (take(text, '\n') != heading) refuse("this is not an order that was saved");
  for (std::size_t n = 2; !text.empty(); ++n) {
    auto l = read_line(take(text, '\n'));
    if (!l) refuse("line " + std::to_string(n) + " is not of an order that was saved");
    for (std::string* site : {&l->step.held_at, &l->step.asked_at}) {
      if (!from.empty()) *site = (std::string{from} + ' ' + *site).substr(0, site_bytes_max);
    }
    all.push_back(std::move(*l));
  }
  return all;
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
