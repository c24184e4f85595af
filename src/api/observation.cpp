#include "api/observing.hpp"
#include "runtime/failures.hpp"

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
  observer_->seen = [me = weak_from_this(), home = std::weak_ptr{home_}, o = observer_.get()](const auto& seen) {
    if (const auto self = me.lock(); self && self->on_look(seen.result)) return;
    if (const auto h = home.lock()) h->forget(o->shared_from_this());  // stop() had no memory to do it
  };
  home_->observe(observer_);
}

void observation_state::stop() noexcept {
  if (home_->forked()) return;
  try {
    home_->forget(observer_);
  } catch (const std::bad_alloc&) {  // noticed at the next read
  }
  std::unique_lock lock{mutex_};
  stopped_ = true;
  idle_.wait(lock, [this] { return !telling_ || teller_ == std::this_thread::get_id(); });
}

// What to report of this read, if anything.
std::function<void()> observation_state::news_in(const sight& s) {
  if (const auto* p = std::get_if<engine::page>(&s)) {
    auto seen = look_(*p, static_cast<bool>(blind_));
    blind_ = {};
    return seen;
  }
  failure why = runtime::to_public(std::get<engine::failure>(s));
  if (!failed_ || blind_ == why.code) return nullptr;
  std::function<void()> tell = [this, why] { failed_(why); };
  blind_ = why.code;
  return tell;
}

// `look` reports a change only once: so the change is stored before anything can fail, and reported after the next read if
// it could not be queued now.
bool observation_state::on_look(const sight& s) {
  {
    const std::lock_guard lock{mutex_};
    if (stopped_) return false;
    if (auto news = news_in(s)) untold_ = std::move(news);
    if (!untold_ || asked_ || telling_) return true;
    asked_ = true;
  }
  tell_soon();
  return true;
}

// A report that is queued to where completions run.
class observation_state::news final : public completion {
 public:
  explicit news(std::shared_ptr<observation_state> of) noexcept : of_(std::move(of)) {}
  void left_uncalled() noexcept override { of_->not_told(); }

 private:
  void run() override { of_->tell(); }

  const std::shared_ptr<observation_state> of_;
};

void observation_state::tell_soon() {
  try {
    home_->complete(std::make_shared<news>(shared_from_this()));
  } catch (...) {
    not_told();
    throw;
  }
}

// The report is repeated after the next read.
void observation_state::not_told() noexcept {
  const std::lock_guard lock{mutex_};
  asked_ = false;
}

// Lets one callback run at a time, however many threads an executor has. However the callback ends, the next may run.
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

// Reports one change; for the next it queues again, behind other completions.
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
