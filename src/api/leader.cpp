#include "api/acquiring.hpp"
#include "core/token.hpp"

#include <tyer/leader.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace {

// The owner's words end where the note begins.
leadership describe(const engine::entry& e) {
  const auto cut = e.owner.find('\n');
  leadership l;
  l.term = core::make_token(e.part, 0);
  l.owner = e.owner.substr(0, cut);
  if (cut != std::string::npos) l.note = e.owner.substr(cut + 1);
  l.remaining = e.left;
  return l;
}

std::optional<leadership> leader_in(const engine::page& p) {
  for (const auto& e : p.entries) {
    if (e.what == core::fate::holding) return describe(e);
  }
  return std::nullopt;
}

}  // namespace

namespace detail {

// Tells changes one at a time, on the thread where completions run, and never after it was stopped.
class observation_state : public std::enable_shared_from_this<observation_state> {
 public:
  using callback = std::function<void(const std::optional<leadership>&)>;

  observation_state(std::shared_ptr<runtime::house> h, callback f) : home_(std::move(h)), changed_(std::move(f)) {}

  void start(std::string name, std::chrono::milliseconds every) {
    observer_ = std::make_shared<runtime::observer>();
    observer_->name = std::move(name);
    observer_->every = every;
    observer_->seen = [me = weak_from_this()](const engine::page& p) {
      if (const auto self = me.lock()) self->on_look(leader_in(p));
    };
    home_->observe(observer_);
  }

  void stop() {
    if (home_->forked()) return;
    home_->forget(observer_);
    std::unique_lock lock{mutex_};
    stopped_ = true;
    idle_.wait(lock, [this] { return !telling_ || teller_ == std::this_thread::get_id(); });
  }

 private:
  // On the desk's thread.
  void on_look(std::optional<leadership> now) {
    const auto term = now ? std::optional{now->term} : std::nullopt;
    if (looked_ && term == term_) return;
    looked_ = true;
    term_ = term;
    {
      const std::lock_guard lock{mutex_};
      untold_.push_back(std::move(now));
    }
    home_->complete([self = shared_from_this()] { self->tell(); });
  }

  // An executor may have many threads: whoever comes first tells what is first, and those who come meanwhile leave theirs to
  // it.
  void tell() {
    std::unique_lock lock{mutex_};
    if (telling_) return;
    telling_ = true;
    teller_ = std::this_thread::get_id();
    while (!untold_.empty() && !stopped_) {
      const auto now = std::move(untold_.front());
      untold_.pop_front();
      lock.unlock();
      changed_(now);
      lock.lock();
    }
    telling_ = false;
    idle_.notify_all();
  }

  std::shared_ptr<runtime::house> home_;
  callback changed_;
  std::shared_ptr<runtime::observer> observer_;
  bool looked_ = false;
  std::optional<std::uint64_t> term_;

  std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<std::optional<leadership>> untold_;
  bool stopped_ = false, telling_ = false;
  std::thread::id teller_;
};

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

leader::leader(const client& owner, std::string_view name, lock_options options, std::source_location where)
    : acquirable(detail::access::make_lock(owner, name, options, where, {.needs_token = true})) {}

std::optional<leadership> leader::current() const {
  failure why;
  auto now = current(why);
  if (why) throw error(why);
  return now;
}

std::optional<leadership> leader::current(failure& why) const noexcept {
  return detail::or_tell<std::optional<leadership>>(why, [&]() -> std::optional<leadership> {
    auto shown = primitives::show_blocking(*state_->home, state_->what->name);
    why = std::move(shown.error);
    if (why) return std::nullopt;
    return leader_in(shown.value);
  });
}

observation leader::observe(std::function<void(const std::optional<leadership>&)> changed) const {
  if (auto f = primitives::unusable(*state_->home, false)) throw error(f);
  auto s = std::make_shared<detail::observation_state>(state_->home, std::move(changed));
  s->start(state_->what->name, state_->what->ttl / 3);
  return observation{std::move(s)};
}

}  // namespace v1
}  // namespace tyer
