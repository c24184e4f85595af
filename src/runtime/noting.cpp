#include "runtime/noting.hpp"

#include "core/quoted.hpp"
#include "core/site.hpp"
#include "core/thread_number.hpp"
#include "runtime/own_thread.hpp"

#include <new>
#include <utility>

namespace tyer::runtime {

note::note(std::shared_ptr<noting> in, detail::hold_state& of, const std::source_location& where)
    : in_(std::move(in)), of_(&of), thread_(core::this_thread()), where_(where) {
  const auto& name = of.what().name;
  if (in_->refuses_) {
    const std::lock_guard lock{in_->mutex_};
    at_ = in_->own_.emplace(name, this);
  }
  if (in_->order_) place_ = in_->order_->took(thread_, name, where);
}

// In a forked child a thread of the parent may have had the mutex.
note::~note() {
  if (born_.forked()) return;
  if (in_->order_) in_->order_->gave_back(thread_, place_);
  if (!in_->refuses_) return;
  const std::lock_guard lock{in_->mutex_};
  in_->own_.erase(at_);
}

tyer::failure noting::own_wait(const spec& what, const std::source_location& where, lease::time_point now) const {
  if (!refuses_) return {};
  const std::lock_guard lock{mutex_};
  const note* mine = in_the_way(what, now);
  if (mine == nullptr) return {};
  return {errc::would_deadlock, "this thread has acquired " + core::quoted(what.name) + " at " +
                                    core::site_of(mine->where_) + ", still has it, and would wait for itself at " +
                                    core::site_of(where)};
}

tyer::failure noting::asks(const spec& what, const std::source_location& where, lease::time_point now) {
  if (auto f = own_wait(what, where, now)) return f;
  if (order_) {
    const own_thread_scope here;  // the user's functions run inside
    order_->asks(core::this_thread(), what.name, where);
  }
  return {};
}

void noting::took(const std::shared_ptr<noting>& in, detail::hold_state& h,
                  const std::source_location& where) noexcept {
  const own_thread_scope here;
  try {
    h.noted = std::make_shared<note>(in, h, where);
  } catch (const std::bad_alloc&) {  // nothing is compared with it
  }
}

// A hold of this thread that alone keeps it from the lock, and that does not end by itself.
const note* noting::in_the_way(const spec& what, lease::time_point now) const {
  std::uint32_t permits = 0;
  for (auto [at, end] = own_.equal_range(what.name); at != end; ++at) {
    const note& n = *at->second;
    const auto& held = *n.of_;
    if (n.thread_ != core::this_thread() || !held.valid(now) || held.what().max_hold.count() > 0) continue;
    const auto how = held.how();
    if (how == engine::mode::exclusive || what.how == engine::mode::exclusive) return &n;
    const bool same_permits = held.what().capacity == what.capacity;  // else the engine says that they differ
    if (how == engine::mode::permit && what.how == engine::mode::permit && same_permits) {
      permits += held.what().take;
      if (permits + what.take > what.capacity) return &n;
    }
  }
  return nullptr;
}

bool noting::is_own(const detail::hold_state& h) noexcept { return h.noted && h.noted->thread_ == core::this_thread(); }

void noting::exchange(detail::hold_state& a, detail::hold_state& b) noexcept {
  const std::lock_guard lock{a.noted->in_->mutex_};
  std::swap(a.noted->of_, b.noted->of_);
  std::swap(a.noted, b.noted);
}

}  // namespace tyer::runtime
