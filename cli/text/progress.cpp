#include "text/progress.hpp"

#include "text/duration.hpp"
#include "text/plain.hpp"

#include <chrono>
#include <iostream>
#include <utility>

namespace cli {

using namespace std::chrono_literals;

progress::progress(const terminal& where, std::function<std::string()> doing)
    : doing_(std::move(doing)), width_(where.width()) {
  if (where.err_is_terminal()) thread_ = std::jthread{[this](const std::stop_token& stop) { go_on(stop); }};
}

progress::~progress() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void progress::go_on(const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  bool shown_one = false;
  std::unique_lock lock{mutex_};
  for (auto next = start + 1s; !over_.wait_until(lock, stop, next, [] { return false; }) && !stop.stop_requested();
       next += 1s) {
    const auto text = doing_();
    if (text.empty()) continue;
    const auto since = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    const auto line = shortened(plain(text) + ", " + shown(since) + " …", width_ - 1);
    std::cerr << "\r\x1b[K" << line << std::flush;
    shown_one = true;
  }
  if (shown_one) std::cerr << "\r\x1b[K" << std::flush;
}

}  // namespace cli
