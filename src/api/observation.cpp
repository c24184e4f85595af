#include "api/observing.hpp"

#include <tyer/observation.hpp>

#include <new>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace detail {

void observation_state::start(std::string name, const terms& t) {
  observer_ = std::make_shared<runtime::observer>();
  observer_->name = std::move(name);
  observer_->waiters = t.waiters;
  observer_->every = t.every;
  observer_->apart = t.apart;
  observer_->seen = [me = weak_from_this(), home = std::weak_ptr{home_}, o = observer_.get()](const engine::page& p) {
    if (const auto self = me.lock(); self && self->on_look(p)) return;
    if (const auto h = home.lock()) h->forget(o->shared_from_this());  // who stopped had no memory to say so
  };
  home_->observe(observer_);
}

void observation_state::stop() noexcept {
  if (home_->forked()) return;
  try {
    home_->forget(observer_);
  } catch (const std::bad_alloc&) {  // found out at the next look
  }
  std::unique_lock lock{mutex_};
  stopped_ = true;
  idle_.wait(lock, [this] { return !telling_ || teller_ == std::this_thread::get_id(); });
}

// What was looked at is not news a second time: so it is kept before anything else may fail, and told after the next look if it
// could not be handed over now.
bool observation_state::on_look(const engine::page& p) {
  {
    const std::lock_guard lock{mutex_};
    if (stopped_) return false;
    if (auto news = look_(p)) untold_ = std::move(news);
    if (!untold_ || asked_ || telling_) return true;
    asked_ = true;
  }
  tell_soon();
  return true;
}

void observation_state::tell_soon() {
  try {
    home_->complete([self = shared_from_this()] { self->tell(); });
  } catch (...) {
    const std::lock_guard lock{mutex_};
    asked_ = false;
    throw;
  }
}

// One at a time, however many threads an executor has. However it ends, the next may come.
class observation_state::turn {
 public:
  explicit turn(observation_state& s) : state_(s) {
    const std::lock_guard lock{s.mutex_};
    s.asked_ = false;
    if (s.telling_ || s.stopped_) return;
    s.telling_ = mine_ = true;
    s.teller_ = std::this_thread::get_id();
    news_.swap(s.untold_);
  }
  turn(const turn&) = delete;
  ~turn() {
    if (!mine_) return;
    const std::lock_guard lock{state_.mutex_};
    state_.telling_ = false;
    state_.idle_.notify_all();
  }
  const std::function<void()>& news() const noexcept { return news_; }

 private:
  observation_state& state_;
  std::function<void()> news_;
  bool mine_ = false;
};

// One thing; for the next it gets in line again, behind the completions of others.
void observation_state::tell() {
  {
    const turn mine{*this};
    if (mine.news()) mine.news()();
  }
  {
    const std::lock_guard lock{mutex_};
    if (!untold_ || asked_ || telling_ || stopped_) return;
    asked_ = true;
  }
  try {
    tell_soon();
  } catch (const std::bad_alloc&) {  // told after the next look
  }
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
