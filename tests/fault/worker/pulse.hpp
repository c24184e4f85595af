// Says when the machine did not let this process run: a thread that only sleeps in short steps, asks nothing of the
// library, and writes down how late it was woken, and when a processor was taken away from all of us.
#pragma once

#include "history/writer.hpp"
#include "stolen.hpp"

#include <chrono>
#include <stop_token>
#include <thread>

namespace fault {

class pulse {
 public:
  explicit pulse(history_writer& history) : thread_([&history](const std::stop_token& end) { beat(history, end); }) {}

 private:
  static constexpr std::int64_t step_ns = 2'000'000;
  // Less than this is how any machine is.
  static constexpr std::int64_t late_ns = 10'000'000;

  // A look costs a read of /proc/stat.
  static constexpr std::int64_t look_ns = 50'000'000;

  static void beat(history_writer& history, const std::stop_token& end) {
    machine::stolen_time stolen;
    auto looked = now_ns();
    while (!end.stop_requested()) {
      const auto due = now_ns() + step_ns;
      std::this_thread::sleep_for(std::chrono::nanoseconds{step_ns});
      const auto woken = now_ns();
      if (woken - due > late_ns) history.append({.t_ns = woken, .deadline_ns = due, .what = op::starved});
      if (woken - looked < look_ns) continue;
      // It is counted when the processor is back: the time itself may lie before the last look.
      if (const auto away = stolen.look().count(); away > late_ns) {
        history.append({.t_ns = woken, .deadline_ns = looked - away, .what = op::starved});
      }
      looked = woken;
    }
  }

  std::jthread thread_;
};

}  // namespace fault
