#include "redis/server.hpp"

#include <charconv>
#include <string>

namespace bench {

namespace {

// The value behind `name` in the text of INFO, 0 if it is not there.
template <class T>
T number_after(std::string_view text, const std::string& name) {
  const auto at = text.find(name);
  T value{};
  if (at != std::string_view::npos) {
    const char* begin = text.data() + at + name.size();
    std::from_chars(begin, text.data() + text.size(), value);
  }
  return value;
}

constexpr std::string_view from_clients[] = {"evalsha",        "eval",      "ping",           "hello", "script|load",
                                             "client|setname", "subscribe", "client|setinfo", "select"};

}  // namespace

std::uint64_t server::requests() {
  const std::string text{wire_.call({"INFO", "commandstats"})};
  std::uint64_t sum = 0;
  for (const auto name : from_clients) {
    sum += number_after<std::uint64_t>(text, "cmdstat_" + std::string{name} + ":calls=");
  }
  return sum;
}

double server::script_usec() {
  const std::string text{wire_.call({"INFO", "commandstats"})};
  const auto at = text.find("cmdstat_evalsha:");
  if (at == std::string::npos) return 0;
  return number_after<double>(std::string_view{text}.substr(at), "usec=");
}

std::uint64_t server::memory() { return number_after<std::uint64_t>(wire_.call({"INFO", "memory"}), "used_memory:"); }

double server::seconds_to_live(const std::string& key) {
  const std::string text{wire_.call({"PTTL", key})};
  double ms = 0;
  std::from_chars(text.data(), text.data() + text.size(), ms);
  return ms / 1000;
}

}  // namespace bench
