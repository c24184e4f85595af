#include "sim/world.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace tyer::sim {

void world::at(moment when, event what) {
  std::uint32_t slot;
  if (free_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back(std::move(what));
  } else {
    slot = free_.back();
    free_.pop_back();
    slots_[slot] = std::move(what);
  }
  heap_.push_back({std::max(when, now_), serial_++, slot});
  std::push_heap(heap_.begin(), heap_.end(), later);
}

void world::run_until(moment end) {
  while (!heap_.empty() && heap_.front().when <= end) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const entry e = heap_.back();
    heap_.pop_back();
    here_ = e.when == now_ ? here_ + 1 : 0;
    now_ = e.when;
    ++events_;
    event what = std::move(slots_[e.slot]);
    free_.push_back(e.slot);
    what();
    if (here_ > 100'000) return broken("live", "time stands still: more than 100000 events in one moment");
  }
  now_ = end;
}

void world::note(std::string_view what, std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  const auto mix = [this](std::uint64_t v) { hash_ = (hash_ ^ v) * 0x100000001b3u + (hash_ >> 29); };
  mix(static_cast<std::uint64_t>(age().count()));
  for (const char ch : what) mix(static_cast<unsigned char>(ch));
  for (const auto v : {a, b, c, d}) mix(v);
  if (!trace_) return;
  std::printf("%12.6f  %-20.*s %llu %llu %llu %llu\n", static_cast<double>(age().count()) / 1e9,
              static_cast<int>(what.size()), what.data(), static_cast<unsigned long long>(a),
              static_cast<unsigned long long>(b), static_cast<unsigned long long>(c),
              static_cast<unsigned long long>(d));
}

void world::broken(std::string_view promise, std::string how) {
  char when[32];
  std::snprintf(when, sizeof when, "%.6f", static_cast<double>(age().count()) / 1e9);
  std::string line = std::string{promise} + " at " + when + ": " + how;
  if (trace_) std::printf("BROKEN %s\n", line.c_str());
  if (violations_.size() < 20) violations_.push_back(std::move(line));
}

}  // namespace tyer::sim
