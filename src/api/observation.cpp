#include "api/observing.hpp"

#include <tyer/observation.hpp>

#include <utility>

namespace tyer {
inline namespace v1 {

namespace detail {

void observation_state::start(std::string name, std::chrono::milliseconds every) {
  observer_ = std::make_shared<runtime::observer>();
  observer_->name = std::move(name);
  observer_->every = every;
  observer_->seen = [me = weak_from_this()](const engine::page& p) {
    if (const auto self = me.lock()) self->on_look(p);
  };
  home_->observe(observer_);
}

void observation_state::stop() {
  if (home_->forked()) return;
  home_->forget(observer_);
  std::unique_lock lock{mutex_};
  stopped_ = true;
  idle_.wait(lock, [this] { return !telling_ || teller_ == std::this_thread::get_id(); });
}

// Room for the news before the look: what was looked at is not news a second time.
void observation_state::on_look(const engine::page& p) {
  {
    const std::lock_guard lock{mutex_};
    untold_.emplace_back();
    auto& news = untold_.back();
    try {
      news = look_(p);
    } catch (...) {
      untold_.pop_back();
      throw;
    }
    if (!news) untold_.pop_back();
    if (untold_.empty()) return;
  }
  home_->complete([self = shared_from_this()] { self->tell(); });
}

// An executor may have many threads: whoever comes first tells what is first, and those who come meanwhile leave theirs to
// it.
void observation_state::tell() {
  std::unique_lock lock{mutex_};
  if (telling_) return;
  telling_ = true;
  teller_ = std::this_thread::get_id();
  while (!untold_.empty() && !stopped_) {
    const auto news = std::move(untold_.front());
    untold_.pop_front();
    lock.unlock();
    news();
    lock.lock();
  }
  telling_ = false;
  idle_.notify_all();
}

}  // namespace detail

observation::observation(std::shared_ptr<detail::observation_state> s) noexcept : state_(std::move(s)) {}
observation::observation(observation&&) noexcept = default;
observation& observation::operator=(observation&& other) noexcept {
  if (this != &other) {
    if (state_) state_->stop();
    state_ = std::move(other.state_);
  }
  return *this;
}
observation::~observation() {
  if (state_) state_->stop();
}

}  // namespace v1
}  // namespace tyer
