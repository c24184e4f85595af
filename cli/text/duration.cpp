#include "text/duration.hpp"

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace cli {

namespace {

using std::chrono::milliseconds;

std::optional<std::int64_t> unit(std::string_view name) {
  if (name == "ms") return 1;
  if (name == "s") return 1000;
  if (name == "m" || name == "min") return 60'000;
  if (name == "h") return 3'600'000;
  if (name == "d") return 86'400'000;
  return std::nullopt;
}

template <class Value>
option add(CLI::App& app, const std::string& names, Value& value, const std::string& description) {
  const auto read = [&value](const std::string& text) -> std::optional<std::string> {
    const auto d = parse_duration(text);
    if (!d) return "'" + text + "' is not a duration: write it like 500ms, 30s, 5m or 2h";
    value = *d;
    return std::nullopt;
  };
  return add_option(app, names, read, description).takes("DURATION");
}

std::string two(std::int64_t a, const char* unit_a, std::int64_t b, const char* unit_b) {
  std::string text = std::to_string(a) + ' ' + unit_a;
  if (b != 0) text += ' ' + std::to_string(b) + ' ' + unit_b;
  return text;
}

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) {
  constexpr std::int64_t days_max_ms = 36500LL * 86'400'000;
  if (text == "0") return milliseconds{0};
  if (text.empty()) return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    std::int64_t n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || n < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto name = text.substr(0, text.find_first_of("0123456789"));
    const auto factor = unit(name);
    if (!factor || n > days_max_ms / *factor) return std::nullopt;
    sum += n * *factor;
    if (sum > days_max_ms) return std::nullopt;
    text.remove_prefix(name.size());
  }
  return milliseconds{sum};
}

option add_duration(CLI::App& app, const std::string& names, milliseconds& value, const std::string& description) {
  return add(app, names, value, description).shows_default(typed(value));
}

option add_duration(CLI::App& app, const std::string& names, std::optional<milliseconds>& value,
                    const std::string& description) {
  return add(app, names, value, description);
}

std::string typed(milliseconds d) {
  const auto ms = d.count();
  for (const auto& [name, factor] : {std::pair{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}}) {
    if (ms != 0 && ms % factor == 0) return std::to_string(ms / factor) + name;
  }
  return std::to_string(ms) + "ms";
}

std::string shown(milliseconds d) {
  const auto ms = d.count();
  if (ms < 1000) return std::to_string(ms) + " ms";
  if (ms < 10'000) return std::to_string(ms / 1000) + '.' + std::to_string(ms / 100 % 10) + " s";
  if (ms < 60'000) return std::to_string(ms / 1000) + " s";
  const auto s = ms / 1000;
  if (s < 3600) return two(s / 60, "m", s % 60, "s");
  if (s < 86'400) return two(s / 3600, "h", s % 3600 / 60, "m");
  return two(s / 86'400, "d", s % 86'400 / 3600, "h");
}

std::string shown_exactly(std::chrono::nanoseconds d) {
  char text[32];
  const double ms = static_cast<double>(d.count()) / 1e6;
  std::snprintf(text, sizeof text, ms < 1 ? "%.3f ms" : ms < 100 ? "%.2f ms" : "%.0f ms", ms);
  return text;
}

}  // namespace cli
