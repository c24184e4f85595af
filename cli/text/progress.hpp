// A line on the terminal for whatever takes longer than a second. Nothing where nobody looks.
#pragma once

#include "text/terminal.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace cli {

class progress {
 public:
  // `doing` is called after a second and then every second, on a thread of its own; an empty text shows nothing. The line
  // is taken away at the end.
  progress(const terminal& where, std::function<std::string()> doing);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

 private:
  void go_on(const std::stop_token& stop);

  std::function<std::string()> doing_;
  int width_ = 80;
  std::mutex mutex_;
  std::condition_variable_any over_;
  std::jthread thread_;
};

}  // namespace cli
