// How long the machine's owner kept a processor from us (`st` in vmstat), by processor.
//
// A thread on a processor that stands still cannot even be moved to another one, and who sleeps on the other sees nothing of it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace machine {

using stolen_ticks = std::vector<std::uint64_t>;

// From the lines "cpu0 user nice system idle iowait irq softirq steal ..." of /proc/stat.
inline stolen_ticks stolen_in(std::string_view stat) {
  constexpr int place_of_steal = 8;
  stolen_ticks all;
  while (!stat.empty()) {
    auto line = stat.substr(0, stat.find('\n'));
    stat.remove_prefix(std::min(stat.size(), line.size() + 1));
    if (!line.starts_with("cpu") || line.starts_with("cpu ")) continue;
    for (int i = 0; i < place_of_steal; ++i) line.remove_prefix(std::min(line.find(' '), line.size() - 1) + 1);
    std::uint64_t ticks = 0;
    std::from_chars(line.data(), line.data() + line.size(), ticks);
    all.push_back(ticks);
  }
  return all;
}

// Between two looks, of the processor that was away longest.
inline std::chrono::nanoseconds longest_stolen(const stolen_ticks& before, const stolen_ticks& now,
                                               long ticks_per_second) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i) {
    if (now[i] > before[i]) most = std::max(most, now[i] - before[i]);
  }
  return std::chrono::nanoseconds{most * 1'000'000'000 / static_cast<std::uint64_t>(ticks_per_second)};
}

class stolen_time {
 public:
  // Since the last look.
  std::chrono::nanoseconds look() {
    auto now = read();
    const auto most = longest_stolen(before_, now, ticks_per_second_);
    before_ = std::move(now);
    return most;
  }

 private:
  static stolen_ticks read() {
    std::ifstream f{"/proc/stat"};
    return stolen_in(std::string{std::istreambuf_iterator<char>{f}, {}});
  }

  const long ticks_per_second_ = ::sysconf(_SC_CLK_TCK);
  stolen_ticks before_ = read();
};

}  // namespace machine
