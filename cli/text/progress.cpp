#include "text/progress.hpp"

#include "text/duration.hpp"
#include "text/plain.hpp"

#include <iostream>
#include <utility>

namespace cli {

using namespace std::chrono_literals;

progress::progress(const terminal& where, std::function<std::string()> doing,
                   std::optional<std::chrono::seconds> for_a_log_after)
    : doing_(std::move(doing)), where_(where) {
  if (where.err_is_redrawn()) {
    thread_ = std::jthread{[this](const std::stop_token& stop) { go_on(stop); }};
  } else if (for_a_log_after) {
    thread_ = std::jthread{[this, after = *for_a_log_after](const std::stop_token& stop) { tell_log(stop, after); }};
  }
}

progress::~progress() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void progress::go_on(const std::stop_token& stop) {
  const auto start = std::chrono::steady_clock::now();
  const int width = where_.width();
  bool shown_one = false;
  std::unique_lock lock{mutex_};
  for (auto next = start + 1s; !over_.wait_until(lock, stop, next, [] { return false; }) && !stop.stop_requested();
       next += 1s) {
    if (!where_.err_is_ours()) {
      shown_one = false;  // the job in the foreground has overwritten it
      continue;
    }
    const auto text = doing_();
    if (text.empty()) continue;
    const auto s = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    const auto since = "  " + (s < 60s ? std::to_string(s.count()) + " s" : shown(s));
    std::cerr << "\r\x1b[K" << shortened(plain(text), width - 1 - columns(since)) << since << std::flush;
    shown_one = true;
  }
  if (shown_one && where_.err_is_ours()) std::cerr << "\r\x1b[K" << std::flush;
}

void progress::tell_log(const std::stop_token& stop, std::chrono::seconds after) {
  std::unique_lock lock{mutex_};
  over_.wait_for(lock, stop, after, [] { return false; });
  if (!stop.stop_requested())
    std::cerr << "tyer: " << plain(doing_()) << ", for " << shown(after) << " so far" << std::endl;
}

}  // namespace cli
