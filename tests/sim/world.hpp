// Virtual time, what is to happen in it, and the record of what happened.
//
// One thread, no clock: time jumps from one event to the next. Events of the same moment happen in the order they were
// made. Everything noted goes into a hash, so that two runs can be compared, and with tracing on to the terminal.
#pragma once

#include "core/function.hpp"
#include "lease/terms.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::sim {

using lease::duration;
using moment = lease::time_point;  // true time: that of the server
using task = core::function<void(), 64>;
using event = core::function<void(), 128>;  // a task, and whose it is

// Not zero, so that tokens, which count microseconds, begin well above it.
inline constexpr moment beginning{std::chrono::hours{1}};

class world {
 public:
  explicit world(bool trace) : trace_(trace) {}
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  moment now() const noexcept { return now_; }
  duration age() const noexcept { return now_ - beginning; }

  void at(moment when, event what);
  void in(duration later, event what) { at(now_ + later, std::move(what)); }
  void run_until(moment end);

  // A line of the history: what, and up to four numbers that say of whom and of what.
  void note(std::string_view what, std::uint64_t a = 0, std::uint64_t b = 0, std::uint64_t c = 0, std::uint64_t d = 0);

  // A promise was broken. The run goes on, because what follows may say more.
  void broken(std::string_view promise, std::string how);

  const std::vector<std::string>& violations() const noexcept { return violations_; }
  std::uint64_t hash() const noexcept { return hash_; }
  std::uint64_t events() const noexcept { return events_; }

 private:
  struct entry {
    moment when;
    std::uint64_t serial;
    std::uint32_t slot;
  };
  static bool later(const entry& a, const entry& b) noexcept {
    return a.when != b.when ? a.when > b.when : a.serial > b.serial;
  }

  moment now_ = beginning;
  std::vector<entry> heap_;
  std::vector<event> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t serial_ = 0, events_ = 0;
  std::uint64_t here_ = 0;  // events of this very moment
  std::uint64_t hash_ = 0xcbf29ce484222325u;
  std::vector<std::string> violations_;
  bool trace_;
};

}  // namespace tyer::sim
