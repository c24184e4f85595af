// Acquires several locks as one without a waiting thread: primitives::acquire_all as a chain of steps.
#include "api/access.hpp"
#include "api/calling.hpp"
#include "api/multi_parts.hpp"
#include "runtime/failures.hpp"
#include "runtime/own_thread.hpp"

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

namespace {

// Each step runs in the answer to the one before; only `cancel` and a loss come from other threads.
class multi_call final : public pending_call, public std::enable_shared_from_this<multi_call> {
 public:
  multi_call(std::shared_ptr<const multi_state> of, const acquire_terms& terms, answer_ptr<multi_hold> handler)
      : of_(std::move(of)),
        patience_(patience_of(terms)),
        limit_(primitives::limit_of(*of_->locks.front()->home, patience_)),
        where_(terms.where),
        handler_(std::move(handler)) {}

  void begin() {
    for (;;) {
      {
        const std::lock_guard lock{mutex_};
        lost_ = false;
      }
      got_.emplace(of_->locks);
      taken_ = 0;
      if (next() != step::again) return;
    }
  }

  void cancel() override { interrupt(&multi_call::cancelled_); }

 private:
  enum class step { waits, over, again };
  struct on_loss {
    std::weak_ptr<multi_call> call;
    void operator()() const {
      if (const auto c = call.lock()) c->interrupt(&multi_call::lost_);
    }
  };

  lease::time_point now() const { return of_->locks.front()->home->time().now(); }
  bool limited() const { return limit_ != lease::time_point::max(); }

  void interrupt(bool multi_call::* why) {
    if (of_->locks.front()->home->forked()) return;  // the call is the parent's
    std::unique_lock lock{mutex_};
    this->*why = true;
    const auto waits = waiting_.lock();
    const auto at = waiting_at_;
    lock.unlock();
    if (waits) at->cancel(waits, errc::cancelled);
  }

  // Requests the next lock.
  step next() {
    if (taken_ == of_->locks.size()) return finish();
    if (is_cancelled()) return give_up(errc::cancelled);
    const auto& lock_state = *of_->locks[taken_];
    const auto left = limited() ? limit_ - now() : lease::duration::zero();
    if (limited() && left <= lease::duration::zero() && taken_ != 0) return give_up({});
    if (auto f = primitives::unusable(*lock_state.home, false)) return give_up(std::move(f));
    // Always with the limit, even if no time is left: a single attempt would wait longer for a silent engine.
    const auto mine =
        limited() ? primitives::patience{true, std::max<lease::duration>(left, lease::duration{1})} : patience_;
    auto w = primitives::make_acquisition(*lock_state.home, lock_state.what, mine, where_);
    w->done = [self = shared_from_this()](failure f, runtime::hold_ptr h) {
      self->on_answer(std::move(f), std::move(h));
    };
    std::uint64_t serial = 0;
    {
      const std::lock_guard lock{mutex_};
      serial = ++serial_;
    }
    lock_state.home->want(w);
    // Only a call that the coordinator has can be cancelled, and the answer may already have come.
    std::unique_lock lock{mutex_};
    if (serial_ != serial) return step::waits;
    waiting_ = w;
    waiting_at_ = lock_state.home;
    const bool too_late = cancelled_ || lost_;
    lock.unlock();
    if (too_late) lock_state.home->cancel(w, errc::cancelled);
    return step::waits;
  }

  void on_answer(failure f, runtime::hold_ptr h) {
    const runtime::own_thread_scope
        here;  // inside a coordinator, which must not drive another client's engine meanwhile
    const auto self = shared_from_this();
    {
      const std::lock_guard lock{mutex_};
      ++serial_;
      waiting_.reset();
    }
    try {
      if (take(std::move(f), std::move(h)) == step::again) begin();
    } catch (const std::bad_alloc&) {
      give_up(runtime::no_memory());
    }
  }

  step take(failure f, runtime::hold_ptr h) {
    if (!h) return f.code == errc::cancelled && !is_cancelled() ? begin_anew() : give_up(std::move(f));
    const auto lost = h->lost();
    got_->push_back(std::move(h));
    ++taken_;
    watched_.emplace_back(lost, on_loss{weak_from_this()});
    return next();
  }

  bool is_cancelled() {
    const std::lock_guard lock{mutex_};
    return cancelled_;
  }

  // An earlier one was lost while a later one was waited for.
  step begin_anew() {
    if (!patience_.waits || now() >= limit_) return give_up(errc::lost);
    watched_.clear();
    got_->give_back();
    return step::again;
  }

  step finish() {
    if (!got_->all_valid()) return begin_anew();
    std::vector<hold> parts;
    parts.reserve(taken_);
    watched_.clear();
    got_->take_out([&](const auto& at, runtime::hold_ptr h) { parts.push_back(access::make_hold(at, std::move(h))); });
    multi_hold all = multi_maker::make(std::move(parts));  // first: it may throw, and the handler must report that
    handler_.release()->finish({}, std::move(all));
    return step::over;
  }

  step give_up(failure f) {
    watched_.clear();
    if (got_) got_->give_back();
    if (handler_) handler_.release()->finish(std::move(f), {});
    return step::over;
  }

  const std::shared_ptr<const multi_state> of_;
  const primitives::patience patience_;
  const lease::time_point limit_;
  const std::source_location where_;
  answer_ptr<multi_hold> handler_;
  std::optional<primitives::holds> got_;
  std::size_t taken_ = 0;
  std::list<std::stop_callback<on_loss>> watched_;

  std::mutex mutex_;
  bool cancelled_ = false, lost_ = false;
  std::uint64_t serial_ = 0;  // of the step under way
  std::weak_ptr<runtime::acquisition> waiting_;
  std::shared_ptr<runtime::client_runtime> waiting_at_;
};

}  // namespace

multi_ptr state_of(const multi_mutex& m) { return multi_maker::state(m); }

pending start_acquire(const multi_ptr& m, const acquire_terms& terms, answer_ptr<multi_hold> handler) {
  auto call = std::make_shared<multi_call>(m, terms, std::move(handler));
  call->begin();
  return call;
}

home home_of(const multi_mutex& m) { return multi_maker::state(m)->locks.front()->home; }

}  // namespace detail
}  // namespace v1
}  // namespace tyer
