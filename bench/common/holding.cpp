#include "common/holding.hpp"

#include <tyer/detail/async.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using namespace std::chrono_literals;

struct keep_it final : tyer::detail::acquire_handler {
  keep_it(tyer::hold& to, std::atomic<int>& missing) : to_(to), missing_(missing) {}
  void done(tyer::failure, tyer::hold h) override {
    to_ = std::move(h);
    if (missing_.fetch_sub(1) == 1) missing_.notify_one();
  }
  tyer::hold& to_;
  std::atomic<int>& missing_;
};

}  // namespace

holding::holding(const tyer::client& client, const std::string& prefix, int holds, milliseconds ttl)
    : held_(static_cast<std::size_t>(holds)) {
  std::atomic<int> missing{holds};
  for (int i = 0; i < holds; ++i) {
    mutexes_.emplace_back(client, prefix + std::to_string(i), tyer::lock_options{.ttl = ttl});
    tyer::detail::start_acquire(mutexes_.back(), {},
                                std::make_unique<keep_it>(held_[static_cast<std::size_t>(i)], missing));
    if (i % 4096 == 0) std::this_thread::sleep_for(1ms);  // paced, not timed: the queue of requests is bounded
  }
  for (int left = missing; left != 0; left = missing) missing.wait(left);
  check();
}

void holding::check() const {
  for (const auto& h : held_) {
    if (!h.valid()) throw std::runtime_error("a hold was refused, or lost while it was being kept");
  }
}

}  // namespace bench
