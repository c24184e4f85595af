// A progress line on the terminal for work that takes longer than a second. Without a terminal: nothing, or one line for a
// log.
#pragma once

#include "text/terminal.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace cli {

class progress {
 public:
  // `doing` is called after a second and then every second, on a thread of its own; an empty text shows nothing, and a
  // background job shows nothing. The line is removed at the end. Without a terminal: one line to stderr, if it takes
  // longer than `for_a_log_after`.
  progress(const terminal& where, std::function<std::string()> doing,
           std::optional<std::chrono::seconds> for_a_log_after = std::nullopt);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

 private:
  void go_on(const std::stop_token& stop);
  void tell_log(const std::stop_token& stop, std::chrono::seconds after);

  std::function<std::string()> doing_;
  terminal where_;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;
};

}  // namespace cli
